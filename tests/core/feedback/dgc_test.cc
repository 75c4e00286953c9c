// Momentum correction, followed by hand, and against plain momentum SGD where nothing is dropped.

#include <gtest/gtest.h>

#include <vector>

#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::constant_gradient;
using test::Json;
using test::Recipe;
using test::TinyObjective;
using Values = std::vector<double>;

Recipe top_1(bool masking) {
  return {.sparsifier = {{"kind", "top-k"}, {"k", 1}},
          .aggregator = {{"kind", "allgather"}},
          .feedback = {{"kind", "dgc"}, {"momentum", 0.5}, {"masking", masking}},
          .step = {{"value", 1}},
          .workers = 2,
          .iterations = 3};
}

TEST(Dgc, SendsTheSumOfVelocitiesAndStartsDeliveredOnesAnew) {
  // G = (4, 3). u = (4, 3), a = (4, 3): index 0 goes with 4, u_0 = 0.
  // u = (4, 4.5), a = (4, 7.5): index 1 goes with 7.5, u_1 = 0.
  // u = (6, 3), a = (10, 3): index 0 goes with 10.
  const auto frames = test::train(constant_gradient({0, 0}, {4, 3}), top_1(true)).frames;

  EXPECT_EQ(frames[0].model, (Values{-4, 0}));
  EXPECT_EQ(frames[1].mean_accumulator, (Values{4, 7.5}));
  EXPECT_EQ(frames[1].model, (Values{-4, -7.5}));
  EXPECT_EQ(frames[2].mean_accumulator, (Values{10, 3}));
  EXPECT_EQ(frames[2].model, (Values{-14, -7.5}));
  EXPECT_EQ(frames[2].mean_residual, (Values{0, 3}));
}

TEST(Dgc, WithoutMaskingLetsDeliveredVelocitiesRollOn) {
  // u = (6, 4.5), a = (6, 7.5): index 1; u = (7, 5.25), a = (13, 5.25): index 0.
  const auto frames = test::train(constant_gradient({0, 0}, {4, 3}), top_1(false)).frames;

  EXPECT_EQ(frames[1].mean_accumulator, (Values{6, 7.5}));
  EXPECT_EQ(frames[2].mean_accumulator, (Values{13, 5.25}));
  EXPECT_EQ(frames[2].model, (Values{-17, -7.5}));
}

TEST(Dgc, MeasuresTheGradientAndNotTheVelocity) {
  const auto frames = test::train(constant_gradient({0, 0}, {4, 3}), top_1(false)).frames;

  EXPECT_EQ(frames[2].mean_gradient, (Values{4, 3}));
  EXPECT_EQ(frames[2].scalars[1].gradient_norm_sq, 25);
}

TEST(Dgc, WithoutSparsificationAndMaskingIsMomentumSgd) {
  const auto objective = test::noisy_quadratic(6, 0.5);
  Recipe corrected{.feedback = {{"kind", "dgc"}, {"momentum", 0.9}, {"masking", false}},
                   .workers = 3,
                   .iterations = 20};
  Recipe heavy_ball{.momentum = 0.9, .workers = 3, .iterations = 20};

  const auto a = test::train(objective, corrected).model();
  const auto b = test::train(objective, heavy_ball).model();

  for (std::size_t j = 0; j < a.size(); ++j) {
    EXPECT_NEAR(a[j], b[j], 1e-14);
  }
}

TEST(Dgc, KeepsTheVelocityOfWhatTheAggregatorRejected) {
  // Top-1 of (4, 0) twice and of (0, 3): gTop-1 takes index 0; worker 2 keeps 3 and u = 3.
  const TinyObjective objective(
      {0, 0}, [](const Draw& draw, std::span<const double> /*w*/, std::span<double> gradient) {
        gradient[0] = draw.worker < 2 ? 4 : 0;
        gradient[1] = draw.worker < 2 ? 0 : 3;
      });
  Recipe recipe = top_1(true);
  recipe.aggregator = {{"kind", "gtopk-exact"}};
  recipe.workers = 3;
  recipe.iterations = 2;

  const auto frames = test::train(objective, recipe).frames;

  EXPECT_EQ(frames[0].mean_residual, (Values{0, 1}));
  // u = 0.5 * 3 + 3, a = 3 + 4.5 = 7.5; a third of it is the mean.
  EXPECT_EQ(frames[1].mean_accumulator[1], 2.5);
}

TEST(Dgc, ConservesWhatEnteredTheMemories) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (const char* units : {"step", "gradient"}) {
    for (const bool masking : {true, false}) {
      Recipe recipe = top_1(masking);
      recipe.feedback["units"] = units;
      recipe.aggregator = {{"kind", "gtopk-tree"}};
      recipe.step = {{"rule", "inv-sqrt"}, {"value", 0.2}};
      recipe.workers = 5;
      recipe.iterations = 40;
      for (const auto& frame : test::train(objective, recipe).frames) {
        ASSERT_TRUE(frame.conserves);
        ASSERT_LE(frame.conservation_defect(), 1e-13) << units << frame.iteration;
      }
    }
  }
}

TEST(Dgc, RefusesAMomentumOfOne) {
  EXPECT_EQ(test::error_of([] {
              make_feedback(Section("feedback", Json{{"kind", "dgc"}, {"momentum", 1}}));
            }),
            "'feedback.momentum' must lie in [0, 1), got 1");
}

}  // namespace
}  // namespace residuum
