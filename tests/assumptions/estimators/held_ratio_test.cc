#include "assumptions/estimators/held_ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace residuum {
namespace {

TEST(HeldRatio, CountsARowForTheIterationsUntilTheNext) {
  HeldRatio held(10);
  held.look(0, 1, 2);   // of 0, 1, 2
  held.look(3, 4, 1);   // of 3 to 7
  held.look(8, 6, 10);  // of 8 and 9
  EXPECT_DOUBLE_EQ(held.overall().value(), (3 * 1 + 5 * 4 + 2 * 6) / (3 * 2 + 5 * 1 + 2 * 10.0));
  held.end_at(9);  // the run diverged there
  EXPECT_DOUBLE_EQ(held.overall().value(), (3 * 1 + 5 * 4 + 1 * 6) / (3 * 2 + 5 * 1 + 1 * 10.0));
  EXPECT_EQ(held.rows(), 3U);
}

TEST(HeldRatio, HasNoSamplingErrorWhereEveryIterationWasMeasured) {
  HeldRatio held(50);
  for (std::uint64_t t = 0; t < 50; ++t) {
    held.look(t, std::sin(static_cast<double>(t)) + 2, 1);
  }
  EXPECT_EQ(held.sampling_error().trend, 0);
  EXPECT_EQ(held.sampling_error().variance, 0);
}

// Rows 0, 4, 8 of 12 iterations, values t: held forward 0, 4, 8 for four iterations each; held
// backward 4, 8 for four each, and the last row for its own four: 16/3 against 20/3... by hand
// (0 + 16 + 32)/12 = 4 and (16 + 32 + 32)/12 = 20/3. The variance is 2 * 4 * 3/2 * 4^2 / 12^2.
TEST(HeldRatio, EstimatesWhatTheIterationsBetweenTheRowsMayHide) {
  HeldRatio held(12);
  for (const std::uint64_t t : {0U, 4U, 8U}) {
    held.look(t, static_cast<double>(t));
  }
  EXPECT_DOUBLE_EQ(held.overall().value(), 4);
  EXPECT_DOUBLE_EQ(held.sampling_error().trend, 4 - 20.0 / 3);
  EXPECT_NEAR(held.sampling_error().variance, 2 * 6 * 16 / 144.0, 1e-12);
}

// The standard error of successive differences is that of a brute force over where in its stretch
// of ten a row might have stood, for values that differ from iteration to iteration as drawn.
TEST(HeldRatio, HasTheStandardErrorOfStretchesOfWhichOneIterationWasDrawn) {
  constexpr std::uint64_t kIterations = 1000;
  const auto value = [](std::uint64_t t) {  // equidistributed, with no trend: variance 1/12
    return std::fmod(static_cast<double>(t * t % 9973) * 0.6180339887498949, 1.0);
  };
  double truth = 0;
  for (std::uint64_t t = 0; t < kIterations; ++t) {
    truth += value(t) / kIterations;
  }
  double squares = 0;
  double predicted = 0;
  for (std::uint64_t shift = 0; shift < 10; ++shift) {
    HeldRatio held(kIterations);
    for (std::uint64_t t = 0; t < kIterations; t += 10) {
      held.look(t, value(t + shift));
    }
    const double error = held.overall().value() - truth;
    squares += error * error / 10;
    predicted += held.sampling_error().variance / 10;
  }
  // A hundred stretches of ten: 0.9/12 of variance each, over a hundred.
  EXPECT_NEAR(predicted, 0.9 / 12 / 100, 0.15 * 0.9 / 12 / 100);
  // Ten draws of an error: their mean square is within a factor of three of its expectation with
  // 99.9 % (chi-squared with ten degrees of freedom).
  EXPECT_LT(squares, 3 * predicted);
  EXPECT_GT(squares, predicted / 6);
}

TEST(HeldRatio, OfOneRowOfManyKnowsNothingOfTheRest) {
  HeldRatio held(10);
  held.look(0, 1);
  EXPECT_EQ(held.sampling_error().trend, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(HeldRatio(10).overall());
}

TEST(Singles, CountViolationsAndNameTheLargest) {
  Singles singles;
  singles.add(3, 0.5, false);
  singles.add(4, 1.5, true);
  singles.add(9, 1.5, true);
  EXPECT_EQ(singles.measured, 3U);
  EXPECT_EQ(singles.violations, 2U);
  EXPECT_EQ(singles.largest, 1.5);
  EXPECT_EQ(singles.where, 4U);
  singles.add(11, std::nan(""), true);
  EXPECT_EQ(singles.where, 11U);
}

TEST(LargestSingles, CountWhatIsAboveALimitThatIsKnownLater) {
  LargestSingles all;
  for (std::uint64_t t = 0; t < 5000; ++t) {
    all.add(t, static_cast<double>(t * 7919 % 5000));  // each of 0 .. 4999 once
  }
  EXPECT_EQ(all.above(4499.5).violations, 500U);
  EXPECT_EQ(all.above(4499.5).measured, 5000U);
  EXPECT_EQ(all.above(4999).violations, 0U);
  EXPECT_TRUE(all.above(4499.5).counts_all);
  EXPECT_EQ(all.above(0).violations, LargestSingles::kKept);
  EXPECT_FALSE(all.above(0).counts_all) << "at least so many";
  EXPECT_EQ(all.largest(), 4999);
  EXPECT_EQ(all.above(0).where * 7919 % 5000, 4999U);
  EXPECT_FALSE(LargestSingles().largest());
}

TEST(LargestSingles, LetARowStandForTheIterationsUntilTheNext) {
  LargestSingles all;
  all.add(0, 5);
  all.add(1, 1);
  all.add(2, 5);
  all.add(10, 1);
  const Singles above = all.above(3).until(100);
  EXPECT_EQ(above.violations, 2U);
  EXPECT_EQ(above.violating, 1U + 8U);
  EXPECT_EQ(above.stood_for, 100U);
  EXPECT_EQ(all.above(0.5).until(100).violating, 100U);
}

}  // namespace
}  // namespace residuum
