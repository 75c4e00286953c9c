// A model that moves by the polar factors of the exchanged layers, followed by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;
using test::TinyObjective;
using Values = std::vector<double>;

/// A matrix of 2 rows and 2 columns and a vector of 2 entries. Worker p's gradient is `mean` plus
/// or minus (p + 1) in the first entry, which two workers cancel but for 1/2.
TinyObjective matrix_and_vector(Values start, Values mean) {
  return {std::move(start),
          [mean = std::move(mean)](
              const Draw& draw, std::span<const double> /*w*/, std::span<double> g) {
            std::copy(mean.begin(), mean.end(), g.begin());
            g[0] += draw.worker == 0 ? -1 : 2;
          },
          0,
          {{.name = "weight", .shape = {2, 2}, .offset = 0, .size = 4},
           {.name = "bias", .shape = {2}, .offset = 4, .size = 2}}};
}

void expect_near(const Values& actual, const Values& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-14) << i;
  }
}

// The mean is (1, 1; 0, 1) with the polar factor (2, 1; -1, 2)/sqrt(5), and (3, -4) with (0.6,
// -0.8). alpha = 1/2 and eta = 1/2.
TEST(OrthogonalUpdates, MoveEveryLayerByItsPolarFactorWhateverTheUnits) {
  const double part = 0.25 / std::sqrt(5.0);
  for (const char* units : {"step", "gradient"}) {
    const Recipe recipe{.feedback = {{"kind", "ef14"}, {"units", units}},
                        .step = {{"value", 0.5}},
                        .outer_step = 0.5,
                        .update_rule = UpdateRule::orthogonal,
                        .workers = 2,
                        .iterations = 2};

    const auto frames =
        test::train(matrix_and_vector(Values(6, 1), {0.5, 1, 0, 1, 3, -4}), recipe).frames;

    expect_near(frames[0].model,
                {1 - 2 * part, 1 - part, 1 + part, 1 - 2 * part, 1 - 0.15, 1 + 0.2});
    expect_near(frames[1].model,
                {1 - 4 * part, 1 - 2 * part, 1 + 2 * part, 1 - 4 * part, 1 - 0.3, 1 + 0.4});
    expect_near(frames[1].virtual_iterate, frames[1].model);
  }
}

TEST(OrthogonalUpdates, DecayTheModelBeside) {
  const Recipe recipe{.step = {{"value", 0.5}},
                      .update_rule = UpdateRule::orthogonal,
                      .weight_decay = 0.25,
                      .workers = 2};
  const auto frames =
      test::train(matrix_and_vector(Values(6, 8), {-0.5, 0, 0, 0, 0, -2}), recipe).frames;
  // w = (1 - 1/8) 8 = 7, and then 1/2 further where the unit vector is.
  expect_near(frames[0].model, {7, 7, 7, 7, 7, 7.5});
}

// With two workers and estimates of a = 1, the mean estimate is the mean gradient in each version.
TEST(OrthogonalUpdates, TakeTheMeanOfGradientEstimates) {
  Recipe recipe{.feedback = {{"kind", "ef21"}},
                .step = {{"value", 0.5}},
                .update_rule = UpdateRule::orthogonal,
                .workers = 2,
                .iterations = 3};
  const auto objective = matrix_and_vector(Values(6, 1), {0.5, 1, 0, 1, 3, -4});
  const auto by_estimates = test::train(objective, recipe).model();
  recipe.feedback = {{"kind", "none"}};
  expect_near(by_estimates, test::train(objective, recipe).model());
}

/// Top-1 sends the largest number, and the layer's polar factor is that of this number alone.
TEST(OrthogonalUpdates, LeaveOutWhatNobodySentAndTheVirtualIterateDoesNot) {
  const Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                      .aggregator = {{"kind", "allgather"}},
                      .step = {{"value", 1}},
                      .update_rule = UpdateRule::orthogonal};
  const auto objective = matrix_and_vector(Values(6), {1, 0, 0, 3, 0, 2});
  const auto frames = test::train(objective, recipe).frames;
  expect_near(frames[0].model, {0, 0, 0, -1, 0, 0});
  expect_near(frames[0].virtual_iterate, {0, 0, 0, -1, 0, -1});
  EXPECT_TRUE(frames[0].conserves) << "the exchange has lost nothing";
}

TEST(OrthogonalUpdates, FollowNoGradientsAndMinimiseNothingWithADecay) {
  Recipe recipe{.update_rule = UpdateRule::orthogonal, .weight_decay = 0.5};
  EXPECT_EQ(test::method_of(recipe, 6).effective_decay(), 0);
  recipe.weight_decay = 0;
  EXPECT_FALSE(test::method_of(recipe, 6).follows_gradients());
}

TEST(OrthogonalUpdates, HaveTheSameBitsOnAnyNumberOfProcesses) {
  const auto objective = test::noisy_quadratic(27, 0.5, test::matrix_and_bias());
  for (const auto precision : {Precision::float32, Precision::float64}) {
    Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 9}},
                  .aggregator = {{"kind", "allgather"}},
                  .feedback = {{"kind", "ef21-sgdm"}},
                  .update_rule = UpdateRule::orthogonal,
                  .workers = 5,
                  .iterations = 20,
                  .precision = precision};
    recipe.evaluated = Json(1);
    const auto alone = test::train(objective, recipe).frames;
    for (const int processes : {2, 3}) {
      test::on_processes(processes, [&](World& world) {
        test::FrameKeeper keeper;
        test::train(world, objective, recipe, keeper);
        if (world.is_root()) {
          test::expect_same_frames(keeper.frames, alone);
        }
      });
    }
  }
}

}  // namespace
}  // namespace residuum
