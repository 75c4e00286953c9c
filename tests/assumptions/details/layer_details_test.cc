// The values of layers.csv: by hand, by brute force over whole vectors, and against the columns of
// iterations.csv, which layers must add up to.

#include <gtest/gtest.h>

#include "assumptions/detail_rows.h"
#include "tests/assumptions/support.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;
using Rows = test::Rows<double>;
using test::StepSight;

std::vector<DetailRow> rows_of(const StepView& view, const std::vector<std::size_t>& sizes) {
  std::vector<NumberedLayer> layers;
  std::size_t offset = 0;
  for (const std::size_t size : sizes) {
    layers.push_back({layers.size(),
                      {.name = fmt::format("layer{}", layers.size()),
                       .shape = {static_cast<std::int64_t>(size)},
                       .offset = offset,
                       .size = size}});
    offset += size;
  }
  test::RowKeeper keeper;
  write_layer_details(layers, view, keeper);
  return keeper.details;
}

double value(const DetailRow& row, LayerColumn column) { return row.get(column).value(); }

StepSight exact_step(const Rows& accumulators, std::size_t k) {
  return {accumulators,
          {.sparsifier = {{"kind", "top-k"}, {"k", k}}, .aggregator = {{"kind", "gtopk-exact"}}},
          k};
}

// Worker 0 sends 4 at 0, worker 1 sends 2 at 2 (the lower of two equal ones); 4 wins and the 2 is
// put back. mean a = (2, 1, 2, 1), g/P = (2, 0, 0, 0), rho = 1/4.
const Rows kTwoLayers{{4, 1, 2, 0}, {0, 1, 2, 2}};

TEST(LayerDetails, AreThoseOfAStepDoneByHand) {
  const auto sight = exact_step(kTwoLayers, 1);

  const auto rows = rows_of(sight.view, {2, 2});

  ASSERT_EQ(rows.size(), 2U);
  const auto expect = [&](std::size_t l, const std::vector<double>& values) {
    EXPECT_EQ(rows[l].part(), fmt::format("layer{}", l));
    EXPECT_EQ(value(rows[l], LayerColumn::size), 2);
    EXPECT_EQ(value(rows[l], LayerColumn::k), 0.5);
    EXPECT_EQ(value(rows[l], LayerColumn::nnz_sent), 1);
    EXPECT_EQ(value(rows[l], LayerColumn::nnz_applied), values[0]);
    EXPECT_EQ(value(rows[l], LayerColumn::mean_grad_norm_sq), 5);
    EXPECT_EQ(value(rows[l], LayerColumn::accumulator_norm_sq), 5);
    EXPECT_EQ(value(rows[l], LayerColumn::mean_residual_norm_sq), values[1]);
    EXPECT_EQ(value(rows[l], LayerColumn::gap_norm_sq), values[1]);
    EXPECT_DOUBLE_EQ(value(rows[l], LayerColumn::delta), values[2]);
    EXPECT_EQ(value(rows[l], LayerColumn::delta_in), 0);
    EXPECT_DOUBLE_EQ(value(rows[l], LayerColumn::captured_energy), values[3]);
  };
  expect(0, {1, 1, 4.0 / 15, 0.8});
  expect(1, {0, 5, 4.0 / 3, 0});  // nothing applied: 1 / (1 - rho)
  EXPECT_DOUBLE_EQ(sight.seen()[Column::delta], (4.0 / 15 + 4.0 / 3) / 2) << "equal energies";
}

TEST(LayerDetails, SplitDeltaIntoSelectedAndOtherIndices) {
  // mean a = (5, 10.5, 10.5), g/2 = (15, 10.5, 0), rho = 2/3.
  const auto rows = rows_of(exact_step({{30, 0, 0}, {-20, 21, 21}}, 2).view, {1, 2});

  EXPECT_NEAR(value(rows[0], LayerColumn::delta_in), 12, 1e-13);
  EXPECT_EQ(value(rows[0], LayerColumn::delta_out), 0);
  EXPECT_EQ(value(rows[0], LayerColumn::captured_energy), -3);
  EXPECT_EQ(value(rows[1], LayerColumn::delta_in), 0);
  EXPECT_NEAR(value(rows[1], LayerColumn::delta_out), 1.5, 1e-14);
}

