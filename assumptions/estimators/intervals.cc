#include "assumptions/estimators/intervals.h"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

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
  const auto [mean, squares, cubes] = central_moments(values);
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

std::optional<RatioOfSums> ratio_of_sums(std::span<const double> numerators,
                                         std::span<const double> denominators,
                                         double confidence) {
  assert(numerators.size() == denominators.size());
  const double sum_den = std::accumulate(denominators.begin(), denominators.end(), 0.0);
  const double sum_num = std::accumulate(numerators.begin(), numerators.end(), 0.0);
  if (!(sum_den > 0) || !std::isfinite(sum_den)) {
    return std::nullopt;
  }
  const std::size_t pairs = numerators.size();
  RatioOfSums ratio{.value = sum_num / sum_den, .interval = std::nullopt, .pairs = pairs};
  if (pairs < 2 || !std::isfinite(ratio.value)) {
    return ratio;
  }
  // num - R den has mean zero by the choice of R.
  double squares = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double rest = numerators[i] - ratio.value * denominators[i];
    squares += rest * rest;
  }
  const auto n = static_cast<double>(pairs);
  const double error = std::sqrt(squares / (n - 1) / n) / (sum_den / n);
  const double half = student_quantile(pairs, confidence) * error;
  ratio.interval = Interval{.low = ratio.value - half, .high = ratio.value + half};
  return ratio;
}

std::optional<RatioOfSums> ratio_of_batch_sums(std::span<const double> numerators,
                                               std::span<const double> denominators,
                                               double confidence) {
  assert(numerators.size() == denominators.size());
  const std::size_t pairs = numerators.size();
  const auto batches = static_cast<std::size_t>(std::sqrt(static_cast<double>(pairs)));
  std::vector<double> batch_numerators(batches, 0.0);
  std::vector<double> batch_denominators(batches, 0.0);
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::size_t batch = i * batches / pairs;
    batch_numerators[batch] += numerators[i];
    batch_denominators[batch] += denominators[i];
  }
  return ratio_of_sums(batch_numerators, batch_denominators, confidence);
}

std::vector<bool> holm_rejects(std::span<const double> p_values, double level) {
  const auto key = [&](std::size_t i) { return std::isnan(p_values[i]) ? 1.0 : p_values[i]; };
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<bool> rejected(p_values.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!(p_values[order[i]] <= level / static_cast<double>(order.size() - i))) {
      break;
    }
    rejected[order[i]] = true;
  }
  return rejected;
}

}  // namespace residuum
