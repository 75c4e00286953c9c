// The values of workers.csv, against hand calculation and against iterations.csv.

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "assumptions/detail_rows.h"
#include "core/protocols/protocol.h"
#include "tests/assumptions/support.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

double sum_over(const std::vector<DetailRow>& rows, WorkerColumn column) {
  return std::accumulate(rows.begin(), rows.end(), 0.0, [&](double sum, const DetailRow& row) {
    return sum + row.get(column).value();
  });
}

std::vector<DetailRow> of_iteration(const test::MeasuredRun& run, std::uint64_t t) {
  std::vector<DetailRow> rows;
  for (const auto& row : run.workers) {
    if (row.iteration() == t) {
      rows.push_back(row);
    }
  }
  return rows;
}

/// Worker p's gradient is rows[p] everywhere; Top_1, gathered from all, step 1.
test::MeasuredRun two_steps_of(const std::vector<std::vector<double>>& rows) {
  const test::TinyObjective objective(
      std::vector<double>(rows.front().size()),
      [&](const Draw& draw, std::span<const double> /*w*/, std::span<double> g) {
        const auto& row = rows[static_cast<std::size_t>(draw.worker)];
        std::copy(row.begin(), row.end(), g.begin());
      });
  Recipe recipe;
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 1}};
  recipe.aggregator = {{"kind", "allgather"}};
  recipe.step = {{"value", 1.0}};
  recipe.workers = static_cast<int>(rows.size());
  recipe.iterations = 2;
  return test::measure(objective, recipe);
}

TEST(WorkerDetails, AreThoseOfTwoStepsDoneByHand) {
  // Worker 0: a = (3, 1), sends 3, keeps (0, 1); then a = (3, 2), sends 3, keeps (0, 2).
  // Worker 1: a = (0, 2), sends 2, keeps nothing; then the same again.
  const auto run = two_steps_of({{3, 1}, {0, 2}});

  ASSERT_EQ(run.workers.size(), 4U);
  const auto expect = [&](std::size_t i, const std::vector<double>& values) {
    const DetailRow& row = run.workers[i];
    EXPECT_EQ(row.iteration(), i / 2);
    EXPECT_EQ(row.part(), std::to_string(i % 2));
    EXPECT_EQ(row.get(WorkerColumn::nnz_sent), 1);
    EXPECT_EQ(row.get(WorkerColumn::worker_grad_norm_sq), values[0]);
    EXPECT_EQ(row.get(WorkerColumn::worker_accumulator_norm_sq), values[1]);
    EXPECT_EQ(row.get(WorkerColumn::residual_norm_sq), values[2]);
    EXPECT_EQ(row.get(WorkerColumn::residual_norm_inf), values[3]);
    EXPECT_EQ(row.get(WorkerColumn::sent_norm_sq), values[4]);
    EXPECT_FALSE(row.get(WorkerColumn::noise_variance)) << "nobody split the batches";
    EXPECT_EQ(row.get(WorkerColumn::total_error), values[5]);
    EXPECT_EQ(row.get(WorkerColumn::total_nnz_sent), static_cast<double>(i / 2 + 1));
  };
  expect(0, {10, 10, 1, 1, 9, 1});
  expect(1, {4, 4, 0, 0, 4, 0});
  expect(2, {10, 13, 4, 2, 9, 5});
  expect(3, {4, 4, 0, 0, 4, 0});
}

/// There are four workers, a power of two: a mean over it rounds nothing.
void expect_sums_of_the_iteration(const test::MeasuredRun& run) {
  ASSERT_FALSE(run.rows.empty());
  for (const auto& row : run.rows) {
    const auto workers = of_iteration(run, row.row.iteration());
    ASSERT_EQ(workers.size(), 4U);
    EXPECT_EQ(sum_over(workers, WorkerColumn::nnz_sent), row[Column::nnz_sent]);
    EXPECT_EQ(sum_over(workers, WorkerColumn::total_nnz_sent), row[Column::total_nnz_sent]);
    EXPECT_EQ(sum_over(workers, WorkerColumn::total_error), row[Column::total_error]);
    EXPECT_EQ(sum_over(workers, WorkerColumn::residual_norm_sq) / 4, row[Column::residual_norm_sq]);
    EXPECT_EQ(sum_over(workers, WorkerColumn::worker_accumulator_norm_sq) / 4,
              row[Column::worker_accumulator_norm_sq]);
    EXPECT_EQ(sum_over(workers, WorkerColumn::worker_grad_norm_sq) / 4,
              row[Column::worker_grad_norm_sq]);
    EXPECT_EQ(sum_over(workers, WorkerColumn::noise_variance) / 4, row[Column::noise_variance]);
  }
}

TEST(WorkerDetails, HaveTheMeansAndSumsOfTheIteration) {
  Recipe recipe;
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 4}};
  recipe.aggregator = {{"kind", "gtopk-tree"}};
  recipe.workers = 4;
  recipe.iterations = 20;
  recipe.measured = 3;
  recipe.split = 3;

  const auto local = make_protocol(Section("protocol", Json{{"kind", "local"}, {"period", 3}}));
  const std::array<const Protocol*, 2> protocols{&bulk_synchronous(), local.get()};
  for (const Protocol* protocol : protocols) {
    recipe.protocol = protocol;
    expect_sums_of_the_iteration(test::measure(test::noisy_quadratic(40, 0.5), recipe));
  }
}

}  // namespace
}  // namespace residuum
