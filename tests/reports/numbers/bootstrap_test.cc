// The bootstrap against resamples that can be counted by hand or all be listed, and against R.

#include "reports/numbers/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/numbers/statistics.h"

namespace residuum::reports {
namespace {

TEST(BootstrapInterval, OfThreeValuesCountsAll27Resamples) {
  // The sums of three draws of 0, 3 and 12 are 0 3 6 9 12 15 18 24 27 36, in 1 3 3 1 3 6 3 3 3 1 of
  // the 27 orders. A quarter of them, 6.75, ends at the sum 6 from below and at 24 from above.
  const auto interval = bootstrap_interval({0, 3, 12}, 0.5);

  ASSERT_TRUE(interval.has_value());
  EXPECT_DOUBLE_EQ(interval->low, 2);
  EXPECT_DOUBLE_EQ(interval->high, 8);
}

TEST(BootstrapInterval, DoesNotDependOnTheOrderOfTheValues) {
  const auto interval = bootstrap_interval({12, 0, 3}, 0.5);

  ASSERT_TRUE(interval.has_value());
  EXPECT_DOUBLE_EQ(interval->low, 2);
  EXPECT_DOUBLE_EQ(interval->high, 8);
}

TEST(BootstrapInterval, OfSixValuesIsThatOfAll46656Resamples) {
  // In R, with v <- c(2, 3, 5, 7, 11, 13): the sorted means of all rows of expand.grid, of which
  // the 1167th from either end (46656 / 40 = 1166.4).
  const auto interval = bootstrap_interval({2, 3, 5, 7, 11, 13});

  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->low, 23.0 / 6, 1e-12);
  EXPECT_NEAR(interval->high, 10, 1e-12);
}

TEST(BootstrapInterval, OfSevenValuesIsThatOfAllResamples) {
  const std::vector<double> values{0.3, -1, 4, 2.5, 8, 1, -3};
  std::vector<double> means;
  for (int code = 0; code < 823543; ++code) {  // 7^7
    double sum = 0;
    for (int draw = 0, rest = code; draw < 7; ++draw, rest /= 7) {
      sum += values[static_cast<std::size_t>(rest % 7)];
    }
    means.push_back(sum / 7);
  }
  std::sort(means.begin(), means.end());
  const std::size_t place = 20589 - 1;  // 823543 / 40 = 20588.6

  const auto interval = bootstrap_interval(values);

  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->low, means[place], 1e-12);
  EXPECT_NEAR(interval->high, means[means.size() - 1 - place], 1e-12);
}

TEST(BootstrapInterval, OfManyValuesIsThatOfRsBootButForTheChanceOfItsDraws) {
  // R's boot 1.3, 1999999 draws: boot.ci(type = "perc") gives [10.333, 31.25]. The share below the
  // 50th of 1999 means has a standard deviation of 0.35 %: the bounds are R's quantiles four of
  // them to either side, at 1.1, 3.9, 96.1 and 98.9 %.
  const auto interval = bootstrap_interval({28, -44, 29, 30, 24, 28, 37, 32, 36, 27, 26, 28});

  ASSERT_TRUE(interval.has_value());
  EXPECT_GT(interval->low, 5.66);
  EXPECT_LT(interval->low, 11.01);
  EXPECT_GT(interval->high, 30.91);
  EXPECT_LT(interval->high, 31.67);
}

TEST(BootstrapInterval, IsTheSameEveryTime) {
  const std::vector<double> values{1, 5, 2, 8, 3, 9, 4, 7, 6};

  EXPECT_EQ(bootstrap_interval(values)->low, bootstrap_interval(values)->low);
  EXPECT_EQ(bootstrap_interval(values)->high, bootstrap_interval(values)->high);
}

TEST(BootstrapInterval, NeedsAsManyValuesAsItsConfidenceCanClaim) {
  // 1 - 2^(1-n) is 0.5, 0.75, 0.875, 0.9375, 0.96875 for 2 to 6 values.
  EXPECT_EQ(least_bootstrap_values(0.95), 6U);
  EXPECT_EQ(least_bootstrap_values(0.5), 2U);
  EXPECT_FALSE(bootstrap_interval({1, 2, 3, 4, 5}).has_value());
  EXPECT_TRUE(bootstrap_interval({1, 2, 3, 4, 5, 6}).has_value());
}

TEST(BootstrapInterval, IsAbsentWhereAValueIsNotFinite) {
  EXPECT_FALSE(
      bootstrap_interval({1, 2, 3, 4, 5, std::numeric_limits<double>::infinity()}).has_value());
}

TEST(Centre, IsWhatItsKindSays) {
  const std::vector<double> values{1, 2, 3, 4, 10, 16};

  // R: quantile(x) gives 2.25, 3.5 and 8.5; mean(x) is 6, and t.test(x) gives [-0.11921, 12.11921].
  const Centre quartiles = centre_of(values, IntervalKind::quartiles);
  EXPECT_DOUBLE_EQ(*quartiles.middle, 3.5);
  EXPECT_DOUBLE_EQ(quartiles.interval->low, 2.25);
  EXPECT_DOUBLE_EQ(quartiles.interval->high, 8.5);
  const Centre student = centre_of(values, IntervalKind::student);
  EXPECT_DOUBLE_EQ(*student.middle, 6);
  EXPECT_NEAR(student.interval->low, -0.119208733, 1e-8);
  const Centre bootstrap = centre_of(values, IntervalKind::bootstrap);
  EXPECT_DOUBLE_EQ(*bootstrap.middle, 6);
  EXPECT_EQ(bootstrap.interval->high, bootstrap_interval(values)->high);
}

TEST(Centre, OfOneSeedHasNoInterval) {
  for (const auto kind :
       {IntervalKind::quartiles, IntervalKind::student, IntervalKind::bootstrap}) {
    const Centre centre = centre_of({7}, kind);
    EXPECT_EQ(centre.middle, 7);
    EXPECT_FALSE(centre.interval.has_value());
  }
}

TEST(Centre, OfTheMedianKeepsWhatIsInfinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  const Centre centre = centre_of({1, 2, infinite, infinite}, IntervalKind::quartiles);

  EXPECT_EQ(centre.middle, infinite);
  EXPECT_EQ(centre.interval->low, 1.75);
  EXPECT_EQ(centre.interval->high, infinite);
}

}  // namespace
}  // namespace residuum::reports
