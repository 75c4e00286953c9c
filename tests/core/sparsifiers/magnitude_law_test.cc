// Fits, thresholds and tests of fit against closed forms and against samples of known laws.

#include "core/sparsifiers/magnitude_law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/core/support.h"

namespace residuum {
namespace {

using Family = MagnitudeFamily;

constexpr MagnitudeLaw kNormal{.family = Family::normal, .shape = 0, .scale = 2};
constexpr MagnitudeLaw kShifted{.family = Family::normal, .shape = -0.7, .scale = 1.5};
constexpr MagnitudeLaw kExponential{.family = Family::exponential, .shape = 0, .scale = 0.3};
constexpr MagnitudeLaw kGamma{.family = Family::gamma, .shape = 0.6, .scale = 2};
constexpr MagnitudeLaw kPareto{.family = Family::generalised_pareto, .shape = 0.2, .scale = 1.5};
constexpr MagnitudeLaw kBounded{.family = Family::generalised_pareto, .shape = -0.5, .scale = 1};
constexpr std::array kLaws{kNormal, kShifted, kExponential, kGamma, kPareto, kBounded};

/// n numbers whose magnitudes stand at the quantiles (i + 1/2)/n of the law, signs alternating.
std::vector<double> quantile_grid(const MagnitudeLaw& law, std::size_t n) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    values[i] = (i % 2 == 0 ? 1 : -1) * law.threshold(share);
  }
  return values;
}

/// n independent numbers of the law, drawn by methods that know nothing of its quantiles where
/// there are such.
std::vector<double> sample(const MagnitudeLaw& law, std::size_t n, std::uint32_t number) {
  RandomStream random(17, Purpose::test, number, static_cast<std::uint32_t>(law.family));
  std::vector<double> values(n);
  for (double& value : values) {
    switch (law.family) {
      case Family::normal:
        value = law.shape + law.scale * random.normal();
        break;
      case Family::exponential:
        value = law.scale * random.exponential();
        break;
      case Family::gamma:
        value = law.scale * random.gamma(law.shape);
        break;
      case Family::generalised_pareto:
        value = law.scale * (std::pow(1 - random.uniform(), -law.shape) - 1) / law.shape;
        break;
    }
  }
  return values;
}

std::optional<FittedLaw> fit(Family family, const std::vector<double>& values) {
  return fit_magnitudes<double>(family, values);
}

TEST(MagnitudeLaw, HasTheThresholdsOfTheTables) {
  // Two-sided normal quantiles; exponential ln(1/share).
  EXPECT_NEAR(kNormal.threshold(0.1), 2 * 1.6448536269514722, 1e-12);
  EXPECT_NEAR(kNormal.threshold(0.001), 2 * 3.2905267314919255, 1e-12);
  EXPECT_NEAR(kExponential.threshold(0.01), 0.3 * std::log(100.0), 1e-14);
  // Chi-square with one degree of freedom is gamma of shape 1/2 and scale 2: 3.841458820694124.
  const MagnitudeLaw chi_square{.family = Family::gamma, .shape = 0.5, .scale = 2};
  EXPECT_NEAR(chi_square.threshold(0.05), 3.841458820694124, 1e-12);
  // Shape 1 is exponential.
  const MagnitudeLaw gamma{.family = Family::gamma, .shape = 1, .scale = 0.3};
  EXPECT_NEAR(gamma.threshold(0.01), kExponential.threshold(0.01), 1e-13);
  // (scale/shape)(share^-shape - 1), and its limit.
  EXPECT_NEAR(kPareto.threshold(1.0 / 32), 1.5 / 0.2 * (2.0 - 1), 1e-12);
  EXPECT_NEAR(kBounded.threshold(0.25), 1.0, 1e-14);
  const MagnitudeLaw limit{.family = Family::generalised_pareto, .shape = 0, .scale = 0.3};
  EXPECT_NEAR(limit.threshold(0.01), kExponential.threshold(0.01), 1e-14);
}

