// Optimisers against directions that are computed with a pencil; tests/objectives/torch compares
// them with libtorch's.

#include "core/optimisers/optimiser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/optimisers/newton_schulz.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using test::error_of;
using test::Json;
using ::testing::HasSubstr;

std::unique_ptr<Optimiser> optimiser_of(const Json& keys) {
  const Section section("local", keys);
  auto optimiser = make_optimiser(section);
  section.finish();
  return optimiser;
}

/// Returns the directions of one number for these gradients, all at the model w.
std::vector<double> directions(const Json& keys, std::vector<double> gradients, double w = 0) {
  const auto optimiser = optimiser_of(keys);
  std::vector<double> memory(optimiser->vectors());
  const std::vector<double> model{w};
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    optimiser->direct(OptimiserStep<double>{.before = i,
                                            .model = model,
                                            .gradient = std::span(gradients).subspan(i, 1),
                                            .memory = memory});
  }
  return gradients;
}

TEST(Optimisers, AreNoneByDefault) {
  EXPECT_EQ(optimiser_of(Json::object()), nullptr);
  EXPECT_EQ(optimiser_of({{"optimiser", "sgd"}}), nullptr);
}

TEST(Optimisers, OfMomentumAddUpWhatFades) {
  // v = 1; 1/2 + 2; 5/4 + 4. Nesterov adds half of v to the gradient.
  const Json half{{"optimiser", "momentum"}, {"momentum", 0.5}};
  EXPECT_EQ(directions(half, {1, 2, 4}), (std::vector<double>{1, 2.5, 5.25}));
  auto ahead = half;
  ahead["nesterov"] = true;
  EXPECT_EQ(directions(ahead, {1, 2, 4}), (std::vector<double>{1.5, 3.25, 6.625}));
}

TEST(Optimisers, OfMomentumDecayWeightsWithTheGradient) {
  const Json decaying{{"optimiser", "momentum"}, {"momentum", 0.5}, {"weight_decay", 0.25}};
  // At w = 4 the decay adds 1 to each gradient.
  EXPECT_EQ(directions(decaying, {1, 2}, 4), (std::vector<double>{2.0, 4.0}));
}

TEST(Optimisers, AverageEachVectorAfterItsNumberOfExchanges) {
  const auto periods = [](const char* optimiser, const Json& every) {
    const Json keys{{"optimiser", optimiser}, {"average_every", every}};
    const Section section("local", keys);
    return memory_periods_from(section, *make_optimiser(section));
  };
  EXPECT_EQ(periods("adamw", {3, 6}), (std::vector<std::uint64_t>{3, 6}));
  EXPECT_EQ(periods("adamw", {0, 6}), (std::vector<std::uint64_t>{0, 6}));
  EXPECT_TRUE(periods("adamw", {0, 0}).empty());
  EXPECT_EQ(periods("momentum", Json::array({4})), (std::vector<std::uint64_t>{4}));
  const std::vector<std::pair<const char*, Json>> refused{{"momentum", {3, 6}},
                                                          {"adamw", Json::array({3})},
                                                          {"adamw", {3, -1}},
                                                          {"adamw", {3, 0.5}},
                                                          {"adamw", 3},
                                                          {"adamw", {3, 2'000'000}}};
  for (const auto& [optimiser, every] : refused) {
    EXPECT_THAT(error_of([&] { periods(optimiser, every); }),
                HasSubstr("the exchanges between two averages of each vector"));
  }
}

TEST(Optimisers, AdamWBeginsWithTheSignAndDecaysWeightsApart) {
  const Json tiny{{"optimiser", "adamw"}, {"epsilon", 1e-30}, {"weight_decay", 0.5}};
  EXPECT_NEAR(directions(tiny, {-3}, 4)[0], -1 + 0.5 * 4, 1e-15);
  EXPECT_NEAR(directions(tiny, {1e-9}, 4)[0], 1 + 0.5 * 4, 1e-15);
}

TEST(Optimisers, AdamWCorrectsTheBiasOfItsMeans) {
  // b1 = b2 = 1/2, gradients 1 and 3: m = 7/4, s = 19/4, both over 3/4.
  const Json halves{{"optimiser", "adamw"},
                    {"beta1", 0.5},
                    {"beta2", 0.5},
                    {"epsilon", 1e-30},
                    {"weight_decay", 0}};
  EXPECT_NEAR(directions(halves, {1, 3})[1], (7.0 / 3) / std::sqrt(19.0 / 3), 1e-15);
}

