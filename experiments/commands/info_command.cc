// `residuum info` prints the versions of every library, MPI, CPU, GPU and the git revision.

#include <fmt/format.h>

#include "core/error.h"
#include "experiments/commands/commands.h"
#include "experiments/console/streams.h"
#include "experiments/runs/provenance.h"
#include "objectives/network_module.h"

namespace residuum {

ExitCode info_command(const Options& options) {
  try {
    network_module();
  } catch (const Error& error) {
    say(fmt::format("note: {}", error.what()));
  }
  auto json = nlohmann::json::object();
  for (const auto& [name, value] : versions()) {
    json[name] = value;
    if (!options.json) {
      fmt::print("{:<15} {}\n", name, value);
    }
  }
  if (options.json) {
    print_json(json);
  }
  return ExitCode::done;
}

}  // namespace residuum
