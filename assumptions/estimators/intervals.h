#pragma once
// This file has confidence intervals of means. What is not defined is absent, never a number.

#include <optional>
#include <span>

namespace residuum {

struct Interval {
  double low = 0;
  double high = 0;
};

inline constexpr double kConfidence = 0.95;

/// Student's t interval for the mean of independent values: mean +- t_{n-1} s/sqrt(n), s^2 with
/// n - 1. Absent for fewer than two values or one that is not finite. O(n).
std::optional<Interval> mean_interval(std::span<const double> values,
                                      double confidence = kConfidence);

/// Returns the same interval by the probability `error` with which it misses, which may be so small
/// that 1 - error rounds to 1; it lies in (0, 1).
std::optional<Interval> mean_interval_of_error(std::span<const double> values, double error);

/// The chance of a mean as large as this, or larger, if the values are independent normal draws of
/// the mean `limit`: Student's t test, one-sided. 0 or 1 where the values do not vary. Absent where
/// the interval is.
std::optional<double> chance_above(std::span<const double> values, double limit);

/// The t of n - 1 degrees of freedom that a two-sided interval of n values takes; requires n >= 2.
double student_quantile(std::size_t n, double confidence = kConfidence);

}  // namespace residuum
