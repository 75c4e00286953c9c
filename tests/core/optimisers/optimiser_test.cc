// Optimisers against directions that are computed with a pencil; tests/objectives/torch compares
// them with libtorch's.

#include "core/optimisers/optimiser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

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
    optimiser->turn(Turn<double>{.before = i,
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
    optimiser->turn(
        Turn<float>{.before = 0, .model = model, .gradient = gradient, .memory = memory});
    EXPECT_NEAR(gradient[0], -1, 1e-6) << beta2;
  }
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
}

}  // namespace
}  // namespace residuum
