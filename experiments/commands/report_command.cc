// `residuum report` makes report.html, figures and tables from a result folder.

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/commands/commands.h"
#include "experiments/console/streams.h"
#include "reports/collection/collect.h"
#include "reports/page/report.h"
#include "reports/terminal/theorem_text.h"

namespace residuum {
namespace {

constexpr std::array<std::pair<std::string_view, reports::IntervalKind>, 3> kIntervals{
    {{"iqr", reports::IntervalKind::quartiles},
     {"student", reports::IntervalKind::student},
     {"bootstrap", reports::IntervalKind::bootstrap}}};

reports::IntervalKind interval_kind(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& one : kIntervals) {
    if (one.first == name) {
      return one.second;
    }
    known.emplace_back(one.first);
  }
  usage_error("--interval {}: it is {}{}", name, fmt::join(known, ", "), suggestion(name, known));
}

}  // namespace

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
  const auto kind = interval_kind(options.interval);
  const auto summary = reports::collect(options.result_dir);
  const auto report = reports::write_report(summary, kind);
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
