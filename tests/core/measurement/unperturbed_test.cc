// The unperturbed iterate u: plain SGD on the mean gradients beside runs with momentum, weight
// decay and clipping. Followed by hand, and by what its distance to the model is in closed form.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/vectors/dense.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::constant_gradient;
using test::Json;
using test::Recipe;
using Values = std::vector<double>;

Recipe with_unperturbed(Recipe recipe) {
  recipe.virtual_points = 1;
  recipe.evaluated = 1;
  recipe.unperturbed = true;
  return recipe;
}

TEST(Unperturbed, TakesTheWholeStepOfMomentumAtOnce) {
  // m = 1/2, eta = 1/2, G = 1: eta' = 1 and u = 0, -1, -2; v = 1, 1.5 and w = 0, -0.5, -1.25.
  for (const char* units : {"step", "gradient"}) {
    const Recipe recipe = with_unperturbed({.feedback = {{"kind", "ef14"}, {"units", units}},
                                            .step = {{"value", 0.5}},
                                            .momentum = 0.5,
                                            .iterations = 3});
    const auto frames = test::train(constant_gradient({0}, {1}), recipe).frames;

    EXPECT_EQ(frames[0].unperturbed, (Values{-1}));
    EXPECT_EQ(frames[1].unperturbed, (Values{-2}));
    EXPECT_EQ(frames[1].model, (Values{-1.25}));
    EXPECT_EQ(frames[2].unperturbed_sums->step, 2);
    EXPECT_EQ(frames[2].unperturbed_sums->noise, 2);
    EXPECT_EQ(frames[2].unperturbed_sums->gap, 0.25);  // |w_1 - u_1|^2
    EXPECT_EQ(frames[2].evaluations.unperturbed_loss, 4);
  }
}

TEST(Unperturbed, DecaysAsTheModelDoesAndSeesTheDecayedObjective) {
  // w_0 = 4, lambda = 1/4, eta = 1/2: u_1 = 4 - 0.5 (1 + 1) = 3; f_lambda(3) = 9 + 9/8.
  const Recipe recipe = with_unperturbed(
      {.step = {{"value", 0.5}}, .weight_decay = 0.25, .workers = 1, .iterations = 2});
  const auto frames = test::train(constant_gradient({4}, {1}), recipe).frames;

  EXPECT_EQ(frames[0].unperturbed, (Values{3}));
  EXPECT_EQ(frames[0].evaluations.unperturbed_loss, 16 + 2);
  EXPECT_EQ(frames[1].evaluations.unperturbed_loss, 9 + 1.125);
  EXPECT_EQ(frames[0].evaluations.decayed_grad_norm_sq, 81);  // grad f = 2 w = 8, and lambda w = 1
  EXPECT_EQ(frames[1].unperturbed_sums->noise, 1);            // (0.5 * 2)^2
  // |G + lambda w|^2 - |G|^2 = 4 - 1.
  EXPECT_EQ(frames[0].decay_terms->added(), 3);
}

TEST(Unperturbed, CountsTheDecayLessWhereGradientsAloneHaveMomentum) {
  // dgc with m = 1/2: gradients move the model by 2 eta G in the end, the decay by eta lambda w.
  const Recipe recipe = with_unperturbed({.feedback = {{"kind", "dgc"}, {"momentum", 0.5}},
                                          .step = {{"value", 0.5}},
                                          .weight_decay = 0.5,
                                          .iterations = 1});
  const auto frame = test::train(constant_gradient({4}, {1}), recipe).frames.front();

  EXPECT_EQ(frame.unperturbed, (Values{4 - 1 * (1 + 0.25 * 4)}));
  EXPECT_EQ(frame.evaluations.unperturbed_loss, 16 + 2);
  EXPECT_EQ(frame.evaluations.decayed_grad_norm_sq, 81);  // 8 + 0.25 * 4
}

