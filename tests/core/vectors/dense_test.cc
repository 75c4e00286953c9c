// Dense kernels: exact where numbers are whole, and in the order of summation that is promised.

#include "core/vectors/dense.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/core/support.h"

namespace residuum {
namespace {

TEST(NormSq, IsExactOnWholeNumbersOfEveryLength) {
  for (std::size_t d = 0; d <= 40; ++d) {
    std::vector<double> x(d);
    std::vector<float> narrow(d);
    double expected = 0;
    for (std::size_t i = 0; i < d; ++i) {
      x[i] = static_cast<double>(i) - 7;
      narrow[i] = static_cast<float>(x[i]);
      expected += x[i] * x[i];
    }

    EXPECT_EQ(norm_sq<double>(x), expected);
    EXPECT_EQ(norm_sq<float>(narrow), expected);
  }
}

TEST(NormSq, AddsInEightLanesThatAreJoinedPairwise) {
  // 2^54 swallows a one at a time but not four at once: lane 0 holds 2^54 and swallows its later
  // ones and that of lane 4; lanes 1 and 5 bring two (a tie, to even: swallowed); the others four.
  std::vector<double> x(24, 1.0);
  x[0] = 0x1p27;
  for (const std::size_t i :
       {9U, 10U, 11U, 12U, 13U, 14U, 15U, 17U, 18U, 19U, 20U, 21U, 22U, 23U}) {
    x[i] = 0;
  }

  EXPECT_EQ(norm_sq<double>(x), 0x1p54 + 4);

  // Lane 4 brings one to lane 0, lane 5 two to lane 1: swallowed one after the other, where three
  // together would not be.
  std::vector<double> y(16);
  y[0] = 0x1p27;
  y[4] = y[5] = y[13] = 1;

  EXPECT_EQ(norm_sq<double>(y), 0x1p54);
}

TEST(NormSq, SquaresFloatsInDouble) {
  const std::vector<float> x{1e30F, 1e-30F};
  const auto large = static_cast<double>(1e30F);

  EXPECT_EQ(norm_sq<float>(x), large * large);
}

TEST(NormInf, IsTheLargestMagnitudeAndZeroForAnEmptyVector) {
  const std::vector<float> x{1, -3, 2};
  EXPECT_EQ(norm_inf<float>(x), 3.0F);
  EXPECT_EQ(norm_inf<double>(std::vector<double>{-0.0}), 0.0);
  EXPECT_EQ(norm_inf<double>(std::vector<double>{}), 0.0);
}

TEST(DistanceSq, IsThatOfXAndScaledY) {
  const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<double> y{1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

  EXPECT_EQ(distance_sq(x, y), 285);      // 0^2 + 1^2 + ... + 9^2
  EXPECT_EQ(distance_sq(x, y, 10), 285);  // 9^2 + ... + 0^2
  EXPECT_EQ(distance_sq(x, y, 0), 385);   // 1^2 + ... + 10^2
  EXPECT_EQ(distance_sq(x, x), 0);
}

TEST(AddTo, AddsInDouble) {
  std::vector<double> sum{1, 2};
  add_to<float>(sum, std::vector<float>{0x1p-40F, -2});

  EXPECT_EQ(sum, (std::vector<double>{1 + 0x1p-40, 0}));
}

TEST(StepVirtual, MovesZAndHasTheNormsOfItsStep) {
  // w - z = (1, 2, 0), the step 0.5 (2, -4, 6) = (1, -2, 3), afterwards (2, 0, 3).
  const std::vector<double> w{3, 4, 5};
  std::vector<double> z{2, 2, 5};
  const std::vector<double> direction{2, -4, 6};

  const VirtualStep step = step_virtual(w, z, direction, 0.5);

  EXPECT_EQ(z, (std::vector<double>{1, 4, 2}));
  EXPECT_EQ(step.before_sq, 5);
  EXPECT_EQ(step.step_sq, 14);
  EXPECT_EQ(step.after_sq, 13);
}

TEST(StepVirtual, AddsUpBeyondItsLanes) {
  const std::vector<double> w(19, 3);
  std::vector<double> z(19, 1);
  const std::vector<double> direction(19, 1);

  const VirtualStep step = step_virtual(w, z, direction, 1);

  EXPECT_EQ(step.before_sq, 19 * 4);
  EXPECT_EQ(step.step_sq, 19);
  EXPECT_EQ(step.after_sq, 19 * 9);
  EXPECT_EQ(z, std::vector<double>(19, 0));
}

}  // namespace
}  // namespace residuum
