// How many entries the estimated thresholds send of accumulators whose law is known.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/core/support.h"

namespace residuum {
namespace {

using test::Json;

constexpr std::size_t kManyEntries = 100000;

template <class Draw>
std::vector<double> entries(std::uint32_t number, Draw draw) {
  RandomStream random(23, Purpose::test, number, 0);
  std::vector<double> values(kManyEntries);
  for (double& value : values) {
    const double sign = random.uniform() < 0.5 ? -1 : 1;
    value = sign * draw(random);
  }
  return values;
}

std::vector<double> normal_entries(std::uint32_t number) {
  return entries(number, [](RandomStream& random) { return random.normal(); });
}
std::vector<double> exponential_entries(std::uint32_t number) {
  return entries(number, [](RandomStream& random) { return random.exponential(); });
}
std::vector<double> gamma_entries(std::uint32_t number) {
  return entries(number, [](RandomStream& random) { return random.gamma(0.5); });
}
/// Generalised Pareto of shape 0.2.
std::vector<double> pareto_entries(std::uint32_t number) {
  return entries(number, [](RandomStream& random) {
    return (std::pow(1 - random.uniform(), -0.2) - 1) / 0.2;
  });
}

template <class Real>
double count_sent(const Json& settings, const std::vector<Real>& accumulator) {
  const auto rule = test::sparsifier(settings);
  Message<Real> message;
  SelectWorkspace workspace;
  rule->select(std::span<const Real>(accumulator), {}, workspace, message);
  EXPECT_FALSE(message.everything);
  return static_cast<double>(message.entries.size());
}

Json settings(const char* kind, double density, int stages = 1) {
  Json values{{"kind", kind}, {"density", density}};
  if (stages > 1) {
    values["stages"] = stages;
  }
  return values;
}

// With the true parameters the count is binomial; fitting adds less than that again.
TEST(EstimatedThreshold, SendsAboutKEntriesOfItsOwnLaw) {
  for (const double density : {0.1, 0.01, 0.001}) {
    const double k = density * kManyEntries;
    const double tolerance = 4 * std::sqrt(2 * k);
    EXPECT_NEAR(count_sent(settings("gaussian-k", density), normal_entries(1)), k, tolerance);
    EXPECT_NEAR(
        count_sent(settings("exponential-k", density), exponential_entries(1)), k, tolerance);
  }
  // The shape of the gamma law is an approximation, that of Pareto is noisy: a tenth at 1 %.
  EXPECT_NEAR(count_sent(settings("gamma-k", 0.01), gamma_entries(1)), 1000, 100);
  EXPECT_NEAR(count_sent(settings("pareto-k", 0.01), pareto_entries(1)), 1000, 100);
}

TEST(EstimatedThreshold, StandsExactlyOnTheQuantileOfAGrid) {
  // Exponential magnitudes at the quantiles (i + 1/2)/n have mean 1 to 1e-4, so that the estimate
  // ln 100 lies between the 100th and the 101st of them.
  std::vector<double> grid(10000);
  for (std::size_t i = 0; i < grid.size(); ++i) {
    grid[i] = -std::log((static_cast<double>(i) + 0.5) / 10000);
  }
  EXPECT_EQ(count_sent(settings("exponential-k", 0.01), grid), 100);
}

TEST(EstimatedThreshold, SelectsTheSameInFloat32) {
  const auto wide = exponential_entries(2);
  const std::vector<float> narrow(wide.begin(), wide.end());
  for (const char* kind : {"gaussian-k", "exponential-k", "gamma-k", "pareto-k"}) {
    EXPECT_NEAR(count_sent(settings(kind, 0.01), narrow), count_sent(settings(kind, 0.01), wide), 1)
        << kind;
  }
}

// Laplace entries have heavier tails than normal ones: 2 exp(-sqrt(2) 3.29) of them, not 0.001,
// lie beyond 3.29 deviations, ten times k. One correction by 1.5 leaves 0.9 k.
TEST(GaussianK, CorrectsAThresholdThatIsFarOff) {
  const double beyond = std::exp(-std::sqrt(2.0) * 3.2905267 * 1.5) * kManyEntries;
  const auto count = count_sent(settings("gaussian-k", 0.001), exponential_entries(3));
  EXPECT_NEAR(count, beyond, 4 * std::sqrt(2 * beyond));
}

TEST(GaussianK, StopsAfterThreeCorrections) {
  // One entry of 1e6 among ones: the threshold stands near 3e4 at d = 1e4, k = 100; three halvings
  // leave it far above 1.
  std::vector<double> values(10000, 1.0);
  values[7] = 1e6;
  EXPECT_EQ(count_sent({{"kind", "gaussian-k"}, {"k", 100}}, values), 1);
}

TEST(EstimatedThreshold, StagesComeNearerWhereTheBodyMisleads) {
  // Normal entries have thinner tails than an exponential law of their mean: one stage sends far
  // too few, four stages come within a third.
  const auto values = normal_entries(4);
  const auto one = count_sent(settings("exponential-k", 0.001), values);
  const auto four = count_sent(settings("exponential-k", 0.001, 4), values);

  EXPECT_LT(one, 10);
  EXPECT_GT(four, 60);
  EXPECT_LT(four, 110);
}

TEST(EstimatedThreshold, CountsKOverAllEntriesAlsoWhereMostAreZero) {
  auto values = exponential_entries(5);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 10 == 0 ? values[i] : 0;
  }
  const double k = 0.01 * kManyEntries;  // a tenth of the non-zero entries
  EXPECT_NEAR(count_sent(settings("exponential-k", 0.01), values), k, 4 * std::sqrt(2 * k));
  EXPECT_EQ(count_sent(settings("exponential-k", 0.5), values), kManyEntries / 10);
}

TEST(EstimatedThreshold, SendsAllOfEntriesThatAreAllAlike) {
  const std::vector<double> values(50, -0.75);
  for (const char* kind : {"gaussian-k", "exponential-k", "gamma-k", "pareto-k"}) {
    EXPECT_EQ(count_sent(settings(kind, 0.1), values), 50) << kind;
  }
}

TEST(EstimatedThreshold, HasNeitherAFixedKNorALaw) {
  for (const char* kind : {"gaussian-k", "exponential-k", "gamma-k", "pareto-k"}) {
    const auto rule = test::sparsifier(settings(kind, 0.1));
    EXPECT_EQ(rule->k(100), std::nullopt);
    EXPECT_EQ(rule->law(100, 1).contraction, std::nullopt);
    EXPECT_EQ(rule->law(100, 1).threshold, std::nullopt);
  }
}

TEST(EstimatedThreshold, RefusesStagesOutsideOneToTwenty) {
  EXPECT_EQ(test::error_of([] {
              test::sparsifier({{"kind", "gamma-k"}, {"k", 1}, {"stages", 0}});
            }),
            "'sparsifier.stages' must lie in 1..20, got 0");
}

}  // namespace
}  // namespace residuum
