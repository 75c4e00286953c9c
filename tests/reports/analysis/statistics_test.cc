#include "reports/analysis/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace residuum::reports {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(Quantile, IsOfTypeSeven) {
  // R: quantile(c(1, 2, 3, 4)) gives 1.00 1.75 2.50 3.25 4.00.
  const std::vector<double> values{4, 1, 3, 2};

  EXPECT_DOUBLE_EQ(*quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(*quantile(values, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(*median(values), 2.5);
  EXPECT_DOUBLE_EQ(*quantile(values, 0.75), 3.25);
  EXPECT_DOUBLE_EQ(*quantile(values, 1), 4);
}

TEST(Quantile, OfOneValueIsThatValue) {
  EXPECT_EQ(*quantile({7}, 0.25), 7);
  EXPECT_EQ(*median({7}), 7);
}

TEST(Quantile, IsAbsentWithoutValuesOrWithNan) {
  EXPECT_FALSE(median({}).has_value());
  EXPECT_FALSE(median({1, kNotANumber, 2}).has_value());
}

TEST(Quantile, TakesInfinityAsTheLargest) {
  EXPECT_EQ(*median({kInfinite, 1, 2}), 2);
  EXPECT_EQ(*median({kInfinite, kInfinite, 2}), kInfinite);
  EXPECT_EQ(*quantile({kInfinite, kInfinite}, 0.25), kInfinite);
}

TEST(Mean, IsAbsentWhereAValueIsNotFinite) {
  EXPECT_DOUBLE_EQ(*mean({1, 2, 6}), 3);
  EXPECT_FALSE(mean({1, kInfinite}).has_value());
  EXPECT_FALSE(mean({}).has_value());
}

TEST(StudentInterval, HasTheHalfWidthOfTheTables) {
  // 1..5: mean 3, s^2 = 2.5, s / sqrt(5) = sqrt(0.5); t(0.975, 4) = 2.776445 in any table.
  const auto interval = student_interval({1, 2, 3, 4, 5});

  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->low, 3 - 2.776445 * std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(interval->high, 3 + 2.776445 * std::sqrt(0.5), 1e-6);
}

TEST(StudentInterval, OfTwoValuesIsWide) {
  // mean 1, s / sqrt(2) = 1, t(0.975, 1) = 12.706205.
  const auto interval = student_interval({0, 2});

  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->low, 1 - 12.706205, 1e-6);
}

TEST(StudentInterval, IsAbsentForFewerThanTwoValuesOrInfinity) {
  EXPECT_FALSE(student_interval({3}).has_value());
  EXPECT_FALSE(student_interval({}).has_value());
  EXPECT_FALSE(student_interval({1, kInfinite}).has_value());
  EXPECT_FALSE(student_interval({1, kNotANumber}).has_value());
}

TEST(Spread, HoldsAllOfIt) {
  const Spread spread = spread_of({1, 2, 3, 4, 5});

  EXPECT_EQ(spread.n, 5U);
  EXPECT_EQ(*spread.median, 3);
  EXPECT_EQ(*spread.lower_quartile, 2);
  EXPECT_EQ(*spread.upper_quartile, 4);
  EXPECT_TRUE(spread.interval.has_value());
}

/// Returns two differences whose mean is `effect` times their standard deviation.
std::vector<double> of_effect(double effect) {
  const double half = std::sqrt(0.5);  // of deviation 1
  return {effect - half, effect + half};
}

// G*Power, t test of the difference from a constant, two tails, error 0.05, power 0.8.
TEST(SeedsForSign, AreThoseOfGPower) {
  EXPECT_EQ(seeds_for_sign(of_effect(0.2)), 199);
  EXPECT_EQ(seeds_for_sign(of_effect(0.5)), 34);
  EXPECT_EQ(seeds_for_sign(of_effect(0.8)), 15);
  EXPECT_EQ(seeds_for_sign(of_effect(-1)), 10);
}

TEST(SeedsForSign, AreMoreThanHaveNotDecided) {
  // 12.7062 / sqrt(2) is the largest effect that two seeds leave open, 4.30265 / sqrt(3) three.
  EXPECT_EQ(seeds_for_sign(of_effect(8.98)), 3);
  EXPECT_EQ(seeds_for_sign({1.0, 2.0, 3.0}), 4);
}

TEST(SeedsForSign, AreAbsentWithoutASpreadOrAMean) {
  EXPECT_EQ(seeds_for_sign({}), std::nullopt);
  EXPECT_EQ(seeds_for_sign({1.0}), std::nullopt);
  EXPECT_EQ(seeds_for_sign({1.0, -1.0}), std::nullopt);
  EXPECT_EQ(seeds_for_sign({1.0, kInfinite}), std::nullopt);
}

}  // namespace
}  // namespace residuum::reports
