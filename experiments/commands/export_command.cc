// `residuum export` writes the measurements of a result folder in the forms of other programs.

#include "core/error.h"
#include "experiments/commands/commands.h"
#include "experiments/console/streams.h"
#include "reports/exports/event_files.h"
#include "reports/exports/joined_table.h"

namespace residuum {

ExitCode export_command(const Options& options) {
  require(options.join != options.tensorboard,
          "name one form: --join (a flat table) or --tensorboard (event files)");
  const auto folder = reports::read_result_folder(options.result_dir);
  const auto target =
      options.out.value_or(options.result_dir / (options.join ? "joined.csv" : "tensorboard"));
  const auto written = options.join ? reports::write_joined_table(folder, target)
                                    : reports::write_event_files(folder, target);
  require(written > 0,
          "{} has no finished run yet; 'residuum watch' shows how far it is",
          options.result_dir.string());
  print_path(target);
  return ExitCode::done;
}

}  // namespace residuum
