// The probe of noise and heterogeneity, against values known in closed form.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/protocols/protocol.h"
#include "objectives/registry.h"
#include "tests/assumptions/support.h"

namespace residuum {
namespace {

using test::convex;
using test::Json;
using test::Recipe;

/// ColumnMean and standard error of a column over the rows that have it.
struct ColumnMean {
  double value = 0;
  double error = 0;
  std::size_t n = 0;
};

ColumnMean mean_with_error(const test::MeasuredRun& run, Column column) {
  std::vector<double> values;
  for (const auto& row : run.rows) {
    if (row.has(column)) {
      values.push_back(row[column]);
    }
  }
  ColumnMean mean{.value = 0, .error = 0, .n = values.size()};
  for (const double value : values) {
    mean.value += value / static_cast<double>(values.size());
  }
  double squares = 0;
  for (const double value : values) {
    squares += (value - mean.value) * (value - mean.value);
  }
  const auto n = static_cast<double>(values.size());
  mean.error = std::sqrt(squares / (n - 1) / n);
  return mean;
}

/// Four standard errors: a right estimator is outside once in 16 000 times.
void expect_near(const ColumnMean& mean, double expected) {
  EXPECT_GT(mean.n, 1U);
  EXPECT_NEAR(mean.value, expected, 4 * mean.error);
}

/// Gradients at w_0, again and again: the step is too small to move.
Recipe standing_still(int workers) {
  Recipe recipe;
  recipe.workers = workers;
  recipe.iterations = 600;
  recipe.step = {{"value", 1e-12}};
  recipe.split = 1;
  return recipe;
}

TEST(NoiseProbe, FindsNoiseHeterogeneityAndGradientOfTheQuadratic) {
  const Json values{{"dimension", 50}, {"noise_variance", 4.0}, {"heterogeneity", 1.5}};
  constexpr int kWorkers = 4;
  const auto objective = convex("quadratic", values, kWorkers);
  // At w = 0 the gradients are -b^p: zeta^2 and |grad f|^2 from them directly.
  std::vector<std::vector<double>> b;
  std::vector<double> mean(50);
  const std::vector<double> zero(50);
  for (int p = 0; p < kWorkers; ++p) {
    std::vector<double> part(50);
    objective->evaluate(p, kWorkers, {}, zero, part);  // a share of 1/P
    for (std::size_t j = 0; j < part.size(); ++j) {
      mean[j] += part[j];
      part[j] *= kWorkers;
    }
    b.push_back(part);
  }
  double heterogeneity = 0;
  for (const auto& row : b) {
    heterogeneity += distance_sq(row, mean) / kWorkers;
  }
  ASSERT_GT(heterogeneity, 1);

  const auto run = test::measure(*objective, standing_still(kWorkers));

  expect_near(mean_with_error(run, Column::noise_variance), 4);
  expect_near(mean_with_error(run, Column::heterogeneity), heterogeneity);
  expect_near(mean_with_error(run, Column::grad_norm_sq_split), norm_sq<double>(mean));
  expect_near(mean_with_error(run, Column::half_batch_bias), 1);
}

/// Rows of a logistic regression, every sample's gradient at w = 0 known by hand: f_i' = -y x / 2.
TEST(NoiseProbe, FindsTheNoiseOfBatchesThatDoNotHalveEvenly) {
  const Json values{{"data", "synthetic-logistic"}, {"rows", 60}, {"features", 8}, {"l2", 0.0}};
  const auto objective = convex("logistic", values, 2);
  const std::size_t n = objective->samples();
  const std::size_t d = objective->dimension();
  Recipe recipe = standing_still(2);
  recipe.batch = 5;
  recipe.iterations = 3000;
  recipe.shards.resize(2);
  for (std::uint32_t i = 0; i < n; ++i) {
    recipe.shards[i < n / 2 ? 0 : 1].push_back(i);
  }
  // The variance of one uniformly drawn sample's gradient, over each shard, divided by the batch.
  double variance = 0;
  const std::vector<double> w(d);
  for (const auto& shard : recipe.shards) {
    std::vector<std::vector<double>> gradients;
    std::vector<double> mean(d);
    for (const auto sample : shard) {
      std::vector<double> gradient(d);
      const std::vector<std::uint32_t> one{sample};
      objective->stochastic_gradient(
          {.seed = 1, .worker = 0, .iteration = 0, .samples = one}, w, gradient);
      for (std::size_t j = 0; j < d; ++j) {
        mean[j] += gradient[j] / static_cast<double>(shard.size());
      }
      gradients.push_back(gradient);
    }
    for (const auto& gradient : gradients) {
      variance += distance_sq(gradient, mean) / static_cast<double>(shard.size()) / 5 / 2;
    }
  }

  const auto run = test::measure(*objective, recipe);

  expect_near(mean_with_error(run, Column::noise_variance), variance);
  expect_near(mean_with_error(run, Column::half_batch_bias), 1);
}

TEST(NoiseProbe, KnowsThatWholeShardsHaveNoNoise) {
  const Json values{{"data", "synthetic-logistic"}, {"rows", 40}, {"features", 6}, {"l2", 0.0}};
  const auto objective = convex("logistic", values, 2);
  Recipe recipe = standing_still(2);
  recipe.batch = 0;
  recipe.iterations = 1;
  recipe.evaluated = 1;
  recipe.shards = {{}, {}};
  for (std::uint32_t i = 0; i < 40; ++i) {
    recipe.shards[i % 2].push_back(i);
  }
  const auto row = test::measure(*objective, recipe).rows[0];

  EXPECT_EQ(row[Column::noise_variance], 0);
  EXPECT_NEAR(row[Column::grad_norm_sq_split], row[Column::grad_norm_sq], 1e-15);
  EXPECT_GT(row[Column::heterogeneity], 0);
}

TEST(NoiseProbe, LeavesEmptyWhatOneSampleCannotSay) {
  const Json values{{"data", "synthetic-logistic"}, {"rows", 40}, {"features", 6}, {"l2", 0.0}};
  const auto objective = convex("logistic", values, 1);
  Recipe recipe = standing_still(1);
  recipe.batch = 1;
  recipe.iterations = 2;
  recipe.shards = {{0, 1, 2, 3}};
  const auto run = test::measure(*objective, recipe);

  EXPECT_FALSE(run.rows[0].has(Column::noise_variance));
  EXPECT_FALSE(run.rows[0].has(Column::heterogeneity));
  EXPECT_TRUE(run.rows[0].has(Column::worker_grad_norm_sq));
}

/// Gradients w - c_p with normal noise of variance 4 in all, the same for both halves of a batch.
TEST(NoiseProbe, OfLocalStepsIsThatOfSingleGradients) {
  const Json values{{"dimension", 50}, {"noise_variance", 4.0}};
  const auto objective = convex("quadratic", values, 3);
  const auto local = make_protocol(Section("protocol", Json{{"kind", "local"}, {"period", 5}}));
  Recipe recipe = standing_still(3);
  recipe.evaluated = 1;
  const auto one_step = test::measure(*objective, recipe);
  recipe.protocol = local.get();
  const auto run = test::measure(*objective, recipe);

  expect_near(mean_with_error(run, Column::noise_variance), 4);
  // The model stands still, so five steps tell the norm of one gradient, with less noise.
  const auto norm = mean_with_error(one_step, Column::worker_grad_norm_sq);
  expect_near(mean_with_error(run, Column::worker_grad_norm_sq), norm.value);
  for (const Column of_sums : {Column::grad_norm_sq_split,
                               Column::heterogeneity,
                               Column::half_batch_bias,
                               Column::gradient_bias}) {
    EXPECT_FALSE(run.rows[0].has(of_sums));
    EXPECT_TRUE(one_step.rows[0].has(of_sums));
  }
}

}  // namespace
}  // namespace residuum
