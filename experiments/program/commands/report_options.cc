#include "experiments/program/commands/report_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "experiments/program/console/values_option.h"

namespace residuum {
namespace {

constexpr std::array<std::pair<std::string_view, reports::IntervalKind>, 3> kIntervals{
    {{"iqr", reports::IntervalKind::quartiles},
     {"student", reports::IntervalKind::student},
     {"bootstrap", reports::IntervalKind::bootstrap}}};

/// A ByteUnit is a power of 1000, as in the program's own words.
struct ByteUnit {
  std::string_view name;
  double bytes;
};
constexpr std::array<ByteUnit, 7> kByteUnits{
    {{"", 1}, {"B", 1}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}}};

}  // namespace

double byte_amount(const std::string& text, std::string_view option) {
  const auto amount = leading_number<double>(text);
  const auto* const unit =
      std::find_if(kByteUnits.begin(), kByteUnits.end(), [&](const ByteUnit& one) {
        return amount && one.name == amount->rest;
      });
  require(unit != kByteUnits.end() && std::isfinite(amount->number) && amount->number > 0,
          "{} is '{}', but must be bytes above zero, such as 500kB, 2MB or 1.5GB",
          option,
          text);
  return amount->number * unit->bytes;
}

void add_report(CLI::App& command, Options& options) {
  auto& own = options.report;
  command.add_option("DIR", options.result_dirs, "result folders, which are read as one")
      ->required();
  command.add_option("--out", options.out, "folder of tables and report (DIR)");
  command.add_option("--theorem", options.theorem, "say how this theorem was judged, by method");
  command.add_option("--interval",
                     options.interval,
                     "over the seeds: iqr (median, quartiles), student or bootstrap (mean, 95 %)");
  add_values(command, "--at", own.budgets, "2MB,10MB: a table of the methods at these bytes");
  add_values(command,
             "--columns",
             own.columns,
             "number columns of printed tables, by their names in the CSV");
  command.add_option("--digits", own.digits, "significant digits in printed tables (by interval)")
      ->check(CLI::Range(1, 15));
  add_values(command, "--wide", own.wide, "tables that span both columns of a page in LaTeX");
}

reports::IntervalKind interval_kind(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& one : kIntervals) {
    if (one.first == name) {
      return one.second;
    }
    known.emplace_back(one.first);
  }
  usage_error("--interval {}: unknown{}", name, suggestion(name, known));
}

}  // namespace residuum