TEST(MagnitudeLaw, ThresholdAndSurvivalAreInverse) {
  for (const auto& law : kLaws) {
    for (const double share : {0.9, 0.5, 0.1, 0.001, 1e-6}) {
      EXPECT_NEAR(law.survival(law.threshold(share)) / share, 1, 1e-9) << share;
    }
    EXPECT_EQ(law.threshold(1), 0);
    EXPECT_EQ(law.threshold(1.5), 0);
    EXPECT_NEAR(law.survival(0), 1, 1e-15);
  }
}

TEST(MagnitudeLaw, ABoundedLawHasNothingBeyondItsEnd) { EXPECT_EQ(kBounded.survival(2.5), 0); }

TEST(FitMagnitudes, FindsTheParametersByHand) {
  const std::vector<double> values{1, -1, 3, -3};  // magnitudes: mean 2, variance 1
  const auto normal = fit(Family::normal, values);
  EXPECT_EQ(normal->law.shape, 0);
  EXPECT_DOUBLE_EQ(normal->law.scale, std::sqrt(5.0));
  EXPECT_DOUBLE_EQ(fit(Family::exponential, values)->law.scale, 2);
  const auto pareto = fit(Family::generalised_pareto, values);
  EXPECT_DOUBLE_EQ(pareto->law.shape, 0.5 * (1 - 4));
  EXPECT_DOUBLE_EQ(pareto->law.scale, 0.5 * 2 * (1 + 4));
  const double s = std::log(2.0) - std::log(3.0) / 2;
  const auto gamma = fit(Family::gamma, values);
  const double shape = (3 - s + std::sqrt((s - 3) * (s - 3) + 24 * s)) / (12 * s);
  EXPECT_DOUBLE_EQ(gamma->law.shape, shape);
  EXPECT_DOUBLE_EQ(gamma->law.scale, 2 / shape);
}

TEST(FitMagnitudes, LooksPastZerosWhereTheLawIsOneOfMagnitudes) {
  const std::vector<double> values{0, 1, 0, -1, 3, 0, -3};
  for (const Family family : {Family::exponential, Family::gamma, Family::generalised_pareto}) {
    const auto with = fit(family, values);
    const auto without = fit(family, {1, -1, 3, -3});
    EXPECT_EQ(with->law.shape, without->law.shape);
    EXPECT_EQ(with->law.scale, without->law.scale);
    EXPECT_EQ(with->entries, 4U);
  }
  EXPECT_EQ(fit(Family::normal, values)->entries, 7U);
}

TEST(FitMagnitudes, FindsTheParametersOfLargeSamples) {
  constexpr std::size_t kCount = 200000;
  const auto normal = fit(Family::normal, sample(kShifted, kCount, 0))->law;
  EXPECT_NEAR(normal.shape, -0.7, 4 * 1.5 / std::sqrt(kCount));
  EXPECT_NEAR(normal.scale, 1.5, 4 * 1.5 / std::sqrt(2.0 * kCount));
  const auto exponential = fit(Family::exponential, sample(kExponential, kCount, 0))->law;
  EXPECT_NEAR(exponential.scale, 0.3, 4 * 0.3 / std::sqrt(kCount));
  // The closed form of the gamma shape is within 1.5 % of the most likely one (Minka).
  const auto gamma = fit(Family::gamma, sample(kGamma, kCount, 0))->law;
  EXPECT_NEAR(gamma.shape, 0.6, 0.015 * 0.6 + 4 * 0.6 * std::sqrt(1.5 / kCount));
  // Moment estimates: var(shape) = (1-s)^2 (1-2s)^2 (1-s+6s^2) / ((1-2s)(1-3s)(1-4s)) / n.
  const double s = 0.2;
  const double variance = std::pow((1 - s) * (1 - 2 * s), 2) * (1 - s + 6 * s * s) /
                          ((1 - 2 * s) * (1 - 3 * s) * (1 - 4 * s)) / kCount;
  const auto pareto = fit(Family::generalised_pareto, sample(kPareto, kCount, 0))->law;
  EXPECT_NEAR(pareto.shape, s, 4 * std::sqrt(variance));
}

