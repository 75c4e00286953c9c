#include "assumptions/estimators/intervals.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/random/random.h"

namespace residuum {
namespace {

TEST(MeanInterval, IsThatOfAPrintedTableOfStudent) {
  // 1, 2, 3: mean 2, s = 1, t_2(97.5 %) = 4.3027: 2 +- 4.3027/sqrt(3).
  const std::array<double, 3> values{1, 2, 3};
  const auto interval = mean_interval(values);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 2 - 4.302652730 / std::sqrt(3.0), 1e-8);
  EXPECT_NEAR(interval->high, 2 + 4.302652730 / std::sqrt(3.0), 1e-8);
}

// With one degree of freedom t is Cauchy's: P(T > x) = 1/(pi x) for large x, so an error of e takes
// x = 2/(pi e). The mean of 1 and 3 is 2, its standard error 1.
TEST(MeanInterval, IsFoundForErrorsThatDoNotDifferFromOneInAConfidence) {
  const std::vector<double> values{1, 3};
  for (const double error : {1e-10, 1e-16, 1e-30, 1e-110}) {
    const auto interval = mean_interval_of_error(values, error).value();
    const double half = 2 / (std::numbers::pi * error);
    EXPECT_NEAR(interval.high - 2, half, 1e-9 * half);
    EXPECT_NEAR(2 - interval.low, half, 1e-9 * half);
  }
  const auto usual = mean_interval(values).value();
  EXPECT_NEAR(mean_interval_of_error(values, 0.05).value().low, usual.low, 1e-12);
}

TEST(MeanInterval, IsAbsentForOneValueAndForInfinities) {
  EXPECT_FALSE(mean_interval(std::vector<double>{1}));
  EXPECT_FALSE(mean_interval(std::vector<double>{1, std::numeric_limits<double>::infinity()}));
}

// (1 - t/sqrt(2 + t^2))/2 for two degrees of freedom; here t = (2 - 1) sqrt 3.
TEST(ChanceAbove, IsThatOfStudentsTest) {
  const std::array<double, 3> values{1, 2, 3};
  const double t = std::sqrt(3.0);
  EXPECT_NEAR(chance_above(values, 1).value(), (1 - t / std::sqrt(2 + t * t)) / 2, 1e-12);
  EXPECT_NEAR(chance_above(values, 2).value(), 0.5, 1e-12);
  EXPECT_EQ(chance_above(std::vector<double>{2, 2}, 1), 0);
  EXPECT_EQ(chance_above(std::vector<double>{2, 2}, 2), 1);
  EXPECT_FALSE(chance_above(std::vector<double>{2}, 1));
}

TEST(RatioOfBatchSums, AreThoseOfSuccessiveBatches) {
  // Nine pairs: three batches of three, with sums 3, 6, 9 over 3, 3, 3.
  const std::vector<double> numerators{0, 1, 2, 1, 2, 3, 2, 3, 4};
  const std::vector<double> denominators(9, 1.0);
  const auto ratio = ratio_of_batch_sums(numerators, denominators);
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->value, 2);
  EXPECT_EQ(ratio->pairs, 3U);
  const auto by_hand = ratio_of_sums(std::vector<double>{3, 6, 9}, std::vector<double>{3, 3, 3});
  EXPECT_DOUBLE_EQ(ratio->interval->low, by_hand->interval->low);
  EXPECT_FALSE(ratio_of_batch_sums(std::vector<double>{1, 2}, std::vector<double>{1, 1})->interval);
}

// Numerators 1 + AR(1) noise with correlation 0.8 at lag 1: the interval of single pairs covers the
// true ratio in 52 % of the cases by its formula (z = 1.96/3), that of batch means nearly as often
// as it says: 400 pairs make 20 batches of 20.
TEST(RatioOfBatchSums, CoverTheTruthWherePairsAreCorrelated) {
  RandomStream random(9, Purpose::test, 0, 0);
  int single = 0;
  int batched = 0;
  constexpr int kRepetitions = 1000;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    std::vector<double> numerators;
    double noise = random.normal();
    for (int i = 0; i < 400; ++i) {
      noise = 0.8 * noise + 0.6 * random.normal();
      numerators.push_back(1 + 0.1 * noise);
    }
    const std::vector<double> denominators(numerators.size(), 1.0);
    const auto covers = [](const std::optional<RatioOfSums>& ratio) {
      return ratio->interval->low <= 1 && 1 <= ratio->interval->high ? 1 : 0;
    };
    single += covers(ratio_of_sums(numerators, denominators));
    batched += covers(ratio_of_batch_sums(numerators, denominators));
  }
  EXPECT_LT(single, 0.6 * kRepetitions);
  EXPECT_GT(batched, 0.88 * kRepetitions);
}

TEST(RatioOfSums, IsTheRatioOfMeansAndNotTheMeanOfRatios) {
  const std::array<double, 2> numerators{1, 3};
  const std::array<double, 2> denominators{1, 1.5};
  const auto ratio = ratio_of_sums(numerators, denominators);
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->value, 1.6);
  // num - 1.6 den = -0.6, 0.6: variance 0.72, s = sqrt(0.72/2)/1.25 = 0.48, t_1 = 12.7062.
  ASSERT_TRUE(ratio->interval);
  EXPECT_NEAR(ratio->interval->high - ratio->value, 0.48 * 12.7062047362, 1e-8);
  EXPECT_NEAR(ratio->value - ratio->interval->low, 0.48 * 12.7062047362, 1e-8);
}

TEST(RatioOfSums, OfProportionalPairsHasNoWidth) {
  const std::array<double, 3> numerators{1, 2, 4};
  const std::array<double, 3> denominators{2, 4, 8};
  const auto ratio = ratio_of_sums(numerators, denominators);
  EXPECT_DOUBLE_EQ(ratio->interval->low, 0.5);
  EXPECT_DOUBLE_EQ(ratio->interval->high, 0.5);
}

TEST(RatioOfSums, IsAbsentWithoutADenominatorAndWithoutIntervalForOnePair) {
  EXPECT_FALSE(ratio_of_sums(std::vector<double>{1}, std::vector<double>{0}));
  EXPECT_FALSE(ratio_of_sums({}, {}));
  EXPECT_FALSE(ratio_of_sums(std::vector<double>{1}, std::vector<double>{2})->interval);
}

TEST(RatioOfSums, IntervalsCoverTheTrueRatioAsOftenAsTheySay) {
  // den ~ 2 + N/4, num ~ 1 + N/4: the true ratio is 1/2. 1000 intervals of 95 %: 950 +- 4 sd, the
  // standard deviation of a binomial count being 6.9; the linearisation takes some of the rest.
  RandomStream random(5, Purpose::test, 0, 0);
  int covered = 0;
  for (int repetition = 0; repetition < 1000; ++repetition) {
    std::vector<double> numerators;
    std::vector<double> denominators;
    for (int i = 0; i < 40; ++i) {
      numerators.push_back(1 + 0.25 * random.normal());
      denominators.push_back(2 + 0.25 * random.normal());
    }
    const auto interval = ratio_of_sums(numerators, denominators)->interval;
    covered += interval->low <= 0.5 && 0.5 <= interval->high ? 1 : 0;
  }
  EXPECT_NEAR(covered, 950, 28);
}

}  // namespace
}  // namespace residuum
