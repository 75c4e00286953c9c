#pragma once
// Tests of actors place them on processes.

#include "core/protocols/actors/parallel.h"

namespace residuum::test {

/// Places the server on rank 0 and the nodes (or workers, where there are no nodes) on the other
/// ranks, at most as many, in consecutive blocks whose lengths differ by at most one. A single
/// process hosts all.
inline Placement place_actors(const Roster& roster, int processes) {
  Placement placement{.hosts = std::vector<int>(roster.actors())};
  if (processes == 1) {
    return placement;
  }
  const bool has_nodes = roster.nodes > 0;
  const std::uint32_t parts = has_nodes ? roster.nodes : roster.workers;
  const auto hosts = static_cast<std::uint32_t>(processes - 1);
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

}  // namespace residuum::test
