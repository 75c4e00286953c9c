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
  EXPECT_LT(after(1001), after(1300));
  EXPECT_LT(after(1300), after(3000));
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

TEST(WarmBound, KeepsRoomForFourTimesK) {
  EXPECT_EQ(WarmBound::capacity(25'000, 25'000'000), 104'096U);
  EXPECT_EQ(WarmBound::capacity(500, 1000), 1000U);
  EXPECT_EQ(WarmBound::capacity(2'000'000'000, 4'000'000'000), 4'000'000'000U);
}

/// Error feedback on independent normal gradients: residuals grow until what is sent balances them.
TEST(WarmBound, FollowsTheThresholdsOfErrorFeedback) {
  constexpr std::size_t kDimension = 20'000;
  constexpr std::size_t kKept = 200;
  constexpr std::size_t kSteps = 60;
  const std::size_t capacity = WarmBound::capacity(kKept, kDimension);
  std::vector<float> memory(kDimension);
  WarmBound bound;
  SelectWorkspace workspace;
  SparseVector<float> selected;
  std::vector<std::size_t> incomplete;
  for (std::size_t t = 0; t < kSteps; ++t) {
    const auto gradient = test::normal_vector<float>(kDimension, t);
    for (std::size_t i = 0; i < kDimension; ++i) {
      memory[i] += gradient[i];
    }
    const auto noted = static_cast<std::size_t>(std::count_if(
        memory.begin(), memory.end(), [&](float a) { return magnitude(a) >= bound.bits(); }));
    if (!bound.complete(noted, kKept, capacity)) {
      incomplete.push_back(t);
    }
    select_top_k<float>(memory, kKept, workspace, selected);
    std::uint32_t cut = WarmBound::kNothing;
    for (std::size_t j = 0; j < kKept; ++j) {
      cut = std::min(cut, magnitude(selected.values[j]));
      memory[selected.indices[j]] = 0;
    }
    bound.learn(noted, kKept, cut);
  }

  // Without a bound in the first step; then sqrt(2) times as large, which is too many for the room.
  EXPECT_LE(incomplete.size(), 3U);
  EXPECT_LT(incomplete.back(), 5U);
}

}  // namespace
}  // namespace residuum::cuda
