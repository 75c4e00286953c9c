// `residuum info` prints the versions of every library, MPI, CPU, GPU and the git revision, and
// under mpirun the device that networks take in each process.

#include <fmt/format.h>

#include "core/error.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/runs/provenance.h"
#include "objectives/network_module.h"

namespace residuum {

ExitCode info_command(const Options& options, World& world) {
  try {
    network_module();
  } catch (const Error& error) {
    if (world.is_root()) {
      say(fmt::format("note: {}", error.what()));
    }
  }
  const auto devices = network_devices(world, "auto");
  if (!world.is_root()) {
    return ExitCode::done;
  }
  auto json = nlohmann::json::object();
  for (const auto& [name, value] : versions()) {
    json[name] = value;
    if (!options.json) {
      fmt::print("{:<15} {}\n", name, value);
    }
  }
  json["devices"] = devices;
  for (std::size_t i = 0; i < devices.size() && !options.json; ++i) {
    fmt::print("{:<15} {}\n", i == 0 ? "devices" : "", devices[i]);
  }
  if (options.json) {
    print_json(json);
  }
  return ExitCode::done;
}

}  // namespace residuum
