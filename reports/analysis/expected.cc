#include "reports/analysis/expected.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/record/columns.h"
#include "core/text.h"
#include "reports/analysis/measures.h"
#include "reports/analysis/study_numbers.h"

namespace residuum::reports {
namespace {

constexpr std::string_view kFacts = "facts.";

Expected read_expected(const Json& json) {
  Expected expected{.quantity = text_at(json, "quantity"),
                    .at = plain_text(value_at(json, "at")),
                    .value = number_at(json, "value"),
                    .interval = std::nullopt,
                    .source = text_at(json, "source"),
                    .where = value_at(json, "where")};
  const Json& ends = value_at(json, "interval");
  if (ends.is_array() && ends.size() == 2 && ends[0].is_number() && ends[1].is_number()) {
    expected.interval = Interval{.low = ends[0].get<double>(), .high = ends[1].get<double>()};
  }
  return expected;
}

/// Returns whether the run has all of the settings.
bool is_meant(const Run& run, const Json& where) {
  if (!where.is_object()) {
    return true;
  }
  const Json& config = value_at(run.config, "config");
  std::size_t met = 0;
  for (const auto& [key, wanted] : where.items()) {
    const auto varied = run.varying.find(key);
    const bool varies_so = varied != run.varying.end() && *varied == wanted;
    met += varies_so || value_at(config, key) == wanted ? 1 : 0;
  }
  return met == where.size();
}

const Metric* find_metric(std::string_view name) {
  const auto& metrics = run_metrics();
  const auto found = std::find_if(
      metrics.begin(), metrics.end(), [&](const Metric& metric) { return metric.name == name; });
  return found == metrics.end() ? nullptr : &*found;
}

std::optional<Column> find_column(std::string_view name) {
  const auto* const found = std::find_if(
      kColumns.begin(), kColumns.end(), [&](const auto& column) { return column.name == name; });
  return found == kColumns.end() ? std::nullopt
                                 : std::optional(static_cast<Column>(found - kColumns.begin()));
}

/// Returns the iteration that `at` names; none for max, mean and end.
std::optional<std::uint64_t> iteration_of(const std::string& at) {
  return parsed<std::uint64_t>(at);
}

/// Sums up a column of one run.
std::optional<double> value_of(const Run& run, Column column, const std::string& at) {
  const std::uint64_t latest = iteration_of(at).value_or(std::numeric_limits<std::uint64_t>::max());
  std::optional<double> last;
  std::optional<double> largest;
  double sum = 0;
  std::size_t n = 0;
  read_iterations(run.folder / "iterations.csv", run.id, [&](const IterationRecord& record) {
    const auto value = record.get(column);
    if (!value || record.iteration() > latest) {
      return;
    }
    last = value;
    largest = !largest || std::isnan(*value) || *value > *largest ? value : largest;
    sum += *value;
    ++n;
  });
  if (at == "mean") {
    return n > 0 ? std::optional(sum / static_cast<double>(n)) : std::nullopt;
  }
  return at == "max" ? largest : last;
}

std::optional<double> value_of(const Run& run, const Expected& what) {
  if (const Metric* metric = find_metric(what.quantity)) {
    return value_of(run, *metric);
  }
  if (what.quantity.starts_with(kFacts)) {
    return number_at(run.status, what.quantity);
  }
  const auto column = find_column(what.quantity);
  return column ? value_of(run, *column, what.at) : std::nullopt;
}

ExpectedResult result_of(const ResultFolder& folder,
                         const Expected& what,
                         const std::vector<Group>& groups,
                         std::size_t group) {
  ExpectedResult result{.expected = what, .group = group, .values = {}};
  for (const std::size_t i : groups[group].runs) {
    const Run& run = folder.runs[i];
    const bool counts = run.state == "finished" ||
                        (run.state == "diverged" && find_metric(what.quantity) != nullptr);
    const auto value = counts ? value_of(run, what) : std::nullopt;
    if (value) {
      result.values.push_back(*value);
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> quantities_to_expect() {
  std::vector<std::string> names;
  for (const auto& metric : run_metrics()) {
    names.emplace_back(metric.name);
  }
  for (const auto& column : kColumns) {
    names.emplace_back(column.name);
  }
  return names;
}

bool is_one_number(std::string_view quantity) {
  return quantity.starts_with(kFacts) || find_metric(quantity) != nullptr;
}

std::vector<ExpectedResult> hold_against_expected(const ResultFolder& folder,
                                                  const std::vector<Group>& groups) {
  std::vector<ExpectedResult> results;
  for (const auto& json : folder.expected) {
    const Expected what = read_expected(json);
    const std::size_t before = results.size();
    for (std::size_t group = 0; group < groups.size(); ++group) {
      if (is_meant(folder.runs[groups[group].runs.front()], what.where)) {
        results.push_back(result_of(folder, what, groups, group));
      }
    }
    if (results.size() == before) {
      results.push_back({.expected = what, .group = std::nullopt, .values = {}});
    }
  }
  return results;
}

}  // namespace residuum::reports
