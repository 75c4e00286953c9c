#pragma once
// This file computes a ratio of sums with its interval. Delta of an epoch is one as Shi et al.
// (IJCAI 2019) plot it, the mean of |mean a - g/P|^2 over the mean of (1-rho) |mean a|^2; so are
// pooled contractions.

#include <cstddef>
#include <optional>
#include <span>

#include "assumptions/estimators/intervals.h"

namespace residuum {

struct RatioOfSums {
  double value = 0;                  // sum num / sum den
  std::optional<Interval> interval;  // absent for fewer than two pairs
  std::size_t pairs = 0;             // pairs that the interval is made of
};

/// R = sum num / sum den of n pairs. Its variance by the delta method (the linear part of R in the
/// two means): s^2 = Var(num - R den) / (n mean(den)^2), the sample variance with n - 1; the
/// interval is R +- t_{n-1} s. The bias of R is of order 1/n. Pairs of successive iterations are
/// correlated: the interval is then too short, and pairs of different runs are the honest ones.
/// Absent where the denominators do not sum to a positive number. O(n).
std::optional<RatioOfSums> ratio_of_sums(std::span<const double> numerators,
                                         std::span<const double> denominators,
                                         double confidence = kConfidence);

/// Computes the same ratio for pairs in the order of their iterations, which are correlated. The
/// interval is that of batch means (Law and Carson, Operations Research 1979): its pairs are
/// floor(sqrt n) successive batches of about sqrt n pairs each. It is honest where the correlation
/// dies out within a batch.
std::optional<RatioOfSums> ratio_of_batch_sums(std::span<const double> numerators,
                                               std::span<const double> denominators,
                                               double confidence = kConfidence);

}  // namespace residuum
