#include "assumptions/estimators/intervals.h"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace residuum {

double student_quantile(std::size_t n, double confidence) {
  assert(n >= 2 && confidence > 0 && confidence < 1);
  const boost::math::students_t distribution(static_cast<double>(n - 1));
  return boost::math::quantile(distribution, 0.5 + confidence / 2);
}

namespace {

struct Mean {
  double value = 0;
  double error = 0;  // standard error
};

std::optional<Mean> mean_of(std::span<const double> values) {
  const bool finite =
      std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
  if (values.size() < 2 || !finite) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double x : values) {
    squares += (x - mean) * (x - mean);
  }
  return Mean{.value = mean, .error = std::sqrt(squares / (n - 1) / n)};
}

}  // namespace

std::optional<Interval> mean_interval(std::span<const double> values, double confidence) {
  const auto mean = mean_of(values);
  if (!mean) {
    return std::nullopt;
  }
  const double half = student_quantile(values.size(), confidence) * mean->error;
  return Interval{.low = mean->value - half, .high = mean->value + half};
}

std::optional<Interval> mean_interval_of_error(std::span<const double> values, double error) {
  assert(error > 0 && error < 1);
  const auto mean = mean_of(values);
  if (!mean) {
    return std::nullopt;
  }
  const boost::math::students_t distribution(static_cast<double>(values.size() - 1));
  const double t = boost::math::quantile(boost::math::complement(distribution, error / 2));
  return Interval{.low = mean->value - t * mean->error, .high = mean->value + t * mean->error};
}

std::optional<double> chance_above(std::span<const double> values, double limit) {
  const auto mean = mean_of(values);
  if (!mean) {
    return std::nullopt;
  }
  const double above = mean->value - limit;
  const double t = above / mean->error;
  if (!std::isfinite(t)) {
    return above > 0 ? 0.0 : 1.0;
  }
  const boost::math::students_t distribution(static_cast<double>(values.size() - 1));
  return boost::math::cdf(boost::math::complement(distribution, t));
}

}  // namespace residuum
