// Measurements of versions that some of the workers make.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tests/assumptions/support.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

TEST(ParticipationRuns, KeepTheHardInvariantsOfEveryMethod) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (Recipe recipe : test::methods()) {
    for (const char* units : {"step", "gradient"}) {
      for (const auto precision : {Precision::float32, Precision::float64}) {
        recipe.feedback["units"] = units;
        recipe.step = {{"rule", "inv-sqrt"}, {"value", 0.2}};
        recipe.momentum = precision == Precision::float64 ? 0.9 : 0;
        recipe.precision = precision;
        recipe.workers = 7;
        recipe.participants = 3;
        recipe.iterations = 40;
        SCOPED_TRACE(test::name_of(recipe) + ", units " + units);
        for (const auto& row : test::measure(objective, recipe).rows) {
          for (const auto& check : row.checks) {
            ASSERT_TRUE(check.holds || !check.hard || !check.expected)
                << check.name << " at iteration " << check.iteration << ": " << check.lhs
                << " against " << check.rhs;
          }
        }
      }
    }
  }
}

/// Worker p's gradient is c_p and noise of the variance 1; the step is too small to move.
constexpr std::array kPulls{3.0, -1.0, 0.5, 2.0, -4.0};

test::MeasuredRun spread_of_some(int participants) {
  const test::TinyObjective objective(
      {1.0, 1.0}, [](const Draw& draw, std::span<const double>, std::span<double> g) {
        const auto worker = static_cast<std::uint32_t>(draw.worker);
        RandomStream first(
            5, Purpose::half_noise, worker, static_cast<std::uint32_t>(draw.iteration));
        RandomStream second(5, Purpose::noise, worker, static_cast<std::uint32_t>(draw.iteration));
        // A batch is the mean of two halves, each with twice the variance.
        const double half = std::sqrt(2.0) * first.normal();
        const double other = std::sqrt(2.0) * second.normal();
        g[0] = kPulls[worker] + (draw.first_half ? half : (half + other) / 2);
        g[1] = 0;
      });
  Recipe recipe;
  recipe.workers = static_cast<int>(kPulls.size());
  recipe.participants = participants;
  recipe.iterations = 3000;
  recipe.step = {{"value", 1e-12}};
  recipe.split = 1;
  return test::measure(objective, recipe);
}

/// The mean over the rows is within five standard errors of the value.
void expect_mean(const test::MeasuredRun& run, Column column, double expected) {
  double sum = 0;
  double squares = 0;
  for (const auto& row : run.rows) {
    sum += row[column];
    squares += row[column] * row[column];
  }
  const auto n = static_cast<double>(run.rows.size());
  const double mean = sum / n;
  EXPECT_NEAR(mean, expected, 5 * std::sqrt((squares / n - mean * mean) / n));
}

TEST(ParticipationRuns, EstimateTheHeterogeneityOfAllWorkers) {
  // The mean of the five pulls is 0.1, that of their squares 6.05.
  constexpr double kHeterogeneity = 6.05 - 0.01;
  for (const int participants : {2, 3}) {
    const auto run = spread_of_some(participants);
    expect_mean(run, Column::heterogeneity, kHeterogeneity);
    expect_mean(run, Column::noise_variance, 1);
    expect_mean(run, Column::half_batch_bias, 1);
    EXPECT_FALSE(run.rows.front().has(Column::grad_norm_sq_split));
  }
}

TEST(ParticipationRuns, OfOneWorkerKnowNoHeterogeneity) {
  const auto run = spread_of_some(1);
  EXPECT_FALSE(run.rows.front().has(Column::heterogeneity));
  EXPECT_TRUE(run.rows.front().has(Column::noise_variance));
}

// The gap is the sum of all residuals over m, here 4 times their mean.
TEST(ParticipationRuns, LeaveTheCellsOfAnAbsentWorkerEmpty) {
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}}, .aggregator = {{"kind", "allgather"}}};
  recipe.workers = 4;
  recipe.participants = 1;
  recipe.iterations = 10;
  const auto run = test::measure(test::noisy_quadratic(6, 0.5), recipe);
  ASSERT_EQ(run.workers.size(), 40U);
  std::vector<double> residuals(4);
  for (std::size_t t = 0; t < 10; ++t) {
    int present = 0;
    double gap = 0;
    for (std::size_t p = 0; p < 4; ++p) {
      const DetailRow& row = run.workers[4 * t + p];
      const bool is_there = row.get(WorkerColumn::nnz_sent).has_value();
      present += is_there ? 1 : 0;
      for (const auto column : {WorkerColumn::worker_grad_norm_sq,
                                WorkerColumn::worker_accumulator_norm_sq,
                                WorkerColumn::sent_norm_sq}) {
        EXPECT_EQ(row.get(column).has_value(), is_there);
      }
      if (!is_there) {
        EXPECT_EQ(row.get(WorkerColumn::residual_norm_sq), residuals[p]);
      }
      residuals[p] = row.get(WorkerColumn::residual_norm_sq).value();
      gap += residuals[p];
    }
    EXPECT_EQ(present, 1);
    EXPECT_EQ(run.rows[t][Column::nnz_sent], 2);
    EXPECT_NEAR(run.rows[t][Column::gap_norm_sq],
                16 * run.rows[t][Column::mean_residual_norm_sq],
                1e-12 * run.rows[t][Column::gap_norm_sq]);
    EXPECT_NEAR(run.rows[t][Column::residual_norm_sq], gap / 4, 1e-12 * gap);
  }
}

}  // namespace
}  // namespace residuum
