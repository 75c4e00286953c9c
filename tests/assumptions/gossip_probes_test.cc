// Probes of runs in which workers mix models leave undefined values empty, and see that the mean of
// the models is the virtual iterate up to rounding.

#include <gtest/gtest.h>

#include <memory>

#include "core/protocols/protocol.h"
#include "tests/assumptions/support.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

struct GossipRun {
  std::unique_ptr<Protocol> protocol;
  Recipe recipe;
};

GossipRun gossip_run(bool compresses) {
  Json keys{{"kind", "gossip"}, {"graph", "ring"}};
  GossipRun run;
  if (compresses) {
    keys["mixing"] = "choco";
    keys["consensus_step"] = 0.3;
    run.recipe.sparsifier = {{"kind", "top-k"}, {"k", 3}};
  }
  run.protocol = make_protocol(Section("protocol", keys));
  run.recipe.protocol = run.protocol.get();
  run.recipe.feedback = {{"kind", "none"}};
  run.recipe.step = {{"rule", "inv-sqrt"}, {"value", 0.2}};
  run.recipe.workers = 6;
  run.recipe.iterations = 40;
  run.recipe.evaluated = Json(1);
  run.recipe.split = Json(1);
  run.recipe.sorted = Json(1);
  run.recipe.virtual_points = Json(1);
  return run;
}

TEST(GossipProbes, LeaveEmptyWhatIsUndefined) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (const bool compresses : {false, true}) {
    const GossipRun given = gossip_run(compresses);
    const auto run = test::measure(objective, given.recipe);
    ASSERT_EQ(run.rows.size(), 40U);
    for (const auto& row : run.rows) {
      for (const Column column : {Column::delta,
                                  Column::delta_in,
                                  Column::delta_out,
                                  Column::captured_energy,
                                  Column::xi,
                                  Column::accumulator_norm_sq,
                                  Column::tail_ratio,
                                  Column::worker_accumulator_norm_sq,
                                  Column::residual_norm_sq,
                                  Column::mean_residual_norm_sq,
                                  Column::total_error,
                                  Column::lost_mass_norm_sq,
                                  Column::nnz_applied,
                                  Column::rounds,
                                  Column::heterogeneity,
                                  Column::gradient_bias,
                                  Column::grad_norm_sq_split,
                                  Column::half_batch_bias,
                                  Column::staleness_mean,
                                  Column::virtual_s,
                                  Column::weight_skew}) {
        EXPECT_FALSE(row.has(column)) << kColumns[static_cast<std::size_t>(column)].name;
      }
      for (const Column column : {Column::loss,
                                  Column::grad_norm_sq,
                                  Column::mean_grad_norm_sq,
                                  Column::gap_norm_sq,
                                  Column::virtual_loss,
                                  Column::worker_grad_norm_sq,
                                  Column::noise_variance,
                                  Column::compressor_delta}) {
        EXPECT_TRUE(row.has(column)) << kColumns[static_cast<std::size_t>(column)].name;
      }
    }
    for (const auto& worker : run.workers) {
      EXPECT_FALSE(worker.get(WorkerColumn::residual_norm_sq).has_value());
      EXPECT_TRUE(worker.get(WorkerColumn::worker_grad_norm_sq).has_value());
    }
    for (const auto& layer : run.layers) {
      EXPECT_FALSE(layer.get(LayerColumn::delta).has_value());
      EXPECT_FALSE(layer.get(LayerColumn::nnz_sent).has_value());
      EXPECT_TRUE(layer.get(LayerColumn::mean_grad_norm_sq).has_value());
    }
  }
}

TEST(GossipProbes, CountVersionsGradientsAndConsensus) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  const GossipRun given = gossip_run(true);
  const auto run = test::measure(objective, given.recipe);
  const auto& row = run.rows[9];
  EXPECT_EQ(row[Column::version], 10);
  EXPECT_EQ(row[Column::contributions], 6);
  EXPECT_EQ(row[Column::total_contributions], 60);
  EXPECT_GT(row[Column::consensus_sq], 0);
  EXPECT_EQ(row[Column::nnz_sent], 6 * 3);
  EXPECT_EQ(row[Column::uplink_bytes], 6 * 2 * 3 * 12);  // two neighbours, 12 bytes an entry
  EXPECT_EQ(row[Column::downlink_bytes], 0) << "no server";
  EXPECT_EQ(row[Column::total_sent_bytes], 10 * 6 * 2 * 3 * 12);
  EXPECT_LE(row[Column::compressor_delta], 4);  // top-3 of 12 keeps a quarter at least
}

TEST(GossipProbes, FindThatMixingLosesNothingButRounding) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (const bool compresses : {false, true}) {
    for (const auto precision : {Precision::float32, Precision::float64}) {
      GossipRun given = gossip_run(compresses);
      given.recipe.precision = precision;
      given.recipe.iterations = 5000;
      given.recipe.measured = Json(10);
      for (auto* often : {&given.recipe.evaluated,
                          &given.recipe.split,
                          &given.recipe.sorted,
                          &given.recipe.virtual_points}) {
        often->reset();
      }
      for (const auto& row : test::measure(objective, given.recipe).rows) {
        const auto& check = row.check("conservation");
        EXPECT_TRUE(check.hard && check.expected);
        ASSERT_TRUE(check.holds) << check.lhs << " against " << check.rhs;
        // Whatever the precision of the messages: 5000 versions with (2 (P + 4) 3 + 8) roundings of
        // vectors of norm 8 at most, 2^-53 each.
        ASSERT_LE(check.rhs, 5000 * 68 * 8 * 0x1.0p-53);
        ASSERT_TRUE(row.check("pathwise-residual").holds);
      }
    }
  }
}

}  // namespace
}  // namespace residuum
