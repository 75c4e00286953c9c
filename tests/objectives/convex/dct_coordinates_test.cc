// An objective in cosine coordinates is the same function of the same parameters.

#include "objectives/dct_coordinates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/objectives/convex/support.h"

namespace residuum::test {
namespace {

using Values = std::vector<double>;

/// Takes the parameters apart into coefficients by the formula, for one row of n <= 64 numbers.
Values cosine_row(std::span<const double> x) {
  const auto n = static_cast<double>(x.size());
  Values c(x.size());
  for (std::size_t u = 0; u < x.size(); ++u) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double angle = std::numbers::pi * static_cast<double>((2 * i + 1) * u) / (2 * n);
      c[u] += std::sqrt((u == 0 ? 1 : 2) / n) * std::cos(angle) * x[i];
    }
  }
  return c;
}

struct Pair {
  std::unique_ptr<Objective> standard, dct;
};

Pair both(const std::string& kind, const nlohmann::json& values, int workers = 1) {
  return {.standard = make(kind, values, {}, workers),
          .dct = in_dct_coordinates(make(kind, values, {}, workers))};
}

Values parameters_of(const Objective& objective, const Values& w) {
  Values parameters(w.size(), NAN);
  objective.to_parameters(w, parameters);
  return parameters;
}

const nlohmann::json kLogistic{{"rows", 90}, {"features", 20}, {"start", 0.25}};

TEST(DctCoordinates, AreTheFormulaOfEveryLayer) {
  const auto f = both("quadratic", {{"dimension", 20}}).dct;
  const Values parameters = normal_vector(20, 1);
  Values w(20);
  f->from_parameters(parameters, w);
  EXPECT_LE(distance(w, cosine_row(parameters)), 1e-14);
  EXPECT_LE(distance(parameters_of(*f, w), parameters), 1e-14);
}

TEST(DctCoordinates, AreTheParametersThemselvesOfOtherObjectives) {
  const auto f = make("quadratic", {{"dimension", 20}});
  const Values parameters = normal_vector(20, 1);
  Values w(20);
  f->from_parameters(parameters, w);
  EXPECT_EQ(w, parameters);
  EXPECT_EQ(parameters_of(*f, w), parameters);
}

TEST(DctCoordinates, HaveTheLossOfTheParametersAndTheirStart) {
  const auto [f, g] = both("logistic", kLogistic, 3);
  Values start(20);
  g->initial_point(1, start);
  const Values parameters = parameters_of(*g, start);
  EXPECT_LE(distance(parameters, Values(20, 0.25)), 1e-15 * 20);
  const double loss = evaluate(*f, Values(20, 0.25), 3).value;
  EXPECT_NEAR(evaluate(*g, start, 3).value, loss, 1e-14 * loss);
}

TEST(DctCoordinates, HaveTheDerivativeAsGradient) {
  for (const auto& [kind, values] :
       {std::pair<std::string, nlohmann::json>{"logistic", kLogistic},
        std::pair<std::string, nlohmann::json>{"nonconvex-logistic",
                                               {{"rows", 90}, {"features", 20}}},
        std::pair<std::string, nlohmann::json>{"quadratic", {{"dimension", 70}}}}) {
    const auto g = in_dct_coordinates(make(kind, values, {}, 3));
    for (std::uint64_t i = 0; i < 5; ++i) {
      const Values w = normal_vector(g->dimension(), i, 0.7);
      const Values direction = normal_vector(w.size(), 100 + i);
      constexpr double kStep = 1e-5;
      Values ahead = w;
      Values behind = w;
      for (std::size_t j = 0; j < w.size(); ++j) {
        ahead[j] += kStep * direction[j];
        behind[j] -= kStep * direction[j];
      }
      const double difference =
          (evaluate(*g, ahead, 3).value - evaluate(*g, behind, 3).value) / (2 * kStep);
      const Values gradient = evaluate(*g, w, 3).gradient;
      const double slope =
          std::inner_product(gradient.begin(), gradient.end(), direction.begin(), 0.0);
      // As in laws_test.cc: kStep^2 |direction|^3 times a third derivative below 1, and rounding.
      const double cube = std::pow(norm(direction), 3);
      EXPECT_NEAR(difference, slope, 1e-10 * (cube + 1) + 1e-9) << kind << " at point " << i;
    }
  }
}