TEST(LayerDetails, TakeTheLayersOwnKWhereLayersAreSelectedFromOneByOne) {
  auto sight = exact_step(kTwoLayers, 1);
  sight.view.selection.by_layer = true;
  sight.view.selection.layer_k = {1, 1};

  const auto rows = rows_of(sight.view, {2, 2});

  EXPECT_EQ(value(rows[0], LayerColumn::k), 1);
  EXPECT_DOUBLE_EQ(value(rows[0], LayerColumn::delta), 0.4);  // 1 / ((1/2) 5)
  EXPECT_DOUBLE_EQ(value(rows[1], LayerColumn::delta), 2);
}

TEST(LayerDetails, TakeWhatWasSentOfALayerWhereTheDataDecide) {
  auto sight = exact_step({{4, 1, 1, 0}, {3, 1, 1, 1}}, 1);  // both send index 0
  sight.view.selection.by_layer = true;

  const auto rows = rows_of(sight.view, {2, 2});

  EXPECT_EQ(value(rows[0], LayerColumn::k), 1);
  EXPECT_EQ(value(rows[1], LayerColumn::k), 0);
  EXPECT_EQ(value(rows[1], LayerColumn::delta), 1) << "a random choice of nothing loses as much";
}

TEST(LayerDetails, HaveNoDeltaWhereThereIsNothingToLose) {
  auto sight = exact_step({{4, 1, 0, 0}, {0, 1, 0, 0}}, 1);
  sight.view.selection.by_layer = true;
  sight.view.selection.layer_k = {2, 1};

  const auto rows = rows_of(sight.view, {2, 2});

  EXPECT_FALSE(rows[0].get(LayerColumn::delta)) << "rho_l = 1";
  EXPECT_TRUE(rows[0].get(LayerColumn::captured_energy));
  EXPECT_FALSE(rows[1].get(LayerColumn::delta)) << "a_l = 0";
  EXPECT_FALSE(rows[1].get(LayerColumn::captured_energy));
}

TEST(LayerDetails, OfASingleLayerAreTheColumnsOfTheIteration) {
  const auto sight = exact_step({{30, 0, 0}, {-20, 21, 21}}, 2);
  const auto row = rows_of(sight.view, {3}).front();
  const auto whole = sight.seen();

  EXPECT_EQ(value(row, LayerColumn::delta), whole[Column::delta]);
  EXPECT_EQ(value(row, LayerColumn::delta_in), whole[Column::delta_in]);
  EXPECT_EQ(value(row, LayerColumn::delta_out), whole[Column::delta_out]);
  EXPECT_EQ(value(row, LayerColumn::captured_energy), whole[Column::captured_energy]);
  EXPECT_EQ(value(row, LayerColumn::gap_norm_sq), whole[Column::gap_norm_sq]);
}

constexpr std::size_t kDimension = 40;

/// Two orders of adding d squares differ by less than 2 d u of their sum.
void expect_same_sum(double a, double b) {
  EXPECT_NEAR(a, b, 2 * kDimension * 0x1.0p-53 * std::abs(b));
}

void expect_layers_add_up(const test::MeasuredRun& run) {
  ASSERT_EQ(run.layers.size(), 3 * run.rows.size());
  for (std::size_t t = 0; t < run.rows.size(); ++t) {
    const auto sum = [&](LayerColumn column) {
      double total = 0;
      for (std::size_t l = 0; l < 3; ++l) {
        total += value(run.layers[3 * t + l], column);
      }
      return total;
    };
    const auto& row = run.rows[t];
    EXPECT_EQ(sum(LayerColumn::size), kDimension);
    EXPECT_EQ(sum(LayerColumn::nnz_sent), row[Column::nnz_sent]);
    EXPECT_EQ(sum(LayerColumn::nnz_applied), row[Column::nnz_applied]);
    expect_same_sum(sum(LayerColumn::mean_grad_norm_sq), row[Column::mean_grad_norm_sq]);
    expect_same_sum(sum(LayerColumn::accumulator_norm_sq), row[Column::accumulator_norm_sq]);
    expect_same_sum(sum(LayerColumn::mean_residual_norm_sq), row[Column::mean_residual_norm_sq]);
    expect_same_sum(sum(LayerColumn::gap_norm_sq), row[Column::gap_norm_sq]);
  }
}

