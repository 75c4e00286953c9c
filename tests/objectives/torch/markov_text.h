#pragma once
// The synthetic text is a Markov chain, whose entropy no language model can get below.

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "core/random/random.h"
#include "objectives/data/synthetic.h"
#include "tests/objectives/torch/images.h"

namespace residuum::testing {

/// Trains a language model on 20 000 characters of the chain by 300 steps of SGD, and returns its
/// held-out loss, which must be near the entropy and not below it. The mean over 4000 held-out
/// characters of numbers with standard deviation 1.4 may be below it by chance: four standard
/// errors.
inline TestResult expect_to_learn_the_chain(const Objective& objective, float step) {
  const auto w0 = start(objective, 1);
  std::vector<float> w(w0.begin(), w0.end());
  std::vector<std::uint32_t> samples(32);
  for (std::uint32_t t = 0; t < 300; ++t) {
    RandomStream random(1, Purpose::batch, 0, t);
    for (auto& sample : samples) {
      sample = random.below(static_cast<std::uint32_t>(objective.samples()));
    }
    const auto gradient = batch_gradient(objective, samples, w);
    for (std::size_t i = 0; i < w.size(); ++i) {
      w[i] -= step * gradient[i];
    }
  }
  const auto result = objective.test(std::vector<double>(w.begin(), w.end()));
  EXPECT_GE(result->loss, markov_entropy(0.5) - 4 * 1.4 / std::sqrt(4000));
  EXPECT_LE(result->loss, markov_entropy(0.5) + 0.3);
  return *result;
}

}  // namespace residuum::testing
