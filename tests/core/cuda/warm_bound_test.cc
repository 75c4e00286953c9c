#include "core/vectors/cuda/warm_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/vectors/cuda/narrowing.h"
#include "core/vectors/select.h"
#include "tests/core/support.h"

namespace residuum::cuda {
namespace {

std::uint32_t bits(float value) { return magnitude(value); }

TEST(WarmBound, NotesNothingBeforeTheFirstStep) {
  const WarmBound bound;

  EXPECT_EQ(bound.bits(), WarmBound::kNothing);
  EXPECT_GT(bound.bits(), bits(std::numeric_limits<float>::infinity()));
}

TEST(WarmBound, IsALittleBelowTheLastCut) {
  WarmBound bound;
  bound.learn(0, 10, bits(2));

  EXPECT_LT(bound.bits(), bits(2));
  EXPECT_GE(bound.bits(), bits(1.8F));
}

TEST(WarmBound, LowersItselfAfterTooFewAndRaisesItselfAfterTooMany) {
  const auto after = [](std::size_t noted) {
    WarmBound bound;
    bound.learn(0, 1000, bits(1));
    bound.learn(noted, 1000, bits(1));
    return bound.bits();
  };

  EXPECT_LT(after(999), after(1001));
  EXPECT_LT(after(1001), after(2000));
  EXPECT_LT(after(2000), after(4000));
}

TEST(WarmBound, IsCompleteIfAtLeastKWereNotedAndHadRoom) {
  WarmBound bound;
  bound.learn(0, 10, bits(1));

  EXPECT_FALSE(bound.complete(9, 10, 40));
  EXPECT_TRUE(bound.complete(10, 10, 40));
  EXPECT_TRUE(bound.complete(40, 10, 40));
  EXPECT_FALSE(bound.complete(41, 10, 40));
}

TEST(WarmBound, IsCompleteWithFewerThanKWhereEveryNonZeroIsNoted) {
  WarmBound bound;
  bound.learn(0, 10, 0);  // fewer than k were selected: there is no cut

  EXPECT_EQ(bound.bits(), 1U);
  EXPECT_TRUE(bound.complete(3, 10, 40));
  EXPECT_FALSE(bound.complete(41, 10, 40));
}

TEST(WarmBound, NeverAsksForZeros) {
  WarmBound bound;
  for (int step = 0; step < 100; ++step) {
    bound.learn(0, 10, 1);  // the smallest magnitude of all, and never enough
    EXPECT_GE(bound.bits(), 1U);
  }
}

TEST(WarmBound, RisesAheadOfCutsThatGrowSteadily) {
  WarmBound bound;
  float cut = 1;
  for (int step = 0; step < 60; ++step) {
    cut *= 1.1F;
    bound.learn(2000, 1000, bits(cut));  // neither too few nor too many
  }

  EXPECT_GT(bound.bits(), bits(cut));
  EXPECT_LT(bound.bits(), bits(1.1F * cut));
}

TEST(WarmBound, KeepsRoomForEightTimesK) {
  EXPECT_EQ(WarmBound::capacity(25'000, 25'000'000), 204'096U);
  EXPECT_EQ(WarmBound::capacity(500, 1000), 1000U);
  EXPECT_EQ(WarmBound::capacity(2'000'000'000, 4'000'000'000), 4'000'000'000U);
}

/// Returns the steps of error feedback at which the candidates above the bound are no complete set.
std::vector<std::size_t> incomplete_steps(const std::vector<std::vector<float>>& gradients,
                                          std::size_t k,
                                          std::size_t steps) {
  const std::size_t d = gradients.front().size();
  std::vector<float> memory(d);
  WarmBound bound;
  SelectWorkspace workspace;
  SparseVector<float> selected;
  std::vector<std::size_t> incomplete;
  for (std::size_t t = 0; t < steps; ++t) {
    const std::vector<float>& gradient = gradients[t % gradients.size()];
    for (std::size_t i = 0; i < d; ++i) {
      memory[i] += gradient[i];
    }
    const auto noted = static_cast<std::size_t>(std::count_if(
        memory.begin(), memory.end(), [&](float a) { return magnitude(a) >= bound.bits(); }));
    if (!bound.complete(noted, k, WarmBound::capacity(k, d))) {
      incomplete.push_back(t);
    }
    select_top_k<float>(memory, k, workspace, selected);
    std::uint32_t cut = WarmBound::kNothing;
    for (std::size_t j = 0; j < k; ++j) {
      cut = std::min(cut, magnitude(selected.values[j]));
      memory[selected.indices[j]] = 0;
    }
    bound.learn(noted, k, cut);
  }
  return incomplete;
}

/// Residuals grow until the sent entries balance them.
TEST(WarmBound, FollowsTheThresholdsOfErrorFeedback) {
  std::vector<std::vector<float>> gradients;
  for (std::uint64_t t = 0; t < 60; ++t) {
    gradients.push_back(test::normal_vector<float>(20'000, t));
  }

  const auto incomplete = incomplete_steps(gradients, 200, 60);

  // Without a bound in the first step; then sqrt(2) times as large, which is too many for the room.
  EXPECT_LE(incomplete.size(), 3U);
  EXPECT_LT(incomplete.back(), 5U);
}

/// Here thresholds grow for hundreds of steps, and there are more entries close below them: the
/// last cut alone would have four times k noted.
TEST(WarmBound, FollowsTheThresholdsOfAGradientThatStaysTheSame) {
  const auto incomplete = incomplete_steps({test::normal_vector<float>(400'000, 1)}, 2000, 100);

  EXPECT_LE(incomplete.size(), 8U);
  EXPECT_LT(incomplete.back(), 20U);
}

}  // namespace
}  // namespace residuum::cuda
