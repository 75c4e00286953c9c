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

}  // namespace residuum
