#include "core/vectors/fused.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/core/support.h"

namespace residuum {
namespace {

using Indices = std::vector<std::uint32_t>;

TEST(Accumulate, AddsTheScaledGradientAndPassesTheNorms) {
  std::vector<float> memory{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<float> gradient{1, 0, -1, 0, 1, 0, -1, 0, 1};

  const PassNorms norms = accumulate<float>(memory, gradient, 2, test::WholePass(9));

  EXPECT_EQ(memory, (std::vector<float>{3, 2, 1, 4, 7, 6, 5, 8, 11}));
  EXPECT_EQ(norms.residual_sq, 285);  // 1 + 4 + ... + 81
  EXPECT_EQ(norms.gradient_sq, 5);
  EXPECT_EQ(norms.accumulator_sq, 9 + 4 + 1 + 16 + 49 + 36 + 25 + 64 + 121);
}

TEST(Accumulate, RoundsInThePrecisionOfTheMemory) {
  std::vector<float> memory{1};
  const std::vector<float> gradient{0x1p-25F};

  EXPECT_EQ(accumulate<float>(memory, gradient, 1, test::WholePass(1)).accumulator_sq, 1.0);
  EXPECT_EQ(memory.front(), 1.0F);
}

TEST(Accumulate, IsNotFiniteWhereAnEntryIsNot) {
  std::vector<double> memory{1, 2};
  const std::vector<double> gradient{std::numeric_limits<double>::quiet_NaN(), 0};

  const PassNorms norms = accumulate<double>(memory, gradient, 1, test::WholePass(2));

  EXPECT_FALSE(std::isfinite(norms.gradient_sq));
  EXPECT_FALSE(std::isfinite(norms.accumulator_sq));
}

TEST(Accumulate, CollectsWhatReachesTheBound) {
  std::vector<float> memory{0, -2, 1, 0, 3};
  const std::vector<float> gradient{2, 0, 0.5, 0, -3};
  test::WholePass pass(5, 1.5);

  accumulate<float>(memory, gradient, 1, pass);

  EXPECT_TRUE(pass.candidates.complete);
  EXPECT_EQ(pass.candidates.indices, (Indices{0, 1, 2}));
}

TEST(Accumulate, CollectsNothingWithoutABound) {
  std::vector<float> memory{1, 1};
  test::WholePass pass(2);

  accumulate<float>(memory, std::vector<float>{1, 1}, 1, pass);

  EXPECT_FALSE(pass.candidates.complete);
  EXPECT_TRUE(pass.candidates.indices.empty());
}

TEST(Accumulate, CollectsFromEverySegmentByItself) {
  std::vector<double> memory{1, 2, 3, 4, 5};
  const std::vector<Segment> segments{{.begin = 0, .size = 2}, {.begin = 2, .size = 3}};
  std::vector<Candidates> candidates(2);
  candidates[0].bound = 2;
  candidates[1].bound = 4;

  const PassNorms norms = accumulate<double>(
      memory, std::vector<double>(5), 1, {.segments = segments, .candidates = candidates});

  EXPECT_EQ(candidates[0].indices, Indices{1});
  EXPECT_EQ(candidates[1].indices, (Indices{1, 2}));
  EXPECT_EQ(norms.accumulator_sq, 55);
  EXPECT_EQ(norm_sq<double>(memory, segments), 55);
}

TEST(Subtract, LeavesWhatTheEstimateMisses) {
  std::vector<double> memory{7, 1};
  test::WholePass pass(2, 2);

  const PassNorms norms =
      subtract<double>(memory, std::vector<double>{3, 4}, std::vector<double>{1, 5}, pass);

  EXPECT_EQ(memory, (std::vector<double>{2, -1}));
  EXPECT_EQ(norms.residual_sq, 50);
  EXPECT_EQ(norms.gradient_sq, 25);
  EXPECT_EQ(norms.accumulator_sq, 5);
  EXPECT_EQ(pass.candidates.indices, Indices{0});
}

}  // namespace
}  // namespace residuum