TEST(Optimisers, AdamWBeginsWithTheSignInFloatsTooHoweverLongItsMeansAre) {
  for (const double beta2 : {0.999, 0.99999, 0.9999999, 0.99999999}) {
    const auto optimiser =
        optimiser_of({{"optimiser", "adamw"}, {"beta2", beta2}, {"weight_decay", 0}});
    std::vector<float> gradient{-3};
    std::vector<float> memory(optimiser->vectors());
    const std::vector<float> model{0};
    optimiser->direct(
        OptimiserStep<float>{.before = 0, .model = model, .gradient = gradient, .memory = memory});
    EXPECT_NEAR(gradient[0], -1, 1e-6) << beta2;
  }
}

TEST(Optimisers, LionTakesTheSignOfAMeanThatItKeepsByAnotherFactor) {
  // b1 = 1/2, b2 = 3/4: m = 0, 1, 1/4, 3/16 and the means in the sign are 2, -1/2, 1/8, -5/32.
  const Json lion{{"optimiser", "lion"}, {"beta1", 0.5}, {"beta2", 0.75}};
  EXPECT_EQ(directions(lion, {4, -2, 0, -0.5}), (std::vector<double>{1, -1, 1, -1}));
}

TEST(Optimisers, LionHasNoSignOfAZeroAndDecaysWeightsApart) {
  const Json lion{{"optimiser", "lion"}, {"weight_decay", 0.25}};
  EXPECT_EQ(directions(lion, {0, -1e-300}, 8), (std::vector<double>{2, 1}));
  EXPECT_TRUE(std::isnan(directions(lion, {NAN})[0])) << "divergence must be seen";
}

/// Returns a singular value, as a part of the norm, after the five steps of Newton and Schulz.
double after_five_steps(double x) {
  for (int step = 0; step < 5; ++step) {
    x = 3.4445 * x - 4.7750 * x * x * x + 2.0315 * x * x * x * x * x;
  }
  return x;
}

// Rows (3, 0, 4) and (0, 2, 0) are orthogonal: the singular values are 5 and 2, the norm sqrt(29).
TEST(NewtonSchulz, TurnsSingularValuesByItsPolynomial) {
  const double norm = std::sqrt(29.0) + 1e-7;
  const double first = after_five_steps(5 / norm);
  const double second = after_five_steps(2 / norm);
  const std::vector<double> expected{0.6 * first, 0, 0.8 * first, 0, second, 0};
  std::vector<double> room;
  std::vector<double> wide{3, 0, 4, 0, 2, 0};
  orthogonalise_by_newton_schulz<double>(2, 3, wide, room);
  std::vector<double> tall{3, 0, 0, 2, 4, 0};
  orthogonalise_by_newton_schulz<double>(3, 2, tall, room);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(wide[i], expected[i], 1e-14) << i;
    EXPECT_NEAR(tall[i % 3 * 2 + i / 3], expected[i], 1e-14) << "transposed, " << i;
  }
  EXPECT_NEAR(first, 0.73140264, 1e-8);
  EXPECT_NEAR(second, 1.04670417, 1e-8);
}

TEST(NewtonSchulz, LeavesZeroAndKeepsWhatIsNoNumber) {
  std::vector<float> room;
  std::vector<float> zero(6);
  orthogonalise_by_newton_schulz<float>(2, 3, zero, room);
  EXPECT_EQ(zero, std::vector<float>(6));
  std::vector<float> overflown{1, INFINITY, 2, 3};
  orthogonalise_by_newton_schulz<float>(2, 2, overflown, room);
  EXPECT_TRUE(std::isnan(overflown[1]));
}

/// A matrix of 2 rows and 3 columns, and behind it a vector of one number.
const std::vector<MatrixPlace> kMatrixAndNumber{{.begin = 0, .rows = 2, .columns = 3},
                                                {.begin = 6, .rows = 1, .columns = 1}};

/// The directions of the last of these gradients.
std::vector<double> last_direction(const Json& keys,
                                   std::vector<std::vector<double>> gradients,
                                   double w = 0) {
  const auto optimiser = optimiser_of(keys);
  std::vector<double> memory(optimiser->vectors() * gradients.front().size());
  const std::vector<double> model(gradients.front().size(), w);
  std::vector<double> room;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    optimiser->direct(OptimiserStep<double>{.before = i,
                                            .model = model,
                                            .gradient = gradients[i],
                                            .memory = memory,
                                            .layers = kMatrixAndNumber,
                                            .room = &room});
  }
  return gradients.back();
}

