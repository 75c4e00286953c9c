// G^p = s mu + nu^p: its moments, and what workers and halves of a batch share.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/objective.h"
#include "tests/objectives/convex/support.h"

namespace residuum::test {
namespace {

constexpr std::size_t kDimension = 200000;

std::unique_ptr<Objective> signal(double ratio, const char* law) {
  return make("signal", {{"dimension", kDimension}, {"signal_to_noise", ratio}, {"law", law}});
}

std::vector<double> gradient(const Objective& f, const Draw& draw) {
  const std::vector<double> w(f.dimension());
  std::vector<double> g(f.dimension(), std::numeric_limits<double>::quiet_NaN());
  f.stochastic_gradient(draw, w, g);
  return g;
}

double moment(const std::vector<double>& values, int power) {
  double sum = 0;
  for (const double value : values) {
    sum += std::pow(value, power);
  }
  return sum / static_cast<double>(values.size());
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0) / (norm(a) * norm(b));
}

// Variance 1; fourth moment 3 (normal) and 6 (Laplace), whose estimates vary by mu_8 / d with
// mu_8 = 105 and 8!/2^4 = 2520.
TEST(Signal, NoiseHasVarianceOneAndTheFourthMomentOfItsLaw) {
  const auto normal = gradient(*signal(0, "normal"), {.seed = 3});
  const auto laplace = gradient(*signal(0, "laplace"), {.seed = 3});
  for (const auto& g : {normal, laplace}) {
    EXPECT_NEAR(moment(g, 1), 0, 5 / std::sqrt(kDimension));
    EXPECT_NEAR(moment(g, 2), 1, 5 * std::sqrt(5.0 / kDimension));
  }
  EXPECT_NEAR(moment(normal, 4), 3, 5 * std::sqrt(105.0 / kDimension));
  EXPECT_NEAR(moment(laplace, 4), 6, 5 * std::sqrt(2520.0 / kDimension));
}

TEST(Signal, WorkersShareTheSignalAndNothingElse) {
  const auto f = signal(0.5, "normal");
  const auto first = gradient(*f, {.seed = 1, .worker = 0, .iteration = 0});
  const auto second = gradient(*f, {.seed = 1, .worker = 1, .iteration = 0});
  const auto later = gradient(*f, {.seed = 1, .worker = 0, .iteration = 1});
  // s^2 / (1 + s^2) = 0.2
  for (const auto& other : {second, later}) {
    EXPECT_NEAR(correlation(first, other), 0.2, 5 / std::sqrt(kDimension));
  }
  const auto alone = signal(0, "normal");
  EXPECT_NEAR(correlation(gradient(*alone, {.worker = 0}), gradient(*alone, {.worker = 1})),
              0,
              5 / std::sqrt(kDimension));
}

TEST(Signal, TheFullGradientIsTheSignalOfVarianceSSquared) {
  for (const char* law : {"normal", "laplace"}) {
    const auto f = signal(3, law);
    const auto full = evaluate(*f, std::vector<double>(kDimension), 4).gradient;
    EXPECT_NEAR(moment(full, 2), 9, 9 * 5 * std::sqrt(5.0 / kDimension)) << law;
    const auto g = gradient(*f, {.seed = 2, .worker = 1, .iteration = 7});
    EXPECT_NEAR(std::pow(distance(g, full), 2) / kDimension, 1, 5 * std::sqrt(5.0 / kDimension));
    EXPECT_EQ(f->facts().noise_variance, kDimension);
  }
}

// The first half of a batch is the whole plus as much noise again.
TEST(Signal, AHalfDrawHasTwiceTheNoise) {
  const auto f = signal(0, "laplace");
  const auto half = gradient(*f, {.seed = 2, .first_half = true});
  const auto whole = gradient(*f, {.seed = 2});
  EXPECT_NEAR(moment(half, 2), 2, 5 * std::sqrt(14.0 / kDimension));
  EXPECT_NEAR(std::pow(distance(half, whole), 2) / kDimension, 1, 5 * std::sqrt(5.0 / kDimension));
}

TEST(Signal, ClaimsNoMinimum) {
  const auto facts = signal(1, "normal")->facts();
  EXPECT_FALSE(facts.minimum.has_value());
  EXPECT_TRUE(facts.minimizer.empty());
  EXPECT_EQ(facts.smoothness, 0);
}

TEST(Signal, RefusesWhatItCannotDraw) {
  EXPECT_NE(error_of([] { make("signal", {{"signal_to_noise", -1}}); }), "");
  EXPECT_NE(error_of([] { make("signal", {{"dimension", 0}}); }), "");
  EXPECT_EQ(error_of([] {
              make("signal", {{"law", "laplac"}});
            }),
            "unknown value 'laplac' of 'objective.law'; did you mean 'laplace'?");
}

}  // namespace
}  // namespace residuum::test