template <class Real>
void takes_the_cosines_of_gradients() {
  const auto [f, g] = both("logistic", kLogistic, 3);
  const Values wide = normal_vector(20, 5);
  const std::vector<Real> w(wide.begin(), wide.end());
  const Values point(w.begin(), w.end());
  const auto samples = all_samples(*f);
  const Draw draw{.seed = 3, .worker = 2, .iteration = 9, .samples = samples};

  std::vector<Real> of_w(20, std::nanf(""));
  g->stochastic_gradient(draw, std::span<const Real>(w), of_w);
  Values of_parameters(20);
  f->stochastic_gradient(
      draw, std::span<const double>(parameters_of(*g, point)), std::span<double>(of_parameters));

  const double room = sizeof(Real) == sizeof(float) ? 1e-5 : 1e-13;
  const Values expected = cosine_row(of_parameters);
  EXPECT_LE(distance(Values(of_w.begin(), of_w.end()), expected), room * (1 + norm(expected)));
}

TEST(DctCoordinates, HaveTheCosinesOfStochasticGradients) {
  takes_the_cosines_of_gradients<float>();
  takes_the_cosines_of_gradients<double>();
}

TEST(DctCoordinates, AddToTheGradientAndNeedNone) {
  const auto g = both("logistic", kLogistic).dct;
  const auto shard = all_samples(*g);
  const Values w = normal_vector(20, 2);
  Values once(20);
  const double value = g->evaluate(0, 1, shard, w, once);
  Values twice = once;
  EXPECT_EQ(value, g->evaluate(0, 1, shard, w, twice));
  EXPECT_EQ(value, g->evaluate(0, 1, shard, w, {}));
  for (std::size_t j = 0; j < 20; ++j) {
    EXPECT_EQ(twice[j], 2 * once[j]);
  }
}

TEST(DctCoordinates, KeepTheFactsOfNormsAndMoveTheMinimiser) {
  const auto [f, g] = both("quadratic", {{"dimension", 20}}, 3);
  const Facts before = f->facts();
  const Facts after = g->facts();
  EXPECT_EQ(after.smoothness, before.smoothness);
  EXPECT_EQ(after.strong_convexity, before.strong_convexity);
  EXPECT_EQ(after.minimum, before.minimum);
  EXPECT_EQ(after.noise_variance, before.noise_variance);
  EXPECT_EQ(after.convex, before.convex);
  EXPECT_LE(distance(after.minimizer, cosine_row(before.minimizer)), 1e-13);
  EXPECT_LE(norm(evaluate(*g, after.minimizer, 3).gradient), 1e-13);
  EXPECT_NEAR(evaluate(*g, after.minimizer, 3).value, *before.minimum, 1e-13);
}

/// An objective all of whose answers can be told from any default.
class Telling final : public Objective {
 public:
  bool has_function() const override { return false; }
  std::optional<std::uint64_t> recorded_steps() const override { return 17; }
  std::size_t dimension() const override { return 14; }
  std::vector<Layer> layers() const override {
    return {{.name = "tensor", .shape = {2, 3, 2}, .offset = 0, .size = 12},
            {.name = "bias", .shape = {2}, .offset = 12, .size = 2}};
  }
  std::vector<double> ready_fractions(std::size_t samples) const override {
    return {static_cast<double>(samples), 1};
  }
  std::size_t samples() const override { return 5; }
  std::span<const std::int32_t> labels() const override { return labels_; }
  DataInfo data() const override { return {.name = "told", .fingerprint = "f", .note = "n"}; }
  Facts facts() const override {
    Facts facts;
    facts.lower_bound = -3;
    facts.starts_from_seed = true;
    facts.gradient_bias = "a reason";
    return facts;
  }
  std::optional<double> shard_smoothness(std::span<const std::uint32_t> shard) const override {
    return static_cast<double>(shard.size());
  }
  std::span<const std::uint32_t> evaluated() const override { return evaluated_; }
  std::size_t statistics() const override { return 2; }
  void initial_statistics(std::span<double> statistics) const override { statistics[1] = 8; }
  void initial_point(std::uint64_t seed, std::span<double> w) const override {
    std::fill(w.begin(), w.end(), static_cast<double>(seed));
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const float> /*w*/,
                           std::span<float> gradient) const override {
    std::fill(gradient.begin(), gradient.end(), static_cast<float>(draw.iteration));
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> /*w*/,
                           std::span<double> gradient) const override {
    std::fill(gradient.begin(), gradient.end(), static_cast<double>(draw.iteration));
  }
  double evaluate(int worker,
                  int workers,
                  std::span<const std::uint32_t> shard,
                  const Point& at,
                  std::span<double> /*gradient*/) const override {
    return 100 * worker + 10 * workers + static_cast<double>(shard.size()) + at.statistics[0];
  }
  std::optional<TestResult> test(const Point& at) const override {
    return TestResult{.loss = at.w[0], .accuracy = at.statistics[0]};
  }

 private:
  std::vector<std::int32_t> labels_{1, 2, 3, 4, 5};
  std::vector<std::uint32_t> evaluated_{0, 3};
};

