// The bootstrap against resamples that can be counted by hand, and against SciPy.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/analysis/statistics.h"

namespace residuum::reports {
namespace {

// The mean of 0, 3 and 12 is 5. The sums of three draws are 0 3 6 9 12 15 18 24 27 36, in 1 3 3 1 3
// 6 3 3 3 1 of the 27 orders: 11 are below 15, 6 are 15, so that the bias is the normal quantile of
// 14/27, 0.04644. The differences from the mean have squares of sum 78 and cubes of sum 210: the
// acceleration is 210/(6 78^1.5) = 0.05081. Quarters become 0.2870 and 0.7866 of the orders, 7.749
// and 21.239, which end at the sums 9 and 24.
TEST(BootstrapInterval, OfThreeValuesCorrectsForBiasAndSkewness) {
  const auto interval = bootstrap_interval({0, 3, 12}, 0.5);

  ASSERT_TRUE(interval.has_value());
  EXPECT_DOUBLE_EQ(interval->low, 3);
  EXPECT_DOUBLE_EQ(interval->high, 8);
}

TEST(BootstrapInterval, DoesNotDependOnTheOrderOfTheValues) {
  const auto interval = bootstrap_interval({12, 0, 3}, 0.5);

  ASSERT_TRUE(interval.has_value());
  EXPECT_DOUBLE_EQ(interval->low, 3);
  EXPECT_DOUBLE_EQ(interval->high, 8);
}

// SciPy 1.10.1, scipy.stats.bootstrap((v,), numpy.mean, method="BCa", n_resamples=400000): the
// means of 400000 resamples lie at the same places as those of all.
TEST(BootstrapInterval, IsThatOfSciPy) {
  struct Known {
    std::vector<double> values;
    double low;
    double high;
  };
  const std::vector<Known> cases{{{2, 3, 5, 7, 11, 13}, 4, 31.0 / 3},
                                 {{1, 1, 2, 3, 5, 40}, 2, 167.0 / 6},
                                 {{0.3, -1, 4, 2.5, 8, 1, -3}, -3.0 / 7, 31.8 / 7}};
  for (const auto& [values, low, high] : cases) {
    const auto interval = bootstrap_interval(values);

    ASSERT_TRUE(interval.has_value());
    EXPECT_NEAR(interval->low, low, 1e-12);
    EXPECT_NEAR(interval->high, high, 1e-12);
  }
}

TEST(BootstrapInterval, OfManyValuesIsThatOfSciPyButForTheChanceOfItsDraws) {
  // SciPy, 2000000 draws: [-0.5, 30.33], the 0.16 % and 91.77 % quantiles of the resamples' means.
  // With 1999 draws these levels have standard deviations of 0.09 % and 0.93 %, of which the bias
  // makes a part: the bounds are the quantiles four of them to either side.
  const auto interval = bootstrap_interval({28, -44, 29, 30, 24, 28, 37, 32, 36, 27, 26, 28});

  ASSERT_TRUE(interval.has_value());
  EXPECT_GT(interval->low, -15);
  EXPECT_LT(interval->low, 4.42);
  EXPECT_GT(interval->high, 29.99);
  EXPECT_LT(interval->high, 30.84);
}

TEST(BootstrapInterval, OfEqualValuesIsTheirValue) {
  const auto interval = bootstrap_interval({2.5, 2.5, 2.5, 2.5, 2.5, 2.5});

  ASSERT_TRUE(interval.has_value());
  EXPECT_EQ(interval->low, 2.5);
  EXPECT_EQ(interval->high, 2.5);
}

TEST(BootstrapInterval, MovesWithTheValues) {
  const auto before = bootstrap_interval({1, 1, 2, 3, 5, 40});
  const auto after = bootstrap_interval({-1001, -1001, -1002, -1003, -1005, -1040});

  EXPECT_NEAR(after->low, -1000 - before->high, 1e-9);
  EXPECT_NEAR(after->high, -1000 - before->low, 1e-9);
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
