#include "core/protocols/actors/placement.h"

#include "core/error.h"

namespace residuum {

Placement place_actors(const Roster& roster, int processes) {
  Placement placement{.hosts = std::vector<int>(roster.actors())};
  if (processes == 1) {
    return placement;
  }
  const bool has_nodes = roster.nodes > 0;
  const std::uint32_t parts = has_nodes ? roster.nodes : roster.workers;
  const auto hosts = static_cast<std::uint32_t>(processes - 1);
  require(hosts <= parts,
          "{} processes are too many for {} {}: one process is the server, and each of the others "
          "needs a {} of its own; use mpirun -n {} or less",
          processes,
          parts,
          has_nodes ? "nodes" : "workers",
          has_nodes ? "node" : "worker",
          parts + 1);
  const auto host_of = [&](std::uint32_t part) {
    return static_cast<int>(1 + std::uint64_t{part} * hosts / parts);
  };
  for (std::uint32_t p = 0; p < roster.workers; ++p) {
    placement.hosts[p] = host_of(has_nodes ? p / roster.workers_of_node() : p);
  }
  for (std::uint32_t n = 0; n < roster.nodes; ++n) {
    placement.hosts[roster.node(n)] = host_of(n);
  }
  return placement;
}

}  // namespace residuum
