// `residuum report` makes report.html, figures and tables from a result folder.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "experiments/commands/commands.h"
#include "experiments/console/streams.h"
#include "reports/collection/collect.h"
#include "reports/page/report.h"
#include "reports/terminal/theorem_text.h"

namespace residuum {

ExitCode report_command(const Options& options) {
  if (options.theorem) {
    std::vector<std::string> known;
    for (const auto& theorem : theorems()) {
      known.emplace_back(theorem.name);
    }
    require(find_theorem(*options.theorem) != nullptr,
            "unknown theorem '{}'{}",
            *options.theorem,
            suggestion(*options.theorem, known));
  }
  const auto summary = reports::collect(options.result_dir);
  const auto report = reports::write_report(options.result_dir);
  for (const auto& problem : report.problems) {
    say(fmt::format("note: {}", problem));
  }
  if (options.theorem) {
    fmt::print("{}", reports::theorem_text(summary, *options.theorem));
  }
  print_path(report.file);
  return ExitCode::done;
}

}  // namespace residuum
