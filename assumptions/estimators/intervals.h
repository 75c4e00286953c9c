#pragma once
// Confidence intervals of means. What is not defined is absent, never a number.

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

/// The t of n - 1 degrees of freedom that a two-sided interval of n values takes; requires n >= 2.
double student_quantile(std::size_t n, double confidence = kConfidence);

}  // namespace residuum
