// `residuum report` makes report.html, figures and tables from a result folder.

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <unistd.h>
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

/// Throws where the folder is there and cannot be written: its tables, figures and page lie in it.
void require_writable(const std::filesystem::path& folder) {
  if (std::filesystem::is_directory(folder) && ::access(folder.c_str(), W_OK) != 0) {
    resource_error(
        "'{0}' cannot be written, and a report is made in the folder of the results; copy "
        "it (cp -r {0} COPY) and report the copy",
        folder.string());
  }
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
  require_writable(options.result_dir);
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
