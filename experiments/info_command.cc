// residuum info: versions of every library, MPI, CPU, GPU and the git revision.

#include <fmt/format.h>

#include "experiments/commands.h"
#include "experiments/provenance.h"
#include "experiments/streams.h"

namespace residuum {

ExitCode info_command(const Options& options) {
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
