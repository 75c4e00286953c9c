// residuum report: report.html, figures and tables from a result folder.

#include <fmt/format.h>

#include "experiments/commands.h"
#include "reports/collect.h"
#include "reports/report.h"

namespace residuum {

ExitCode report_command(const Options& options) {
  reports::collect(options.result_dir);
  const auto report = reports::write_report(options.result_dir);
  for (const auto& problem : report.problems) {
    fmt::print(stderr, "note: {}\n", problem);
  }
  fmt::print("{}\n", report.file.string());
  return ExitCode::done;
}

}  // namespace residuum
