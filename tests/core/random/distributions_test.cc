// Moments within six standard errors, seeds fixed, no retries.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random/random.h"

namespace residuum {
namespace {

constexpr int kDraws = 200000;

/// Mean of draw(random)^power over kDraws draws.
template <class Draw>
double moment(Draw draw, int power) {
  RandomStream random(11, Purpose::test, 0, 0);
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    sum += std::pow(draw(random), power);
  }
  return sum / kDraws;
}

/// Six standard errors of a mean of kDraws numbers of this variance.
double six_errors(double variance) { return 6 * std::sqrt(variance / kDraws); }

/// E X^n of Gamma(shape, 1).
double gamma_moment(double shape, int n) {
  double product = 1;
  for (int i = 0; i < n; ++i) {
    product *= shape + i;
  }
  return product;
}

TEST(Uniform, StaysInTheHalfOpenUnitInterval) {
  RandomStream random(1, Purpose::test, 0, 0);
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
  }
}

TEST(Uniform, HasTheMomentsOfTheUniformLaw) {
  const auto draw = [](RandomStream& random) { return random.uniform(); };

  EXPECT_NEAR(moment(draw, 1), 1.0 / 2, six_errors(1.0 / 12));
  EXPECT_NEAR(moment(draw, 2), 1.0 / 3, six_errors(4.0 / 45));
}

TEST(Normal, HasTheMomentsOfTheNormalLaw) {
  const auto draw = [](RandomStream& random) { return random.normal(); };

  EXPECT_NEAR(moment(draw, 1), 0, six_errors(1));
  EXPECT_NEAR(moment(draw, 2), 1, six_errors(2));
  EXPECT_NEAR(moment(draw, 3), 0, six_errors(15));
  EXPECT_NEAR(moment(draw, 4), 3, six_errors(96));
}

TEST(Normal, HasIndependentNeighbours) {
  RandomStream random(5, Purpose::test, 0, 0);
  double within_pair = 0;
  double across_pairs = 0;
  double previous = random.normal();
  for (int i = 1; i < 2 * kDraws; ++i) {
    const double next = random.normal();
    (i % 2 == 1 ? within_pair : across_pairs) += previous * next;
    previous = next;
  }

  EXPECT_NEAR(within_pair / kDraws, 0, six_errors(1));
  EXPECT_NEAR(across_pairs / kDraws, 0, six_errors(1));
}

TEST(Exponential, HasTheMomentsOfTheExponentialLaw) {
  const auto draw = [](RandomStream& random) { return random.exponential(); };

  EXPECT_NEAR(moment(draw, 1), 1, six_errors(1));
  EXPECT_NEAR(moment(draw, 2), 2, six_errors(20));
}

TEST(Gamma, HasTheMomentsOfTheGammaLaw) {
  for (const double shape : {0.1, 0.5, 1.0, 2.5, 20.0}) {
    const auto draw = [shape](RandomStream& random) { return random.gamma(shape); };
    const double second = gamma_moment(shape, 2);

    EXPECT_NEAR(moment(draw, 1), shape, six_errors(shape)) << "shape " << shape;
    EXPECT_NEAR(moment(draw, 2), second, six_errors(gamma_moment(shape, 4) - second * second))
        << "shape " << shape;
  }
}

TEST(Gamma, IsPositiveForTheSmallShapesOfDirichletPartitions) {
  RandomStream random(2, Purpose::test, 0, 0);
  for (int i = 0; i < 10000; ++i) {
    ASSERT_GT(random.gamma(0.5), 0);
  }
}

TEST(Below, IsUniformByTheChiSquareTest) {
  for (const std::uint32_t bound : {2U, 3U, 7U, 10U, 100U}) {
    RandomStream random(3, Purpose::test, 0, bound);
    std::vector<double> counts(bound);
    for (int i = 0; i < kDraws; ++i) {
      const std::uint32_t drawn = random.below(bound);
      ASSERT_LT(drawn, bound);
      ++counts[drawn];
    }

    const double expected = static_cast<double>(kDraws) / bound;
    double chi_square = 0;
    for (const double count : counts) {
      chi_square += (count - expected) * (count - expected) / expected;
    }

    // Mean bound - 1, variance 2 (bound - 1).
    const double freedom = bound - 1.0;
    EXPECT_LT(chi_square, freedom + 6 * std::sqrt(2 * freedom) + 12) << "bound " << bound;
  }
}

TEST(Below, IsUnbiasedWhereRoundingWouldFavourResults) {
  // With 3 * 2^30 results a plain product of 32 bits hits a third of them twice: it would put
  // 1/2 instead of 1/3 of the draws on the multiples of three.
  constexpr std::uint32_t kBound = 3U << 30;
  RandomStream random(4, Purpose::test, 0, 0);
  int multiples = 0;
  for (int i = 0; i < kDraws; ++i) {
    multiples += random.below(kBound) % 3 == 0 ? 1 : 0;
  }

  EXPECT_NEAR(multiples / static_cast<double>(kDraws), 1.0 / 3, six_errors(2.0 / 9));
}

TEST(Below, HasOnlyZeroBelowOne) {
  RandomStream random(4, Purpose::test, 0, 0);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(random.below(1), 0U);
  }
}

}  // namespace
}  // namespace residuum
