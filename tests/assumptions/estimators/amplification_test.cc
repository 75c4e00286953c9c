#include <gtest/gtest.h>

#include <cmath>

#include "assumptions/estimators/compressor_constants.h"

namespace residuum {
namespace {

TEST(Amplification, IsThatOfTheClosedFormsAtTenHundredAndThousandfold) {
  EXPECT_NEAR(amplification(0.9), 342, 0.5);
  EXPECT_DOUBLE_EQ(ijcai_amplification(10), 990);
  EXPECT_NEAR(amplification(0.99), 39402, 0.5);
  EXPECT_DOUBLE_EQ(ijcai_amplification(100), 999'900);
  EXPECT_NEAR(amplification(0.999), 3.99e6, 5e3);
  EXPECT_NEAR(ijcai_amplification(1000), 1.0e9, 1e4);
  EXPECT_EQ(amplification(0), 0);
  EXPECT_TRUE(std::isinf(amplification(1)));
}

TEST(Amplification, NeverExceedsItsCeilingAndTheCeilingIsSmallerThanThePublishedOneBeyondThree) {
  for (double c = 1.01; c < 1e6; c *= 1.7) {
    EXPECT_LE(amplification(1 - 1 / c), amplification_ceiling(c) * (1 + 1e-9)) << c;
    EXPECT_NEAR(ijcai_amplification(c) / amplification_ceiling(c), (c + 1) / 4, 1e-9 * c);
  }
}

TEST(GapRecursion, TendsToTheSquareRootOfTheAmplification) {
  GapRecursion gap;
  for (int t = 0; t < 2000; ++t) {
    gap.step(0.9, 0.1);
  }
  EXPECT_NEAR(gap.bound() * gap.bound(), amplification(0.9) * 0.01, 1e-9);
  EXPECT_NEAR(gap.memory_factor(), std::sqrt(amplification(0.9)), 1e-9);
  // Right after a tenfold drop of the step size D_t is about ten times as large.
  gap.step(0.9, 0.01);
  EXPECT_GT(gap.memory_factor(), 9 * std::sqrt(amplification(0.9)));
}

TEST(GapRecursion, FollowsItsFirstStepsByHand) {
  GapRecursion gap;
  gap.step(0.25, 2);  // sqrt(1/4) (0 + 2)
  EXPECT_DOUBLE_EQ(gap.bound(), 1);
  gap.step(1, 2);
  EXPECT_DOUBLE_EQ(gap.bound(), 3);
  EXPECT_DOUBLE_EQ(gap.memory_factor(), 1.5);
}

TEST(Amplification, OfRandomSelectionOfAConstantGradientIsHalfOfTheCeiling) {
  // Per coordinate with gradient 1 and step 1: m' = (1-rho)(m + 1), r' = (1-rho)(r + 2m + 1).
  for (const double rho : {0.5, 0.1, 0.01}) {
    double m = 0;
    double r = 0;
    for (int t = 0; t < 20000; ++t) {
      r = (1 - rho) * (r + 2 * m + 1);
      m = (1 - rho) * (m + 1);
    }
    const double steady = (1 - rho) * (2 - rho) / (rho * rho);
    EXPECT_NEAR(r, steady, 1e-9 * steady);
    EXPECT_LE(r, amplification(1 - rho));
    const double c = 1 / rho;
    EXPECT_NEAR(r, amplification_ceiling(c) / 4 * (2 - 1 / c), 1e-9 * steady);
  }
}

}  // namespace
}  // namespace residuum
