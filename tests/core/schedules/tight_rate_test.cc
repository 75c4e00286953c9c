// The tight rates against the values of the papers' programs, and limits known in closed form.

#include "core/schedules/tight_rate.h"

#include <gtest/gtest.h>

#include <cmath>

namespace residuum {
namespace {

TEST(TightRate, HasThePapersValues) {
  struct Case {
    double kappa;
    double rest;  // 1 - alpha
    double step;  // eta* L
    double rate;  // rho*
  };
  // Each was found by semidefinite programmes of two hands, and the rate by search, too.
  for (const auto& [kappa, rest, step, rate] : {Case{2, 0.5, 0.22876, 0.794108532},
                                                Case{10, 0.9, 0.04788, 0.990469128},
                                                Case{100, 0.99, 0.0049754, 0.999900497},
                                                Case{1000, 0.999, 0.00049975, 0.999999000}}) {
    const CompressedProblem problem{
        .smoothness = 3, .strong_convexity = 3 / kappa, .contraction = 1 - rest};
    EXPECT_NEAR(3 * tight_step(problem), step, 1e-4 * step) << kappa;
    EXPECT_NEAR(tight_rate(problem), rate, 6e-10) << kappa;
  }
}

TEST(TightRate, AttainedInTwoDimensionsAtKappa100) {
  const CompressedProblem problem{.smoothness = 1, .strong_convexity = 0.01, .contraction = 0.5};
  EXPECT_NEAR(tight_rate(problem), 0.9932261130402541, 1e-15);
}

TEST(TightRate, IsTheCompressorsRootWhereAllCurvaturesAreEqual) {
  const CompressedProblem problem{.smoothness = 2, .strong_convexity = 2, .contraction = 0.75};
  EXPECT_DOUBLE_EQ(tight_rate(problem), 0.5);
  EXPECT_DOUBLE_EQ(tight_step(problem), 0.5 / 3);  // (2/4) (1/2)/(3/2)
}

TEST(TightRate, IsThatOfGradientDescentWhereAllIsSent) {
  const CompressedProblem problem{.smoothness = 10, .strong_convexity = 1, .contraction = 1};
  EXPECT_DOUBLE_EQ(tight_rate(problem), 81.0 / 121);
  EXPECT_DOUBLE_EQ(memoryless_rate(problem), 81.0 / 121);
  EXPECT_DOUBLE_EQ(tight_step(problem), 2.0 / 11);
  EXPECT_DOUBLE_EQ(memoryless_step(problem), 2.0 / 11);
}

TEST(TightRate, WithoutMemoryTheConditionNumberGrows) {
  // kappa = 3, s = 1/3: kappa_s = 3 (4/3)/(2/3) = 6, eta = 2/(2/3 + 4).
  const CompressedProblem problem{.smoothness = 3, .strong_convexity = 1, .contraction = 8.0 / 9};
  EXPECT_DOUBLE_EQ(memoryless_rate(problem), 25.0 / 49);
  EXPECT_DOUBLE_EQ(memoryless_step(problem), 3.0 / 7);
}

TEST(TightRate, TheGapIsOneLessTheRate) {
  for (const double kappa : {1.0, 1.5, 10.0, 1e4}) {
    for (const double contraction : {1.0, 0.5, 0.1, 1e-3}) {
      const CompressedProblem problem{
          .smoothness = 3, .strong_convexity = 3 / kappa, .contraction = contraction};
      EXPECT_NEAR(tight_gap(problem), 1 - tight_rate(problem), 4e-16) << kappa << contraction;
      EXPECT_NEAR(memoryless_gap(problem), 1 - memoryless_rate(problem), 4e-16);
    }
  }
}

TEST(TightRate, DependsOnTheRatioOfTheConstantsAlone) {
  const double rate = tight_rate({.smoothness = 1, .strong_convexity = 0.1, .contraction = 0.1});
  for (const double scale : {1e-300, 1e-160, 1e160, 1e307}) {
    const CompressedProblem problem{
        .smoothness = scale, .strong_convexity = 0.1 * scale, .contraction = 0.1};
    EXPECT_NEAR(tight_rate(problem), rate, 1e-15) << scale;
  }
}

}  // namespace
}  // namespace residuum
