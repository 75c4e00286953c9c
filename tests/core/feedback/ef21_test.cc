// EF21 against runs that can be followed by hand.

#include <gtest/gtest.h>

#include <vector>

#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

/// Worker p's gradient is rows[p] everywhere and always.
test::TinyObjective constant_gradients(std::vector<std::vector<double>> rows) {
  const std::size_t d = rows.front().size();
  return {std::vector<double>(d, 0.0),
          [rows](const Draw& draw, std::span<const double>, std::span<double> g) {
            const auto& row = rows[static_cast<std::size_t>(draw.worker)];
            std::copy(row.begin(), row.end(), g.begin());
          }};
}

Recipe ef21(std::uint64_t iterations, int workers = 1) {
  Recipe recipe;
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 1}};
  recipe.aggregator = {{"kind", "allgather"}};
  recipe.feedback = {{"kind", "ef21"}};
  recipe.step = {{"value", 0.5}};
  recipe.workers = workers;
  recipe.iterations = iterations;
  return recipe;
}

TEST(Ef21, StepsByTheSumOfAllThatWasSent) {
  // Sent: (3, 0), then (0, 1), then nothing; estimates (3, 0), (3, 1), (3, 1).
  const auto run = test::train(constant_gradients({{3, 1}}), ef21(3));

  EXPECT_EQ(run.frames[0].model, (std::vector<double>{-1.5, 0}));
  EXPECT_EQ(run.frames[1].model, (std::vector<double>{-3, -0.5}));
  EXPECT_EQ(run.frames[2].model, (std::vector<double>{-4.5, -1}));
  EXPECT_EQ(run.frames[0].mean_residual, (std::vector<double>{0, 1}));
  EXPECT_EQ(run.frames[1].mean_residual, (std::vector<double>{0, 0}));
  EXPECT_EQ(run.frames[2].scalars[0].nnz_sent, 0);
}

TEST(Ef21, AveragesTheEstimatesOfTheWorkers) {
  // Worker 0 sends (4, 0), worker 1 (0, -6): the mean estimate is (2, -3).
  const auto run = test::train(constant_gradients({{4, 1}, {2, -6}}), ef21(1, 2));

  EXPECT_EQ(run.frames[0].model, (std::vector<double>{-1, 1.5}));
  EXPECT_EQ(run.frames[0].scalars[0].residual_norm_sq, 1);
  EXPECT_EQ(run.frames[0].scalars[1].residual_norm_sq, 4);
}

TEST(Ef21, KnowsHowMuchTheGradientsHaveChanged) {
  // Gradient (3, 1) + t (0, 2): the first change is the whole gradient.
  const test::TinyObjective objective({0, 0}, [](const Draw& draw, auto, std::span<double> g) {
    g[0] = 3;
    g[1] = 1 + 2 * static_cast<double>(draw.iteration);
  });
  const auto run = test::train(objective, ef21(2));

  EXPECT_EQ(run.frames[0].scalars[0].gradient_change_sq, 10);
  EXPECT_EQ(run.frames[1].scalars[0].gradient_change_sq, 4);
}

TEST(Ef21, WithoutSparsificationIsPlainGradientDescent) {
  const auto objective = test::noisy_quadratic(6, 0.3);
  Recipe recipe = ef21(30, 3);
  recipe.sparsifier = {{"kind", "none"}};
  recipe.aggregator = {{"kind", "dense"}};
  Recipe plain = recipe;
  plain.feedback = {{"kind", "none"}};

  const auto estimated = test::train(objective, recipe).model();
  const auto direct = test::train(objective, plain).model();

  for (std::size_t j = 0; j < direct.size(); ++j) {
    EXPECT_NEAR(estimated[j], direct[j], 1e-13);
  }
}

/// f_i = <a_i, x>^2 + |x|^2/4 of Beznosikov et al., from (1, 1, 1).
test::TinyObjective beznosikov() {
  return {{1, 1, 1}, [](const Draw& draw, std::span<const double> w, std::span<double> g) {
            std::vector<double> a(3, 2.0);
            a[static_cast<std::size_t>(draw.worker)] = -3;
            double dot = 0;
            for (std::size_t j = 0; j < 3; ++j) {
              dot += a[j] * w[j];
            }
            for (std::size_t j = 0; j < 3; ++j) {
              g[j] = 2 * dot * a[j] + w[j] / 2;
            }
          }};
}

TEST(Ef21, ConvergesWhereTopOneWithoutFeedbackDiverges) {
  Recipe recipe = ef21(20, 3);
  recipe.step = {{"value", 0.05}};
  recipe.feedback = {{"kind", "none"}};
  // Diverges as (1 + 11 eta / 6)^t: 5.7783120570 after 20 steps.
  EXPECT_NEAR(test::train(beznosikov(), recipe).model()[0], 5.7783120570, 1e-9);

  recipe = ef21(6000, 3);
  recipe.step = {{"value", 0.005}};
  recipe.measured = 1000;
  for (const double value : test::train(beznosikov(), recipe).model()) {
    EXPECT_NEAR(value, 0, 1e-3);
  }
}

TEST(Ef21, KeepsTheEstimatesTheUpdateIsMadeOfWithEveryAggregator) {
  const auto objective = test::noisy_quadratic(9, 0.4);
  for (const auto& aggregator : test::aggregator_names()) {
    for (const double momentum : {0.0, 0.7}) {
      Recipe recipe = ef21(50, 5);
      recipe.step = {{"value", 0.1}};
      recipe.aggregator = {{"kind", aggregator}};
      recipe.momentum = momentum;
      for (const auto& frame : test::train(objective, recipe).frames) {
        ASSERT_LE(frame.conservation_defect(), 1e-12)
            << aggregator << ", momentum " << momentum << ", iteration " << frame.iteration;
      }
    }
  }
}

}  // namespace
}  // namespace residuum
