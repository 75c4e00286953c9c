#include "reports/latex/kept_cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "assumptions/estimators/intervals.h"
#include "core/error.h"
#include "reports/analysis/statistics.h"

namespace residuum::reports {
namespace {

using SeedValues = std::map<std::uint64_t, double>;

/// The rows that a cell is of.
std::vector<const KeptRow*> rows_of_cell(const KeptCell& cell,
                                         const RunKeys& where,
                                         const KeptTable& table) {
  std::vector<const KeptRow*> rows;
  for (const auto& row : table.rows) {
    if (table.has(row, where)) {
      rows.push_back(&row);
    }
  }
  std::string wanted;
  for (const auto& [key, value] : where) {
    wanted += fmt::format("{}{} = '{}'", wanted.empty() ? "" : ", ", key, value);
  }
  require(!rows.empty(),
          "{}: {} has no row with {}",
          cell.place,
          table.file,
          wanted.empty() ? "anything" : wanted);
  return rows;
}

/// The numbers that the rows of one run have, with their iterations.
struct RunNumbers {
  std::uint64_t seed = 0;
  std::vector<double> values;
  std::vector<double> iterations;
};

/// Nothing where the run has no number, or one that is not finite where it counts.
std::optional<double> taken(const KeptCell& cell, const RunNumbers& run) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  const bool is_last = cell.take == Take::last;
  if (run.values.empty() || !is_finite(run.values.back()) ||
      (!is_last && !std::all_of(run.values.begin(), run.values.end(), is_finite))) {
    return std::nullopt;
  }
  switch (cell.take) {
    case Take::max:
      return *std::max_element(run.values.begin(), run.values.end());
    case Take::mean:
      return mean(run.values);
    case Take::rate: {
      const double between = run.iterations.back() - run.iterations.front();
      return between > 0 ? std::optional((run.values.back() - run.values.front()) / between)
                         : std::nullopt;
    }
    case Take::last:
      break;
  }
  return run.values.back();
}

/// True if a row counts for a cell that looks for the first one at a limit.
bool is_at_limit(const KeptCell& cell, const KeptTable& table, const KeptRow& row) {
  const auto value = table.number(row, table.column(cell.until->first));
  return value && *value <= cell.until->second;
}

/// Adds a row's number to its run's, if it has one.
void add_row(RunNumbers& run,
             const KeptCell& cell,
             const KeptTable& table,
             const KeptRow& row,
             KeptFolder& folder) {
  const auto value = cell.budget ? folder.at_budget(row, cell.column, *cell.budget)
                                 : table.number(row, table.column(cell.column));
  if (value) {
    run.values.push_back(*value);
    run.iterations.push_back(
        cell.take == Take::rate ? table.number(row, table.column("iteration")).value_or(0) : 0);
  }
}

struct RunValue {
  std::uint64_t seed = 0;
  double value = 0;
};

/// Returns the number of each run; empty where no row has one.
std::vector<RunValue> values_of_runs(const KeptCell& cell,
                                     const RunKeys& where,
                                     KeptFolder& folder) {
  const KeptTable& table = folder.table(cell.budget ? "runs.csv" : cell.table);
  std::map<std::string, RunNumbers> of_run;
  for (const KeptRow* row : rows_of_cell(cell, where, table)) {
    RunNumbers& run = of_run[row->run];
    run.seed = row->seed;
    const bool counts = !cell.until || (run.values.empty() && is_at_limit(cell, table, *row));
    if (counts) {
      add_row(run, cell, table, *row, folder);
    }
  }
  std::vector<RunValue> values;
  for (const auto& [name, run] : of_run) {
    if (const auto value = taken(cell, run)) {
      values.push_back({.seed = run.seed, .value = *value});
    }
  }
  require(values.empty() || values.size() == of_run.size(),
          "{}: {} of {} runs have no {}",
          cell.place,
          of_run.size() - values.size(),
          of_run.size(),
          cell.column);
  return values;
}

SeedValues values_by_seed(const KeptCell& cell, const RunKeys& where, KeptFolder& folder) {
  SeedValues values;
  for (const auto& run : values_of_runs(cell, where, folder)) {
    const bool is_new = values.emplace(run.seed, run.value).second;
    require(is_new, "{}: two runs have the seed {}; say more in 'where'", cell.place, run.seed);
  }
  return values;
}

/// Returns the numbers of the cell over the seeds, less those that are subtracted.
std::vector<double> numbers_of_cell(const KeptCell& cell, KeptFolder& folder) {
  const auto first = values_by_seed(cell, cell.where, folder);
  SeedValues second;
  if (cell.minus) {
    RunKeys where = cell.where;
    for (const auto& [key, value] : *cell.minus) {
      where[key] = value;
    }
    second = values_by_seed(cell, where, folder);
  }
  std::vector<double> values;
  for (const auto& [seed, value] : first) {
    const auto other = second.find(seed);
    const bool has_pair = !cell.minus || second.empty() || other != second.end();
    require(has_pair, "{}: the run of seed {} has no other to subtract", cell.place, seed);
    if (!cell.minus) {
      values.push_back(cell.scale * value);
    } else if (other != second.end()) {
      values.push_back(cell.scale * (value - other->second));
    }
  }
  return values;
}

/// Writes a number with the minus sign of typesetters; a number that rounds to zero has no sign.
std::string written_number(double value, int digits, bool is_signed) {
  std::string size = digits < 0 ? fmt::format("{:.6g}", std::abs(value))
                                : fmt::format("{:.{}f}", std::abs(value), digits);
  if (size.find_first_not_of("0.") == std::string::npos) {
    return size;
  }
  return (value < 0 ? "−" : is_signed ? "+" : "") + size;
}

/// Writes a bound with more digits where it would round to zero, up to three: whether an interval
/// contains zero has to be seen.
std::string written_bound(double value, int digits) {
  constexpr int kMore = 3;
  for (int more = 0; value != 0 && more <= kMore; ++more) {
    std::string text = written_number(value, digits < 0 ? digits : digits + more, false);
    if (text.find_first_not_of("0.") != std::string::npos) {
      return text;
    }
  }
  return written_number(0, digits, false);
}

bool excludes_zero(const std::optional<Interval>& interval) {
  return interval && (interval->low > 0 || interval->high < 0);
}

/// Returns the confidence of each interval with which `tests` tests hold together with 95 %.
double confidence_among(int tests) { return 1 - (1 - kConfidence) / std::max(tests, 1); }

std::string written_mean(const KeptCell& cell, const std::vector<double>& values) {
  std::string text =
      written_number(mean(values).value(), cell.digits, cell.is_signed || cell.minus) + cell.unit;
  const auto interval = student_interval(values);
  if (cell.has_interval && interval && !are_one_run(values)) {
    text += fmt::format(" [{}, {}]",
                        written_bound(interval->low, cell.digits),
                        written_bound(interval->high, cell.digits));
  }
  const bool is_significant = cell.is_rejected.value_or(
      cell.tests > 0 && excludes_zero(student_interval(values, confidence_among(cell.tests))));
  return text + (is_significant ? " *" : "");
}

double two_sided_p(const std::vector<double>& values) {
  std::vector<double> negative(values.size());
  std::transform(values.begin(), values.end(), negative.begin(), std::negate<>());
  const auto above = chance_above(values, 0);
  const auto below = chance_above(negative, 0);
  return above && below ? std::min(1.0, 2 * std::min(*above, *below)) : std::nan("");
}

std::string written_p(const std::vector<double>& values) {
  const double p = two_sided_p(values);
  constexpr double kLeast = 1e-4;
  return std::isnan(p) ? std::string() : p < kLeast ? "< 0.0001" : fmt::format("{:.2g}", p);
}

std::string written_share(const KeptCell& cell, KeptFolder& folder) {
  const KeptTable& table = folder.table(cell.table);
  double part = 0;
  double whole = 0;
  for (const KeptRow* row : rows_of_cell(cell, cell.where, table)) {
    if (const auto value = table.number(*row, table.column(cell.column))) {
      part += *value;
      whole += table.number(*row, table.column(cell.over)).value_or(0);
    }
  }
  if (whole == 0) {
    return {};
  }
  const double percent = 100 * part / whole;
  const double least = std::pow(10, -cell.digits);  // what is not none is not written as none
  return part > 0 && percent < least / 2 ? fmt::format("< {:.{}f} %", least, cell.digits)
                                         : fmt::format("{:.{}f} %", percent, cell.digits);
}

std::string written_text(const KeptCell& cell, KeptFolder& folder) {
  const KeptTable& table = folder.table(cell.table);
  std::set<std::string> texts;
  for (const KeptRow* row : rows_of_cell(cell, cell.where, table)) {
    texts.insert(table.text(*row, cell.column));
  }
  require(texts.size() == 1,
          "{}: {} is not the same in all rows: '{}'",
          cell.place,
          cell.column,
          fmt::join(texts, "', '"));
  return *texts.begin();
}

std::string written_needed(const KeptCell& cell, const std::vector<double>& values) {
  constexpr double kMost = 1e4;
  const double confidence = confidence_among(cell.tests);
  if (excludes_zero(student_interval(values, confidence))) {
    return "–";
  }
  const auto needed = seeds_for_sign(values, confidence);
  return !needed ? "–" : *needed > kMost ? "more than 10000" : fmt::format("{:.0f}", *needed);
}

/// Returns a cell of all runs, whatever their seeds.
std::string written_of_runs(const KeptCell& cell, KeptFolder& folder) {
  std::vector<double> values;
  for (const auto& run : values_of_runs(cell, cell.where, folder)) {
    values.push_back(cell.scale * run.value);
  }
  if (values.empty()) {
    return {};
  }
  const auto plain = [&](double value) {
    return written_number(value, cell.digits, cell.is_signed) + cell.unit;
  };
  switch (cell.statistic) {
    case CellStatistic::max:
      return plain(*std::max_element(values.begin(), values.end()));
    case CellStatistic::min:
      return plain(*std::min_element(values.begin(), values.end()));
    case CellStatistic::sum:
      return plain(std::accumulate(values.begin(), values.end(), 0.0));
    case CellStatistic::count:
      return fmt::format("{}", values.size());
    case CellStatistic::same:
      require(are_one_run(values), "{}: {} differs among the runs", cell.place, cell.column);
      return plain(values.front());
    default:
      return plain(mean(values).value());
  }
}

/// Returns the ends of an interval that the table has in columns.
std::string written_bounds(const KeptCell& cell, KeptFolder& folder) {
  const auto end = [&](const std::string& column) {
    KeptCell bound = cell;
    bound.column = column;
    const auto values = values_of_runs(bound, bound.where, folder);
    require(values.size() == 1, "{}: there is not one row with {}", cell.place, column);
    return written_bound(cell.scale * values.front().value, cell.digits);
  };
  return fmt::format(" [{}, {}]", end(cell.low), end(cell.high));
}

/// Returns a cell of the seeds, each of which has one run or a pair.
std::string written_of_seeds(const KeptCell& cell, KeptFolder& folder) {
  const auto values = numbers_of_cell(cell, folder);
  if (values.empty()) {
    return {};
  }
  if (cell.statistic == CellStatistic::needed) {
    return written_needed(cell, values);
  }
  if (cell.statistic == CellStatistic::p_value) {
    return written_p(values);
  }
  if (cell.statistic == CellStatistic::median) {
    return written_number(median(values).value(), cell.digits, cell.is_signed) + cell.unit;
  }
  return written_mean(cell, values);
}

/// Returns the cell's text, empty where no row has a number.
std::string computed_text(const KeptCell& cell, KeptFolder& folder) {
  switch (cell.statistic) {
    case CellStatistic::text:
      return written_text(cell, folder);
    case CellStatistic::share:
      return written_share(cell, folder);
    case CellStatistic::mean:
    case CellStatistic::median:
    case CellStatistic::needed:
    case CellStatistic::p_value:
      return written_of_seeds(cell, folder);
    default:
      return written_of_runs(cell, folder) +
             (cell.low.empty() ? std::string() : written_bounds(cell, folder));
  }
}

}  // namespace

std::string kept_cell(const KeptCell& cell, KeptFolders& folders) {
  if (cell.written) {
    return *cell.written;
  }
  auto& folder = folders.try_emplace(cell.folder, cell.folder).first->second;
  const std::string text = computed_text(cell, folder);
  require(!text.empty() || !cell.missing.empty(),
          "{}: no row has a number in {}",
          cell.place,
          cell.column);
  return text.empty() ? cell.missing : text;
}

double p_value_of(const KeptCell& cell, KeptFolders& folders) {
  if (cell.written || !cell.minus) {
    return std::nan("");
  }
  auto& folder = folders.try_emplace(cell.folder, cell.folder).first->second;
  return two_sided_p(numbers_of_cell(cell, folder));
}

}  // namespace residuum::reports