TEST(Unperturbed, DoesNotFollowTheClipping) {
  const Recipe recipe = with_unperturbed(
      {.step = {{"value", 0.5}}, .clip = Clip::update, .clip_norm = 2.5, .iterations = 1});
  const auto frame = test::train(constant_gradient({0, 0}, {3, 4}), recipe).frames.front();

  EXPECT_EQ(frame.model, (Values{-0.75, -1}));
  EXPECT_EQ(frame.unperturbed, (Values{-1.5, -2}));
}

TEST(Unperturbed, IsFollowedOnlyWhereItIsNotTheVirtualIterateAndSomebodyLooks) {
  const auto objective = constant_gradient({0}, {1});
  const auto is_followed = [&](const Recipe& recipe) {
    return !test::train(objective, recipe).frames.front().unperturbed.empty();
  };
  Recipe recipe = with_unperturbed({});
  EXPECT_FALSE(is_followed(recipe));
  recipe.clip = Clip::worker;
  recipe.clip_norm = 1;
  EXPECT_FALSE(is_followed(recipe));
  recipe.momentum = 0.5;
  EXPECT_TRUE(is_followed(recipe));
  recipe.unperturbed = false;
  EXPECT_FALSE(is_followed(recipe));
  recipe.unperturbed = true;
  recipe.virtual_points.reset();
  EXPECT_FALSE(is_followed(recipe));
}

/// (m (w_{t-1} - w_t) + mean e_t)/(1 - m), whatever decays and however the step changes.
TEST(Unperturbed, IsAsFarAsVelocityAndResidualsSayInUnitsOfTheStep) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  int tried = 0;
  for (Recipe recipe : test::methods()) {
    if (recipe.clip == Clip::update || recipe.feedback["kind"] == "dgc") {
      continue;
    }
    recipe = with_unperturbed(recipe);
    recipe.step = {{"rule", "inv-sqrt"}, {"value", 0.2}};
    recipe.workers = 5;
    recipe.iterations = 30;
    for (const double momentum : {0.5, 0.9}) {
      recipe.momentum = momentum;
      SCOPED_TRACE(test::name_of(recipe));
      Values before(12, 0.5);
      for (const auto& frame : test::train(objective, recipe).frames) {
        if (!frame.conserves) {
          break;
        }
        ++tried;
        for (std::size_t j = 0; j < before.size(); ++j) {
          const double velocity = before[j] - frame.model[j];
          const double expected = (momentum * velocity + frame.mean_residual[j]) / (1 - momentum);
          ASSERT_NEAR(frame.model[j] - frame.unperturbed[j], expected, 1e-11) << frame.iteration;
        }
        before = frame.model;
      }
    }
  }
  EXPECT_GT(tried, 500);
}

/// mean e_t + eta m V_{t-1}/(1 - m) with the mean velocity V of the workers, at constant step.
TEST(Unperturbed, IsAsFarAsTheWorkersVelocitiesSay) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  const double momentum = 0.5;
  const double eta = 0.1;
  const Recipe recipe =
      with_unperturbed({.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                        .aggregator = {{"kind", "gtopk-tree"}},
                        .feedback = {{"kind", "dgc"}, {"momentum", momentum}, {"masking", false}},
                        .step = {{"value", eta}},
                        .workers = 5,
                        .iterations = 30});
  Values velocity(12);
  for (const auto& frame : test::train(objective, recipe).frames) {
    for (std::size_t j = 0; j < velocity.size(); ++j) {
      velocity[j] = momentum * velocity[j] + frame.mean_gradient[j];
      const double expected =
          frame.mean_residual[j] + eta * momentum / (1 - momentum) * velocity[j];
      ASSERT_NEAR(frame.model[j] - frame.unperturbed[j], expected, 1e-12) << frame.iteration;
    }
  }
}

/// Two workers on (1/2) (w - c_p)^2 with c = 1, -3, without noise.
test::TinyObjective two_parabolas() {
  return {{5.0}, [](const Draw& draw, std::span<const double> w, std::span<double> g) {
            g[0] = w[0] - (draw.worker == 0 ? 1 : -3);
          }};
}