// The scale of 2 rows and 3 columns is 0.2 sqrt(3). The decay adds 0.5 w = 2 to each number. The
// first gradient is taken 1.95 times, to which the 1e-7 beside its norm is added.
TEST(Optimisers, MuonMakesMatricesOrthogonalAndLeavesNumbersToAdamW) {
  const double norm = std::sqrt(29.0) + 1e-7 / 1.95;
  const Json keys{{"optimiser", "muon"}, {"weight_decay", 0.5}};
  const auto direction = last_direction(keys, {{3, 0, 4, 0, 2, 0, -7}}, 4);
  const double scale = 0.2 * std::sqrt(3.0);
  EXPECT_NEAR(direction[0], 2 + scale * 0.6 * after_five_steps(5 / norm), 1e-14);
  EXPECT_NEAR(direction[1], 2, 1e-14);
  EXPECT_NEAR(direction[4], 2 + scale * after_five_steps(2 / norm), 1e-14);
  EXPECT_NEAR(direction[6], 2 - 1, 1e-9);
}

// mu = 1/2: v = (3, 0, 4) and then 1.5 (3, 0, 4); of the other row 2 and 1 + 10 = 11. Nesterov's
// form adds half of v to the gradient: 1.75 (3, 0, 4) and 15.5.
TEST(Optimisers, MuonAddsUpGradientsAndLooksAhead) {
  const std::vector<std::vector<double>> gradients{{3, 0, 4, 0, 2, 0, 0}, {3, 0, 4, 0, 10, 0, 0}};
  Json keys{{"optimiser", "muon"}, {"momentum", 0.5}, {"scale", "spectral"}};
  const double ahead = std::hypot(8.75, 15.5) + 1e-7;
  EXPECT_NEAR(last_direction(keys, gradients)[4], after_five_steps(15.5 / ahead), 1e-13);
  EXPECT_NEAR(last_direction(keys, gradients)[0], 0.6 * after_five_steps(8.75 / ahead), 1e-13);
  keys["nesterov"] = false;
  const double plain = std::hypot(7.5, 11) + 1e-7;
  EXPECT_NEAR(last_direction(keys, gradients)[4], after_five_steps(11 / plain), 1e-13);
}

TEST(Optimisers, MuonScalesTallMatricesByTheRootOfTheirSides) {
  const auto optimiser = optimiser_of({{"optimiser", "muon"}, {"scale", "spectral"}});
  const std::vector<MatrixPlace> tall{{.begin = 0, .rows = 8, .columns = 2}};
  std::vector<double> gradient(16);
  gradient[0] = 1;  // the only singular value
  std::vector<double> memory(32);
  const std::vector<double> model(16);
  optimiser->direct(OptimiserStep<double>{
      .before = 0, .model = model, .gradient = gradient, .memory = memory, .layers = tall});
  EXPECT_NEAR(gradient[0], 2 * after_five_steps(1), 1e-5);
}

TEST(Optimisers, MuonRefusesModelsWithoutMatrices) {
  const auto optimiser = optimiser_of({{"optimiser", "muon"}});
  const std::vector<MatrixPlace> vectors{{.begin = 0, .rows = 5}, {.begin = 5, .columns = 3}};
  EXPECT_THAT(error_of([&] { optimiser->check(vectors); }),
              HasSubstr("'local.optimiser': no layer of this model is a matrix"));
  EXPECT_THAT(error_of([&] { optimiser->check({}); }), HasSubstr("use optimiser \"adamw\""));
  EXPECT_EQ(error_of([&] { optimiser->check(kMatrixAndNumber); }), "");
}

TEST(Optimisers, RefuseNumbersOutOfRange) {
  const auto refused = [](const Json& keys) { return error_of([&] { optimiser_of(keys); }); };
  EXPECT_THAT(refused({{"optimiser", "adam"}}), HasSubstr("did you mean 'adamw'?"));
  EXPECT_THAT(refused({{"optimiser", "momentum"}, {"momentum", 1}}),
              HasSubstr("'local.momentum' must lie in [0, 1), got 1"));
  EXPECT_THAT(refused({{"optimiser", "adamw"}, {"beta2", -0.1}}),
              HasSubstr("'local.beta2' must lie in [0, 1), got -0.1"));
  EXPECT_THAT(refused({{"optimiser", "adamw"}, {"epsilon", 0}}),
              HasSubstr("'local.epsilon' must be at least 1e-30, got 0"));
  EXPECT_THAT(refused({{"optimiser", "adamw"}, {"weight_decay", -1}}),
              HasSubstr("'local.weight_decay' must be at least 0, got -1"));
  EXPECT_THAT(refused({{"optimiser", "adamw"}, {"momentum", 0.5}}), HasSubstr("momentum"));
  EXPECT_THAT(refused({{"optimiser", "lion"}, {"beta2", 1}}),
              HasSubstr("'local.beta2' must lie in [0, 1), got 1"));
  EXPECT_THAT(refused({{"optimiser", "muon"}, {"scale", "rsm"}}), HasSubstr("did you mean 'rms'?"));
}

}  // namespace
}  // namespace residuum
