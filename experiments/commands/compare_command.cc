// `residuum compare` takes two results of the same study and tells which of its numbers changed.

#include <fmt/format.h>

#include "experiments/commands/commands.h"
#include "experiments/console/streams.h"
#include "reports/terminal/changes.h"

namespace residuum {

ExitCode compare_command(const Options& options) {
  const auto changes = reports::compare_folders(
      reports::summarise(options.result_dir),
      reports::summarise(options.other_dir),
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
