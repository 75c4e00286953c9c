// The committed reference study against its table, all 20 cells to 5 %: values of independent
// programs, with other draws of the problem and of the noise.

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "reports/results/csv.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using Cell = std::tuple<std::string, std::string, int, int>;  // aggregator, put-back, P, k

std::map<Cell, double> expected() {
  return {{{"gtopk-exact", "captured", 4, 2}, 2.762},  {{"gtopk-exact", "captured", 4, 20}, 1.887},
          {{"gtopk-exact", "captured", 32, 2}, 3.631}, {{"gtopk-exact", "captured", 32, 20}, 1.889},
          {{"gtopk-tree", "published", 4, 2}, 2.846},  {{"gtopk-tree", "published", 4, 20}, 1.951},
          {{"gtopk-tree", "published", 32, 2}, 5.887}, {{"gtopk-tree", "published", 32, 20}, 3.175},
          {{"gtopk-tree", "captured", 4, 2}, 2.837},   {{"gtopk-tree", "captured", 4, 20}, 1.862},
          {{"gtopk-tree", "captured", 32, 2}, 4.270},  {{"gtopk-tree", "captured", 32, 20}, 1.969},
          {{"gtopk-mask", "captured", 4, 2}, 2.137},   {{"gtopk-mask", "captured", 4, 20}, 1.810},
          {{"gtopk-mask", "captured", 32, 2}, 2.125},  {{"gtopk-mask", "captured", 32, 20}, 1.789},
          {{"allgather", "captured", 4, 2}, 2.107},    {{"allgather", "captured", 4, 20}, 1.807},
          {{"allgather", "captured", 32, 2}, 2.077},   {{"allgather", "captured", 32, 20}, 1.773}};
}

TEST(ReferenceStudy, HasTheTwentyCellsOfItsTable) {
  const TemporaryFolder folder;
  const Finished finished =
      residuum_program({"run",
                        RESIDUUM_STUDIES "/studies/papers/reference_quadratic.toml",
                        "--out",
                        "r",
                        "--progress=none"},
                       folder.path());
  ASSERT_EQ(finished.code, 0) << finished.err;

  std::map<Cell, std::pair<double, int>> sums;
  reports::CsvReader runs(folder.path() / "r" / "runs.csv");
  const auto text = [&](const char* column) { return runs.text(runs.column(column)); };
  while (runs.next()) {
    auto& [sum, count] = sums[{text("p_aggregator_kind"),
                               text("p_feedback_putback"),
                               std::stoi(text("p_workers_count")),
                               std::stoi(text("p_sparsifier_k"))}];
    sum += runs.number(runs.column("average_grad_norm_sq")).value();
    ++count;
  }

  ASSERT_EQ(sums.size(), 20);
  for (const auto& [cell, value] : expected()) {
    const auto& [aggregator, put_back, workers, k] = cell;
    const auto [sum, count] = sums.at(cell);
    EXPECT_EQ(count, 24);
    EXPECT_NEAR(sum / count, value, 0.05 * value)
        << aggregator << ", " << put_back << ", P = " << workers << ", k = " << k;
  }
}

}  // namespace
}  // namespace residuum
