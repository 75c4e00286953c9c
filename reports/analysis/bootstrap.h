#pragma once
// The bootstrap draws values from those that were seen, with replacement; quantiles of the means of
// such resamples are the interval. Which ones, the BCa method says (Efron 1987; Davison and Hinkley
// 1997, section 5.3): it corrects for the bias and for the skewness of the mean, by which plain
// percentiles miss to one side. It needs no normal law, and many values.

#include <cstddef>
#include <optional>
#include <vector>

#include "assumptions/estimators/intervals.h"

namespace residuum::reports {

/// Resampling cannot leave the range of the values, which holds the middle of their law with chance
/// 1 - 2^(1-n): an interval of fewer values would claim too much. 6 for 95 %.
std::size_t least_bootstrap_values(double confidence = kConfidence);

/// Returns the interval for the mean. All n^n resamples count up to n = 7; for more values it takes
/// 1999 resamples, always the same for one n. Absent for fewer values than the least, or one that
/// is not finite.
std::optional<Interval> bootstrap_interval(const std::vector<double>& values,
                                           double confidence = kConfidence);

}  // namespace residuum::reports