TEST(DctCoordinates, PassOnAllThatHasNoCoordinates) {
  const auto g = in_dct_coordinates(std::make_unique<Telling>());
  EXPECT_FALSE(g->has_function());
  EXPECT_EQ(g->recorded_steps(), 17U);
  EXPECT_EQ(g->dimension(), 14U);
  const auto layers = g->layers();
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].name, "tensor");
  EXPECT_EQ(layers[0].shape, (std::vector<std::int64_t>{2, 3, 2}));
  EXPECT_EQ(layers[1].offset, 12U);
  EXPECT_EQ(layers[1].size, 2U);
  EXPECT_EQ(g->ready_fractions(7), (Values{7, 1}));
  EXPECT_EQ(g->samples(), 5U);
  EXPECT_THAT(g->labels(), testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(g->data().name, "told");
  EXPECT_EQ(g->data().fingerprint, "f");
  EXPECT_EQ(g->facts().lower_bound, -3);
  EXPECT_TRUE(g->facts().starts_from_seed);
  EXPECT_EQ(g->facts().gradient_bias, "a reason");
  const std::vector<std::uint32_t> shard{1, 2, 4};
  EXPECT_EQ(g->shard_smoothness(shard), 3);
  EXPECT_THAT(g->evaluated(), testing::ElementsAre(0, 3));
  EXPECT_EQ(g->statistics(), 2U);
  Values statistics(2);
  g->initial_statistics(statistics);
  EXPECT_EQ(statistics, (Values{0, 8}));
  statistics[0] = 0.5;
  const Values w(14, 2.0);
  EXPECT_EQ(g->evaluate(1, 2, shard, {w, statistics}, {}), 123.5);
  EXPECT_EQ(g->test({w, statistics})->accuracy, 0.5);
  EXPECT_EQ(g->test({w, statistics})->loss, parameters_of(*g, w)[0]);
}

/// The tensor of 2 x 3 x 2 is a matrix of 2 rows and 6 columns: one block, whose first coefficient
/// is its sum over sqrt(12). The bias is a block of its own.
TEST(DctCoordinates, TakeATensorAsAMatrixOfItsFirstDimension) {
  const auto g = in_dct_coordinates(std::make_unique<Telling>());
  Values start(14);
  g->initial_point(3, start);
  Values expected(14);
  expected[0] = 3 * std::sqrt(12.0);
  expected[12] = 3 * std::sqrt(2.0);
  EXPECT_LE(distance(start, expected), 1e-14);

  Values parameters(14);
  for (std::size_t column = 0; column < 6; ++column) {
    parameters[column] = 1;  // rows differ, columns do not
  }
  Values w(14);
  g->from_parameters(parameters, w);
  expected.assign(14, 0);
  expected[0] = expected[6] = std::sqrt(3.0);  // 6 / sqrt(12)
  EXPECT_LE(distance(w, expected), 1e-14);
}

TEST(DctCoordinates, AreOfRecordedGradientsToo) {
  const nlohmann::json values{{"data", "synthetic-gradients"}, {"steps", 4}, {"dimension", 30}};
  const auto [f, g] = both("recorded", values, 2);
  const Values w(30, 1.5);
  const Draw draw{.seed = 1, .worker = 1, .iteration = 3};
  Values recorded(30);
  Values cosines(30);
  f->stochastic_gradient(draw, std::span<const double>(w), std::span<double>(recorded));
  g->stochastic_gradient(draw, std::span<const double>(w), std::span<double>(cosines));
  EXPECT_LE(distance(cosines, cosine_row(recorded)), 1e-13);
  EXPECT_FALSE(g->has_function());
}

TEST(CoordinatesKey, IsRecorded) {
  const auto resolved = [](const nlohmann::json& values) {
    const Section section("objective", values);
    const auto f = in_coordinates(section, make("quadratic", {{"dimension", 20}}));
    section.finish();
    Values w(20);
    f->from_parameters(Values(20, 1.0), w);
    return std::pair(section.resolved(), std::abs(w[1]) < 1e-12);
  };
  EXPECT_EQ(resolved(nlohmann::json::object()),
            std::pair(nlohmann::json{{"coordinates", "standard"}}, false));
  EXPECT_FALSE(resolved({{"coordinates", "standard"}}).second);
  const auto [recorded, is_dct] = resolved({{"coordinates", "dct"}});
  EXPECT_TRUE(is_dct);
  EXPECT_EQ(recorded["coordinates"], "dct");
  EXPECT_THAT(error_of([&] {
                resolved({{"coordinates", "dtc"}});
              }),
              testing::HasSubstr("did you mean 'dct'?"));
}

}  // namespace
}  // namespace residuum::test
