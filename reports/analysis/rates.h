#pragma once
// A rate tells how X_T, the mean of |grad f(w_t)|^2, falls with the iterations or with the workers.
// A line of log X_T against the logarithm of what varies is fitted to every seed; the slopes of the
// seeds are independent, which is what the interval is made of. Theory says -1/2 for both where
// noise dominates.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/analysis/groups.h"
#include "reports/analysis/statistics.h"
#include "reports/tables/result_folder.h"

namespace residuum::reports {

/// Returns the slope of the least-squares line of log y against log x. Absent for fewer than two
/// different x, or where a number is not positive and finite.
std::optional<double> log_log_slope(const std::vector<double>& x, const std::vector<double>& y);

/// One method at several values of one key.
struct Rate {
  std::string_view key;     // budget.iterations or workers.count
  std::string label;        // the method, without the key
  std::vector<double> x;    // the values of the key, rising
  Spread slope;             // over the seeds that have finished at all of them
  std::size_t unended = 0;  // seeds that diverged, failed or were cut at one of them
};

/// Fits all methods of which at least two groups differ in nothing but the key.
std::vector<Rate> fit_rates(const ResultFolder& folder, const std::vector<Group>& groups);

/// Says which seeds a rate is not of, and why it has no interval, or why there is no rate; empty
/// where nothing is to be said.
std::string note_on(const Rate& rate);

}  // namespace residuum::reports
