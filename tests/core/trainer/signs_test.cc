// A model that moves by the signs of the exchanged vector, followed by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/training/update_direction.h"
#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::constant_gradient;
using test::Json;
using test::Recipe;
using test::TinyObjective;
using Values = std::vector<double>;

TEST(Signs, AreThoseOfTheEntriesAndNoneOfAZero) {
  Values update{0.5, -3, 0, -0.0, 1e-300};
  Values room(update.size());
  take_signs(constant_gradient(Values(5), Values(5)), update, room);
  EXPECT_EQ(update, (Values{1, -1, 0, 0, 1}));
}

/// A sum that has overflowed must be seen in the model, which would else stand still.
TEST(Signs, OfWhatIsNoNumberAreNone) {
  Values update{NAN, -INFINITY};
  Values room(update.size());
  take_signs(constant_gradient(Values(2), Values(2)), update, room);
  EXPECT_TRUE(std::isnan(update[0]));
  EXPECT_EQ(update[1], -1);
}

TEST(SignUpdates, MoveEveryEntryByTheStepWhateverTheUnits) {
  for (const char* units : {"step", "gradient"}) {
    const Recipe recipe{.feedback = {{"kind", "ef14"}, {"units", units}},
                        .step = {{"value", 0.5}},
                        .outer_step = 0.5,
                        .update_rule = UpdateRule::signs,
                        .workers = 2,
                        .iterations = 2};

    const auto frames = test::train(constant_gradient({4, 4, 4}, {10, -0.1, 0}), recipe).frames;

    EXPECT_EQ(frames[0].model, (Values{3.75, 4.25, 4})) << units;
    EXPECT_EQ(frames[1].model, (Values{3.5, 4.5, 4})) << units;
  }
}

TEST(SignUpdates, DecayTheModelBeside) {
  // w = (1 - 0.5 * 0.25) 4 - 0.5 = 3, then 2.625 - 0.5.
  const Recipe recipe{.step = {{"value", 0.5}},
                      .update_rule = UpdateRule::signs,
                      .weight_decay = 0.25,
                      .iterations = 2};

  const auto frames = test::train(constant_gradient({4}, {7}), recipe).frames;

  EXPECT_EQ(frames[0].model, (Values{3}));
  EXPECT_EQ(frames[1].model, (Values{2.125}));
  EXPECT_EQ(frames[1].virtual_iterate, (Values{2.125})) << "nothing was left out";
}

/// Worker p's gradient is (p - 1, 1): the mean over three workers has a zero.
TEST(SignUpdates, AreOfTheMeanAndNotMeansOfSigns) {
  const TinyObjective objective(
      {0, 0}, [](const Draw& draw, std::span<const double> /*w*/, std::span<double> g) {
        g[0] = draw.worker == 0 ? -10 : 1;
        g[1] = draw.worker - 1.0;
      });
  const Recipe recipe{.step = {{"value", 0.5}}, .update_rule = UpdateRule::signs, .workers = 3};
  EXPECT_EQ(test::train(objective, recipe).model(), (Values{0.5, 0}));
}

/// Top-1 of (3, 2) with eta = 1: first 3 goes; then a = (3, 4), and 4 goes. z takes both signs.
TEST(SignUpdates, LeaveOutWhatNobodySentAndTheVirtualIterateDoesNot) {
  const Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                      .aggregator = {{"kind", "allgather"}},
                      .step = {{"value", 1}},
                      .update_rule = UpdateRule::signs,
                      .iterations = 2};

  const auto frames = test::train(constant_gradient({0, 0}, {3, 2}), recipe).frames;

  EXPECT_EQ(frames[0].model, (Values{-1, 0}));
  EXPECT_EQ(frames[1].model, (Values{-1, -1}));
  EXPECT_EQ(frames[0].virtual_iterate, (Values{-1, -1}));
  EXPECT_EQ(frames[1].virtual_iterate, (Values{-2, -2}));
  EXPECT_EQ(frames[1].mean_residual, (Values{3, 0}));
  EXPECT_TRUE(frames[1].conserves) << "the exchange has lost nothing";
}

TEST(SignUpdates, FollowNoGradientsAndMinimiseNothingWithADecay) {
  Recipe recipe{.weight_decay = 0.5};
  EXPECT_EQ(test::method_of(recipe, 2).effective_decay(), 0.5);
  recipe.update_rule = UpdateRule::signs;
  EXPECT_EQ(test::method_of(recipe, 2).effective_decay(), 0);
  recipe.weight_decay = 0;
  EXPECT_FALSE(test::method_of(recipe, 2).follows_gradients());
  recipe.update_rule = UpdateRule::mean;
  EXPECT_TRUE(test::method_of(recipe, 2).follows_gradients());
}

/// The unperturbed iterate is SGD on the mean gradients under any rule.
TEST(SignUpdates, LeaveTheUnperturbedIterateToTheGradients) {
  Recipe recipe{.step = {{"value", 0.5}},
                .update_rule = UpdateRule::signs,
                .weight_decay = 0.25,
                .iterations = 1};
  recipe.virtual_points = Json(1);
  recipe.unperturbed = true;
  EXPECT_EQ(test::train(constant_gradient({4}, {2}), recipe).frames[0].unperturbed, (Values{3}));
}

TEST(SignUpdates, HaveTheSameBitsOnAnyNumberOfProcesses) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (const auto precision : {Precision::float32, Precision::float64}) {
    Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                  .aggregator = {{"kind", "allgather"}, {"weighting", "senders"}},
                  .feedback = {{"kind", "ef14"}, {"decay", 0.75}},
                  .update_rule = UpdateRule::signs,
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
