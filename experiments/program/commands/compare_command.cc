// `residuum compare` takes two results of the same study and tells which of its numbers changed.

#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "core/error.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/console/streams.h"
#include "reports/terminal/changes.h"

namespace residuum {

namespace {

using Folders = std::vector<std::filesystem::path>;

/// Returns the folders of either side: DIR_A DIR_B, or lists of them, A... --with B...
std::pair<Folders, Folders> sides_of(const Options& options) {
  const Folders& dirs = options.result_dirs;
  if (!options.other_dirs.empty()) {
    return {dirs, options.other_dirs};
  }
  require(dirs.size() == 2,
          "compare takes two folders of results, or lists of them: compare A1 A2 --with B1 B2");
  return {{dirs.front()}, {dirs.back()}};
}

}  // namespace

ExitCode compare_command(const Options& options) {
  const auto [one, other] = sides_of(options);
  const auto changes = reports::compare_folders(
      reports::summarise(reports::read_result_folders(one)),
      reports::summarise(reports::read_result_folders(other)),
      options.tolerance,
      options.anyway ? reports::OtherProblem::noted : reports::OtherProblem::refused);
  if (options.json) {
    print_json(reports::to_json(changes));
  } else {
    fmt::print("{}", reports::changes_table(changes));
  }
  return options.fail_on_regression && changes.has_regression() ? ExitCode::regression
                                                                : ExitCode::done;
}

}  // namespace residuum
