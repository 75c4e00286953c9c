#pragma once
// Ratio of sums with its interval: delta of an epoch as Shi et al. (IJCAI 2019) plot it, the mean
// of |mean a - g/P|^2 over the mean of (1-rho) |mean a|^2; pooled contractions likewise.

#include <optional>
#include <span>

#include "assumptions/estimators/intervals.h"

namespace residuum {

struct RatioOfSums {
  double value = 0;                  // sum num / sum den
  std::optional<Interval> interval;  // absent for fewer than two pairs
};

/// R = sum num / sum den of n pairs. Its variance by the delta method (the linear part of R in the
/// two means): s^2 = Var(num - R den) / (n mean(den)^2), the sample variance with n - 1; the
/// interval is R +- t_{n-1} s. The bias of R is of order 1/n. Pairs of successive iterations are
/// correlated: the interval is then too short, and pairs of different runs are the honest ones.
/// Absent where the denominators do not sum to a positive number. O(n).
std::optional<RatioOfSums> ratio_of_sums(std::span<const double> numerators,
                                         std::span<const double> denominators,
                                         double confidence = kConfidence);

}  // namespace residuum
