#pragma once
// These statistics sum up a handful of numbers, one per seed. What is not defined is absent, never
// a number.

#include <optional>
#include <vector>

#include "assumptions/estimators/intervals.h"

namespace residuum::reports {

/// Returns the quantile of type 7 (Hyndman and Fan 1996; the default of R and NumPy): linear
/// between the order statistics at (n-1) p. Absent for no values or a NaN among them.
std::optional<double> quantile(std::vector<double> values, double p);

std::optional<double> median(const std::vector<double>& values);
std::optional<double> mean(const std::vector<double>& values);

/// Returns Student's t interval for the mean. Absent for fewer than two values or one that is not
/// finite.
std::optional<Interval> student_interval(const std::vector<double>& values,
                                         double confidence = 0.95);

/// A Spread is what tables and figures say of the values of one quantity over the seeds.
struct Spread {
  std::size_t n = 0;
  std::optional<double> median;
  std::optional<double> lower_quartile;
  std::optional<double> upper_quartile;
  std::optional<double> mean;
  std::optional<Interval> interval;  // 95 %, of the mean
};

Spread spread_of(const std::vector<double>& values);

}  // namespace residuum::reports
