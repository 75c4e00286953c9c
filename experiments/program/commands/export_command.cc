// `residuum export` writes the measurements of a result folder in the forms of other programs.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/error.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/console/streams.h"
#include "reports/exports/export_forms.h"

namespace residuum {
namespace {

/// A file or folder that --out names, else one in the folder of results.
OutputPath target_of(const Options& options) {
  if (options.out) {
    return options.join ? OutputPath(*options.out) : OutputPath::named(*options.out);
  }
  require(options.result_dirs.size() == 1,
          "several folders: name the file or folder of what is exported with --out");
  return OutputPath::named(options.result_dirs.front()) /
         (options.join ? "joined.csv" : "tensorboard");
}

}  // namespace

ExitCode export_command(const Options& options) {
  require(options.join != options.tensorboard,
          "name one form: --join (a flat table) or --tensorboard (event files)");
  const auto target = target_of(options);
  const auto folder = reports::read_result_folders(options.result_dirs);
  const bool has_any = std::any_of(
      folder.runs.begin(), folder.runs.end(), [](const auto& run) { return run.has_tables(); });
  require(has_any,
          "{} has no finished run yet; 'residuum watch' shows how far it is",
          options.result_dirs.front().string());
  if (!folder.mixed_data.empty()) {
    say(fmt::format("note: {}", folder.mixed_data));
  }
  if (options.join) {
    require_replaceable(target);
    reports::write_joined_table(folder, target);
  } else {
    const auto written = reports::write_event_files(folder, target);
    if (written.left_out > 0) {
      say(
          fmt::format("{} values are beyond float32, which event files hold, and were left out; "
                      "--join has them",
                      written.left_out));
    }
  }
  print_path(target);
  return ExitCode::done;
}

}  // namespace residuum
