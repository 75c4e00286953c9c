#include "assumptions/estimators/ratio_of_sums.h"

#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

namespace residuum {

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

}  // namespace residuum
