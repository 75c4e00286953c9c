#pragma once
// Means of values and what goes about them. All sums are taken in the order of the values.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

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

}  // namespace residuum
