#include "assumptions/estimators/tail_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random/random.h"

namespace residuum {
namespace {

/// Magnitudes whose squares, sorted, are a random convex sequence above `floor`.
std::vector<double> convex_magnitudes(RandomStream& random, std::size_t d, double floor) {
  std::vector<double> drops(d - 1);
  for (double& drop : drops) {
    const double u = random.uniform();
    drop = u * u * u;
  }
  std::sort(drops.begin(), drops.end());  // from the smallest square up
  std::vector<double> magnitudes{std::sqrt(floor)};
  double square = floor;
  for (const double drop : drops) {
    square += drop;
    magnitudes.push_back(std::sqrt(square));
  }
  return magnitudes;
}

TEST(TailShape, OfConvexSquaresNeverExceedsItsBound) {
  RandomStream random(17, Purpose::test, 0, 0);
  for (int repetition = 0; repetition < 20000; ++repetition) {
    const std::size_t d = 2 + static_cast<std::size_t>(repetition % 40);
    const double floor = repetition % 3 == 0 ? 0 : random.uniform();
    const auto x = convex_magnitudes(random, d, floor);
    const std::size_t k = 1 + static_cast<std::size_t>(repetition) % (d - 1);
    const TailShape shape = tail_shape(x, k);
    ASSERT_EQ(shape.convexity, 1) << "repetition " << repetition;
    ASSERT_LE(shape.ratio, shape.bound * (1 + 1e-12)) << "repetition " << repetition;
    if (floor == 0) {
      ASSERT_LE(shape.ratio, shape.claim * (1 + 1e-12)) << "repetition " << repetition;
    }
  }
}

TEST(TailShape, OfAConstantVectorRefutesTheSquaredClaim) {
  const std::vector<double> x(10, 3.0);
  const TailShape shape = tail_shape(x, 2);
  EXPECT_DOUBLE_EQ(shape.ratio, 0.8);
  EXPECT_DOUBLE_EQ(shape.random_ratio, 0.8);
  EXPECT_DOUBLE_EQ(shape.bound, 0.8);  // attained
  EXPECT_DOUBLE_EQ(shape.claim, 0.64);
  EXPECT_EQ(shape.convexity, 1);
}

TEST(TailShape, IsThatOfAHandCalculation) {
  // Squares 16, 9, 4, 1 and k = 1: tail 14/30; bound (3/4)(2/3)(30 - 4) + 3 = 16 of 30.
  const std::vector<double> x{-2, 4, 1, 3};
  const TailShape shape = tail_shape(x, 1);
  EXPECT_DOUBLE_EQ(shape.ratio, 14.0 / 30);
  EXPECT_DOUBLE_EQ(shape.bound, 16.0 / 30);
  EXPECT_DOUBLE_EQ(shape.claim, 0.5625);
  EXPECT_EQ(shape.convexity, 1);
}

TEST(TailShape, SeesWhereSquaresAreNotConvex) {
  // Squares 10, 9, 1, 0: second differences 10 - 18 + 1 < 0 and 9 - 2 + 0 > 0.
  const std::vector<double> x{std::sqrt(10.0), 3, 1, 0};
  EXPECT_DOUBLE_EQ(tail_shape(x, 1).convexity, 0.5);
}

TEST(TailShape, OfNothingLeftIsZero) {
  const std::vector<double> x{1, 2};
  EXPECT_EQ(tail_shape(x, 2).ratio, 0);
  EXPECT_EQ(tail_shape(x, 5).bound, 0);
  EXPECT_EQ(tail_shape(std::vector<double>(3), 1).ratio, 0);
}

}  // namespace
}  // namespace residuum
