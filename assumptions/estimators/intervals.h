#pragma once
// Means of values and what goes about them. All sums are taken in the order of the values.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace residuum {

/// The mean of at least one value.
inline double plain_mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

struct CentralMoments {
  double mean = 0;
  double squares = 0;  // sum of (x - mean)^2
  double cubes = 0;    // sum of (x - mean)^3
};

inline CentralMoments central_moments(std::span<const double> values) {
  CentralMoments moments{.mean = plain_mean(values), .squares = 0, .cubes = 0};
  for (const double x : values) {
    const double distance = x - moments.mean;
    moments.squares += distance * distance;
    moments.cubes += distance * distance * distance;
  }
  return moments;
}

inline constexpr double kLogRisk = 21.416413017506358;  // log(2/risk), risk 1e-9

/// The mean of draws, and how far it may be from its expectation by the empirical Bernstein bound
/// (Maurer and Pontil, COLT 2009), with the observed range, at least 1, as the range.
struct DrawnMean {
  double value = 0;
  double room = 0;
};

/// The room of a single draw is 0.
inline DrawnMean drawn_mean(std::span<const double> draws) {
  const auto n = static_cast<double>(draws.size());
  const CentralMoments moments = central_moments(draws);
  if (draws.size() == 1) {
    return {.value = moments.mean, .room = 0};
  }
  const auto [least, most] = std::minmax_element(draws.begin(), draws.end());
  const double range = std::max({1.0, *most - *least, *most});
  const double variance = moments.squares / (n - 1);
  return {.value = moments.mean,
          .room = std::sqrt(2 * variance * kLogRisk / n) + 7 * range * kLogRisk / (3 * (n - 1))};
}

// Confidence intervals of means and of ratios of sums, and tests of many hypotheses at once. An
// undefined value is absent, never a number.

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

/// Delta of an epoch is such a ratio as Shi et al. (IJCAI 2019) plot it, the mean of |mean a -
/// g/P|^2 over the mean of (1-rho) |mean a|^2; so are pooled contractions.
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

/// Tells for each p-value whether its hypothesis is rejected by Holm's procedure (Scandinavian
/// Journal of Statistics 1979): the chance that any true hypothesis of the family is rejected stays
/// at most `level`, however the tests depend on one another. In rising order hypotheses are
/// rejected as long as the i-th p-value of m (counted from 0) is at most level/(m - i). A p-value
/// that is no number is never rejected, and counts in the family. O(m log m).
std::vector<bool> holm_rejects(std::span<const double> p_values, double level);

}  // namespace residuum
