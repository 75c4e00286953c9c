#pragma once
// Tests of the page of published experiments share these readers of kept tables, and numbers as the
// page writes them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "reports/numbers/statistics.h"
#include "reports/tables/csv_reader.h"
#include "tests/experiments/support.h"

namespace residuum {

inline const std::filesystem::path kPapersFolder =
    std::filesystem::path(RESIDUUM_STUDIES) / "papers";

/// The studies on networks that were run seed by seed, of which tables are kept.
inline const std::vector<std::string> kKeptStudies{"r1-lstm",
                                                   "r4-lstm",
                                                   "r4-lstm-bytes",
                                                   "r1-resnet8",
                                                   "r4-resnet8",
                                                   "r4-resnet8-bytes",
                                                   "r4-resnet8-plain"};

inline std::string page() { return read_text(kPapersFolder / "README.md"); }

inline std::string with_interval(const std::vector<double>& values) {
  const auto interval = reports::student_interval(values).value();
  return fmt::format(
      "{:.3f} [{:.3f}, {:.3f}]", reports::mean(values).value(), interval.low, interval.high);
}

/// How often delta of one method exceeds 1, and the largest, of tables by epoch.
struct KeptDelta {
  double above = 0;     // iterations whose delta exceeds 1
  double measured = 0;  // iterations with a delta
  double largest = 0;

  void add(const reports::CsvReader& epoch) {
    const auto number = [&](const char* column) { return epoch.number(epoch.column(column)); };
    if (const auto delta = number("delta_max")) {
      largest = std::max(largest, *delta);
      above += number("delta_above_1").value();
      measured += number("measured").value();
    }
  }
  /// Returns both as the page writes them; a share that rounds to none is not printed as none.
  std::string text() const {
    if (measured == 0) {
      return "– | –";
    }
    const double percent = 100 * above / measured;
    const auto share = above > 0 && percent < 0.05 ? "< 0.1 %" : fmt::format("{:.1f} %", percent);
    return fmt::format("{} | {:.5f}", share, largest);
  }
};

/// The keys of runs.csv with the values that its runs of one method have.
using Keys = std::map<std::string, std::string>;

/// Returns a column of the runs of one method, by seed.
inline std::map<std::uint64_t, double> of_runs(const std::filesystem::path& folder,
                                               const std::string& column,
                                               const Keys& keys) {
  std::map<std::uint64_t, double> of_seed;
  reports::CsvReader runs(folder / "runs.csv");
  while (runs.next()) {
    const bool is_wanted = std::all_of(keys.begin(), keys.end(), [&](const auto& entry) {
      return runs.text(runs.column("p_" + entry.first)) == entry.second;
    });
    if (is_wanted) {
      of_seed[runs.integer(runs.column("seed"))] = runs.number(runs.column(column)).value();
    }
  }
  return of_seed;
}

/// Returns "+0.0125 [0.0069, 0.0181]": by how much the first method's runs exceed the second's of
/// the same seed, times the scale, with the minus signs of the page.
inline std::string difference(const std::filesystem::path& folder,
                              const std::string& column,
                              int digits,
                              const Keys& first,
                              const Keys& second,
                              double scale = 1) {
  const auto baseline = of_runs(folder, column, second);
  std::vector<double> values;
  for (const auto& [seed, value] : of_runs(folder, column, first)) {
    values.push_back(scale * (value - baseline.at(seed)));
  }
  EXPECT_EQ(values.size(), 5U) << column;
  const auto interval = reports::student_interval(values).value();
  std::string text = fmt::format("{:+.{}f} [{:.{}f}, {:.{}f}]",
                                 reports::mean(values).value(),
                                 digits,
                                 interval.low,
                                 digits,
                                 interval.high,
                                 digits);
  for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at)) {
    text.replace(at, 1, "−");
  }
  return text;
}

/// Returns the mean of a column over the runs of one method, with its interval.
inline std::string mean_of(const std::filesystem::path& folder,
                           const std::string& column,
                           const Keys& keys) {
  std::vector<double> values;
  for (const auto& [seed, value] : of_runs(folder, column, keys)) {
    values.push_back(value);
  }
  return with_interval(values);
}

/// How often delta exceeds 1, and the largest, of every method of a kept study.
inline std::map<std::string, KeptDelta> kept_deltas(const std::filesystem::path& folder) {
  std::map<std::string, KeptDelta> of_method;
  reports::CsvReader epochs(folder / "epochs.csv");
  while (epochs.next()) {
    of_method[epochs.text(epochs.column("method"))].add(epochs);
  }
  return of_method;
}

/// Returns the mean delta of each run in its last quarter, by method.
inline std::map<std::string, std::vector<double>> late_deltas(const std::filesystem::path& folder) {
  std::map<std::string, std::vector<double>> of_method;
  reports::CsvReader quarters(folder / "quarters.csv");
  while (quarters.next()) {
    const auto delta = quarters.number(quarters.column("delta"));
    if (quarters.integer(quarters.column("epoch")) == 3 && delta) {
      of_method[quarters.text(quarters.column("method"))].push_back(*delta);
    }
  }
  return of_method;
}

/// Returns "0.99507 [0.99500, 0.99514]", the mean of what runs have for delta.
inline std::string delta_with_interval(const std::vector<double>& means) {
  const auto interval = reports::student_interval(means).value();
  return fmt::format(
      "{:.5f} [{:.5f}, {:.5f}]", reports::mean(means).value(), interval.low, interval.high);
}

}  // namespace residuum