TEST(Unperturbed, MovesByTheFirstGradientsWhereWorkersStepLocally) {
  // H = 2, eta = 1/2: eta' = 1. The mean centre is -1: w_{t+1} + 1 = (w_t + 1)/4, and from w = 5,
  // 0.5 on the mean first gradients are 6 and 1.5, so that u = 5 - 6 = -1, then -1 - 1.5 = -2.5.
  const auto local = make_protocol(Section("protocol", Json{{"kind", "local"}, {"period", 2}}));
  const Recipe recipe = with_unperturbed(
      {.step = {{"value", 0.5}}, .workers = 2, .iterations = 3, .protocol = local.get()});
  const auto frames = test::train(two_parabolas(), recipe).frames;

  EXPECT_EQ(frames[0].model, (Values{0.5}));
  EXPECT_EQ(frames[0].unperturbed, (Values{-1}));
  EXPECT_EQ(frames[1].unperturbed, (Values{-2.5}));
  EXPECT_EQ(frames[2].unperturbed_sums->step, 2);
  EXPECT_EQ(frames[2].unperturbed_sums->noise, 36 + 2.25);
  EXPECT_EQ(frames[2].unperturbed_sums->gap, 2.25);          // |0.5 + 1|^2
  EXPECT_EQ(frames[1].evaluations.unperturbed_loss, 1 + 2);  // (p + 1) |u_1|^2 of each worker
}

TEST(Unperturbed, TakesNoDirectionOfAnOptimiserForAGradient) {
  // AdamW moves by eta in the direction of the sign at first; u by eta H G, here with H = 1.
  const Recipe recipe = with_unperturbed(
      {.step = {{"value", 0.5}},
       .workers = 2,
       .iterations = 2,
       .local = {{"optimiser", "adamw"}, {"weight_decay", 0}, {"epsilon", 1e-30}}});
  const auto frames = test::train(two_parabolas(), recipe).frames;
  EXPECT_NEAR(frames[0].model[0], 4.5, 1e-12);
  EXPECT_EQ(frames[0].unperturbed, (Values{2}));  // 5 - 0.5 * 6
}

TEST(Unperturbed, TakesTheWholeStepOfALocalVelocityAtOnce) {
  const Recipe recipe = with_unperturbed({.step = {{"value", 0.25}},
                                          .workers = 2,
                                          .iterations = 1,
                                          .local = {{"optimiser", "momentum"}, {"momentum", 0.5}}});
  const auto frames = test::train(two_parabolas(), recipe).frames;
  EXPECT_EQ(frames[0].model, (Values{3.5}));
  EXPECT_EQ(frames[0].unperturbed, (Values{2}));  // eta' = 0.25/(1 - 0.5)
}

TEST(Unperturbed, SumsAreOfWhatItDid) {
  const auto objective = test::noisy_quadratic(6, 0.5);
  const Recipe recipe = with_unperturbed({.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                                          .aggregator = {{"kind", "gtopk-tree"}},
                                          .step = {{"rule", "inv-sqrt"}, {"value", 0.2}},
                                          .momentum = 0.8,
                                          .weight_decay = 0.1,
                                          .workers = 3,
                                          .iterations = 20});
  Values u(6, 0.5);
  Values w = u;
  RunningSums sums;
  for (const auto& frame : test::train(objective, recipe).frames) {
    ASSERT_NEAR(frame.unperturbed_sums->step, sums.step, 1e-13);
    ASSERT_NEAR(frame.unperturbed_sums->noise, sums.noise, 1e-13 * (1 + sums.noise));
    ASSERT_NEAR(frame.unperturbed_sums->gap, sums.gap, 1e-13 * (1 + sums.gap));
    const double step = frame.step_size / (1 - 0.8);
    sums.step += step;
    sums.gap += step * distance_sq(w, u);
    for (std::size_t j = 0; j < u.size(); ++j) {
      const double change = step * (frame.mean_gradient[j] + 0.1 * w[j]);
      sums.noise += change * change;
      u[j] -= change;
      ASSERT_NEAR(frame.unperturbed[j], u[j], 1e-13);
    }
    w = frame.model;
  }
}

}  // namespace
}  // namespace residuum