TEST(FitMagnitudes, HasNoLawForMagnitudesWithoutSpread) {
  for (const Family family : {Family::exponential, Family::gamma, Family::generalised_pareto}) {
    EXPECT_FALSE(fit(family, {0.75, 0.75, -0.75}).has_value());
    EXPECT_FALSE(fit(family, {0, 0}).has_value());
    EXPECT_FALSE(fit(family, {0, 5}).has_value());
    EXPECT_FALSE(fit(family, {}).has_value());
  }
  EXPECT_FALSE(fit(Family::normal, {0, 0}).has_value());
  EXPECT_FALSE(fit(Family::normal, {0.75, 0.75}).has_value());
  EXPECT_TRUE(fit(Family::normal, {0.75, -0.75}).has_value());
}

// 5, 1 and 50 % of Kolmogorov's distribution.
TEST(Kolmogorov, HasTheCriticalValuesOfTheTables) {
  EXPECT_NEAR(kolmogorov_survival(1.3580986), 0.05, 1e-7);
  EXPECT_NEAR(kolmogorov_survival(1.6276236), 0.01, 1e-7);
  EXPECT_NEAR(kolmogorov_survival(0.8275736), 0.5, 1e-7);
  EXPECT_NEAR(kolmogorov_survival(1.18 - 1e-12), kolmogorov_survival(1.18), 1e-10);
  EXPECT_EQ(kolmogorov_survival(0), 1);
  EXPECT_NEAR(kolmogorov_survival(0.0401), 1, 1e-15);
}

TEST(GoodnessOfFit, OfAQuantileGridIsHalfAStep) {
  for (const auto& law : {kNormal, kExponential, kGamma, kPareto, kBounded}) {
    const auto fit_of_grid = goodness_of_fit<double>(law, quantile_grid(law, 1000), 0.1);
    EXPECT_NEAR(fit_of_grid.ks_distance, 0.0005, 1e-9);
    EXPECT_GT(fit_of_grid.p_value, 0.999);
    EXPECT_EQ(fit_of_grid.tail_share, 0.1);
    EXPECT_NEAR(fit_of_grid.tail_z, 0, 1e-9);
  }
}

// Under the true law p-values are uniform: their own Kolmogorov-Smirnov distance over 300 samples
// is below its 1e-4 quantile, and z-scores of the tail have mean 0 and variance 1.
TEST(GoodnessOfFit, HasUniformPValuesUnderTheTrueLaw) {
  constexpr std::uint32_t kSamples = 300;
  for (const auto& law : kLaws) {
    std::vector<double> p;
    double z_sum = 0;
    for (std::uint32_t number = 0; number < kSamples; ++number) {
      const auto judged = goodness_of_fit<double>(law, sample(law, 400, number), 0.1);
      p.push_back(judged.p_value);
      z_sum += judged.tail_z;
    }
    std::sort(p.begin(), p.end());
    double distance = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      distance = std::max(distance, std::abs(p[i] - (static_cast<double>(i) + 0.5) / kSamples));
    }
    EXPECT_GT(kolmogorov_survival(std::sqrt(kSamples) * distance), 1e-4);
    EXPECT_LT(std::abs(z_sum) / std::sqrt(kSamples), 4);
  }
}

TEST(GoodnessOfFit, RefutesAnotherLaw) {
  const auto exponential = sample(kExponential, 2000, 1);
  const auto normal = sample(kNormal, 2000, 1);
  const auto judge = [](Family family, const std::vector<double>& values) {
    return goodness_of_fit<double>(fit(family, values)->law, values, 0.01);
  };

  EXPECT_LT(judge(Family::normal, exponential).p_value, 1e-6);
  EXPECT_LT(judge(Family::exponential, normal).p_value, 1e-6);
  EXPECT_GT(judge(Family::normal, normal).p_value, 0.01);
  EXPECT_GT(judge(Family::exponential, exponential).p_value, 0.01);
  // The exponential tail is thicker than the normal one's estimate of it.
  EXPECT_GT(judge(Family::exponential, exponential).tail_share, 0.005);
  EXPECT_LT(judge(Family::exponential, normal).tail_z, -3);
}

}  // namespace
}  // namespace residuum
