// Laws along every run of every method: w - z follows from the residuals, the residual recursion
// holds, and any number of processes gives the same bits.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/vectors/dense.h"
#include "tests/core/thread_world.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

/// A step that changes within the run.
const Json falling_step{{"rule", "inv-sqrt"}, {"value", 0.2}};

/// Every method with momentum 0 and 0.9, in both units, for 1, 2, 3 and 8 workers.
template <class Check>
void for_every_training(Check check) {
  for (Recipe recipe : test::methods()) {
    for (const char* units : {"step", "gradient"}) {
      recipe.feedback["units"] = units;
      for (const double momentum : {0.0, 0.9}) {
        for (const int workers : {1, 2, 3, 8}) {
          recipe.step = falling_step;
          recipe.momentum = momentum;
          recipe.workers = workers;
          recipe.iterations = 30;
          SCOPED_TRACE(test::name_of(recipe) + ", momentum " + std::to_string(momentum) +
                       ", P = " + std::to_string(workers));
          check(recipe);
        }
      }
    }
  }
}

TEST(TrainerLaws, TheGapIsWhatTheResidualsSayForEveryMethodThatConserves) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for_every_training([&](const Recipe& recipe) {
    for (const auto& frame : test::train(objective, recipe).frames) {
      if (frame.conserves) {
        ASSERT_LE(frame.conservation_defect(), 1e-12) << "iteration " << frame.iteration;
      }
    }
  });
}

TEST(TrainerLaws, TheGapIsTheMeanResidualWithoutMomentumInStepUnits) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (const auto& aggregator : test::list_aggregator_names()) {
    const Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                        .aggregator = {{"kind", aggregator}},
                        .step = falling_step,
                        .workers = 8,
                        .iterations = 30};
    const auto frame = test::train(objective, recipe).frames.back();
    for (std::size_t j = 0; j < 12; ++j) {
      EXPECT_NEAR(frame.model[j] - frame.virtual_iterate[j], frame.mean_residual[j], 1e-13);
    }
    EXPECT_GT(norm_sq<double>(frame.mean_residual), 1e-4) << "nothing was held back";
  }
}

TEST(TrainerLaws, LosingMethodsAreSeenToLose) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for_every_training([&](const Recipe& recipe) {
    const auto frame = test::train(objective, recipe).frames.back();
    if (!frame.conserves && recipe.workers == 8) {
      EXPECT_GT(frame.conservation_defect(), 1e-3);
    }
  });
}

TEST(TrainerLaws, TheResidualRecursionDominatesTheGap) {
  // T-PATH: U_{t+1} = sqrt(q_t) (U_t + |z_{t+1} - z_t|) >= |w_{t+1} - z_{t+1}|.
  const auto objective = test::noisy_quadratic(12, 0.5);
  for_every_training([&](const Recipe& recipe) {
    double bound = 0;
    for (const auto& frame : test::train(objective, recipe).frames) {
      const double gap_sq = distance_sq(frame.model, frame.virtual_iterate);
      const double q =
          frame.compensated_gap_norm_sq > 0 ? gap_sq / frame.compensated_gap_norm_sq : 0;
      bound = std::sqrt(q) * (bound + frame.virtual_step_norm);
      ASSERT_LE(std::sqrt(gap_sq), bound * (1 + 1e-10) + 1e-15) << frame.iteration;
    }
  });
}

TEST(TrainerLaws, TheVirtualIterateIsSgdOnTheMeanGradients) {
  const auto objective = test::noisy_quadratic(6, 0.5);
  const Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                      .aggregator = {{"kind", "gtopk-tree"}},
                      .step = falling_step,
                      .workers = 3,
                      .iterations = 20};
  std::vector<double> z(6, 0.5);
  for (const auto& frame : test::train(objective, recipe).frames) {
    double moved_sq = 0;
    for (std::size_t j = 0; j < 6; ++j) {
      const double step = frame.step_size * frame.mean_gradient[j];
      z[j] -= step;
      moved_sq += step * step;
    }
    ASSERT_EQ(frame.virtual_iterate, z);
    ASSERT_NEAR(frame.virtual_step_norm, std::sqrt(moved_sq), 1e-15);
  }
}

TEST(TrainerLaws, AccumulatorIsResidualPlusStep) {
  const auto objective = test::noisy_quadratic(6, 0.5);
  const Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                      .aggregator = {{"kind", "gtopk-exact"}},
                      .step = falling_step,
                      .workers = 3,
                      .iterations = 20};
  std::vector<double> residual(6);
  for (const auto& frame : test::train(objective, recipe).frames) {
    for (std::size_t j = 0; j < 6; ++j) {
      const double expected = residual[j] + frame.step_size * frame.mean_gradient[j];
      ASSERT_NEAR(frame.mean_accumulator[j], expected, 1e-14);
    }
    residual = frame.mean_residual;
  }
}

TEST(TrainerLaws, AHardThresholdBoundsEveryResidualEntry) {
  // T-HTINF, with a noise that is 50 times the threshold.
  const auto objective = test::noisy_quadratic(12, 10);
  for (const char* rule : {"fixed", "eta-scaled"}) {
    const Recipe recipe{
        .sparsifier = {{"kind", "hard-threshold"}, {"threshold", 0.2}, {"rule", rule}},
        .aggregator = {{"kind", "allgather"}},
        .step = falling_step,
        .workers = 4,
        .iterations = 200};
    for (const auto& frame : test::train(objective, recipe).frames) {
      const double expected = rule == std::string("fixed") ? 0.2 : 0.2 * frame.step_size;
      ASSERT_EQ(frame.threshold, expected);
      for (const auto& scalars : frame.scalars) {
        ASSERT_LT(scalars.residual_norm_inf, expected);
      }
    }
  }
}

TEST(TrainerLaws, AnyNumberOfProcessesGivesTheSameBits) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  auto methods = test::methods();
  for (const Recipe& recipe : test::methods_of_estimates()) {
    methods.push_back(recipe);
  }
  for (const Recipe& recipe : test::quantised_methods()) {
    methods.push_back(recipe);
  }
  for (Recipe recipe : methods) {
    recipe.workers = 5;
    recipe.iterations = 6;
    recipe.step = falling_step;
    recipe.momentum = 0.5;
    recipe.precision = Precision::float32;
    recipe.evaluated = Json(1);
    recipe.virtual_points = Json(2);
    recipe.unperturbed = true;
    const auto alone = test::train(objective, recipe);
    for (const int processes : {2, 3, 5}) {
      SCOPED_TRACE(test::name_of(recipe) + " on " + std::to_string(processes));
      test::on_processes(processes, [&](World& world) {
        test::FrameKeeper keeper;
        const auto outcome = test::train(world, objective, recipe, keeper);
        EXPECT_EQ(outcome.iterations, 6U);
        if (world.is_root()) {
          test::expect_same_frames(keeper.frames, alone.frames);
        }
      });
    }
  }
}

}  // namespace
}  // namespace residuum