TEST(LayerDetails, AddUpToTheColumnsOfTheIterationForEveryMethod) {
  const auto objective = test::noisy_quadratic(kDimension, 0.5);
  for (Recipe recipe : test::methods()) {
    recipe.workers = 3;
    recipe.iterations = 6;
    SCOPED_TRACE(test::name_of(recipe));
    expect_layers_add_up(test::measure(objective, recipe));
  }
}

/// Keeps whole vectors beside the rows.
class Witness final : public StepObserver {
 public:
  void observe(const StepView& view) override {
    frames.emplace_back(view);
    sent.emplace_back(view.exchange.sent.begin(), view.exchange.sent.end());
    write_layer_details(test::three_layers(view.dimension()), view, keeper);
  }

  std::vector<test::Frame> frames;
  std::vector<std::vector<SparseVector<double>>> sent;
  test::RowKeeper keeper;
};

/// Compares with sums over the entries that are marked as the layer, without any kernel.
void expect_brute_force(const test::Frame& frame,
                        const std::vector<SparseVector<double>>& sent,
                        const Layer& layer,
                        double rho,
                        const DetailRow& row) {
  double entries_sent = 0;
  for (const auto& list : sent) {
    for (const auto i : list.indices) {
      entries_sent += i >= layer.offset && i < layer.offset + layer.size ? 1 : 0;
    }
  }
  double applied = 0;
  double total = 0;
  double error = 0;
  for (std::size_t j = 0; j < kDimension; ++j) {
    if (j < layer.offset || j >= layer.offset + layer.size) {
      continue;
    }
    const double a = frame.mean_accumulator[j];
    const double miss = a - frame.update[j] / 3;
    applied += frame.update[j] != 0 ? 1 : 0;
    total += a * a;
    error += miss * miss;
  }
  EXPECT_EQ(value(row, LayerColumn::nnz_sent), entries_sent);
  EXPECT_EQ(value(row, LayerColumn::nnz_applied), applied);
  expect_same_sum(value(row, LayerColumn::accumulator_norm_sq), total);
  ASSERT_EQ(row.get(LayerColumn::delta).has_value(), rho < 1);
  if (rho < 1) {
    const double delta = error / ((1 - rho) * total);
    EXPECT_NEAR(value(row, LayerColumn::delta), delta, 4 * kDimension * 0x1.0p-53 * delta);
  }
}

TEST(LayerDetails, AreThoseOfBruteForceForBothScopes) {
  const auto objective = test::noisy_quadratic(kDimension, 0.5);
  const auto layers = test::three_layers(kDimension);
  for (const char* scope : {"model", "layer"}) {
    Recipe recipe;
    recipe.sparsifier = {{"kind", "top-k"}, {"density", 0.25}, {"scope", scope}};
    recipe.aggregator = {{"kind", "allgather"}};
    recipe.workers = 3;
    recipe.iterations = 10;
    for (const auto& numbered : layers) {
      recipe.layers.push_back({.begin = numbered.layer.offset, .size = numbered.layer.size});
    }
    Witness witness;
    const auto world = make_single_process();
    train(*world, objective, recipe, witness);

    ASSERT_EQ(witness.frames.size(), 10U);
    for (std::size_t t = 0; t < witness.frames.size(); ++t) {
      for (std::size_t l = 0; l < 3; ++l) {
        // k of 4, 1 and 35 entries: 1, 1 and 8; of all 40 together: 10.
        const double own = std::vector{1.0 / 4, 1.0, 8.0 / 35}[l];
        const double rho = scope == std::string("layer") ? own : 0.25;
        expect_brute_force(witness.frames[t],
                           witness.sent[t],
                           layers[l].layer,
                           rho,
                           witness.keeper.details[3 * t + l]);
      }
    }
  }
}

}  // namespace
}  // namespace residuum
