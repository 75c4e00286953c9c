// The other probes on one step that can be followed by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/assumptions/support.h"

namespace residuum {
namespace {

using test::StepSight;
using test::top_k_step;
using Rows = test::Rows<double>;

const Rows one_hots{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
const Rows leak{{5, 0}, {5, 0}, {0, 6}, {1, 0}};

TEST(Xi, IsHalfTheRootOfThreeForDisjointOneHots) {
  // Top_1 of the mean is (1/4, 0, 0, 0), the mean of the Top_1 all of (1/4, ..., 1/4), of norm 1/2.
  EXPECT_NEAR(top_k_step(one_hots, "allgather", 1)[Column::xi], std::sqrt(3) / 2, 1e-15);
}

TEST(Xi, IsZeroForIdenticalWorkers) {
  EXPECT_EQ(top_k_step({{1, 2, 3}, {1, 2, 3}}, "gtopk-tree", 2)[Column::xi], 0);
}

TEST(Xi, IsRelativeToTheStepOfTheMeanGradient) {
  StepSight sight(
      one_hots,
      {.sparsifier = {{"kind", "top-k"}, {"k", 1}}, .aggregator = {{"kind", "allgather"}}},
      1);
  sight.view.memory_step = 4;

  EXPECT_NEAR(sight.seen()[Column::xi], std::sqrt(3) / 8, 1e-15);
}

TEST(Xi, IsNotMeasuredWithoutGradientAndForWholeMessages) {
  const std::vector<double> zero(4);
  StepSight sight(
      one_hots,
      {.sparsifier = {{"kind", "top-k"}, {"k", 1}}, .aggregator = {{"kind", "allgather"}}},
      1);
  sight.view.mean.gradient = zero;
  EXPECT_FALSE(sight.seen().has(Column::xi));

  const StepSight whole(
      one_hots, {.sparsifier = {{"kind", "none"}}, .aggregator = {{"kind", "dense"}}}, 4);
  EXPECT_FALSE(whole.seen().has(Column::xi));
}

// Alistarh et al. assume it of Top-k, which a random selection of as many entries is not.
TEST(Xi, IsMeasuredWhereMessagesAreTheLargestEntriesAlone) {
  const auto measured = [](const nlohmann::json& sparsifier) {
    return StepSight({{3, 1, 2, 0}, {1, 5, 2, 4}},
                     {.sparsifier = sparsifier, .aggregator = {{"kind", "allgather"}}},
                     1)
        .seen()
        .has(Column::xi);
  };
  EXPECT_TRUE(measured({{"kind", "top-k"}, {"k", 1}}));
  EXPECT_FALSE(measured({{"kind", "rand-k"}, {"k", 1}}));
  EXPECT_FALSE(measured({{"kind", "chunk-top-k"}, {"k", 2}, {"block", 2}}));
}

TEST(LostMass, IsOneForPublishedAndNothingForCapturedInTheMinimalCase) {
  const auto published = top_k_step(leak, "gtopk-tree", 1, "published");
  EXPECT_EQ(published[Column::lost_mass_norm_sq], 1);
  EXPECT_FALSE(published.check("lost-mass").holds);
  EXPECT_FALSE(published.check("lost-mass").expected);
  // w - z misses the lost 1 over four workers.
  EXPECT_FALSE(published.check("conservation").holds);
  EXPECT_NEAR(published.check("conservation").lhs, 0.25, 1e-15);

  const auto captured = top_k_step(leak, "gtopk-tree", 1, "captured");
  EXPECT_EQ(captured[Column::lost_mass_norm_sq], 0);
  EXPECT_TRUE(captured.check("lost-mass").holds);
  EXPECT_TRUE(captured.check("lost-mass").expected);
  EXPECT_TRUE(captured.check("conservation").holds);
  EXPECT_LE(captured[Column::conservation_defect], 1e-15);
}

TEST(LostMass, CountsWhatDiscardThrowsAway) {
  // Rejected: worker 2's 6; cut in a merge: worker 3's 1.
  EXPECT_EQ(top_k_step(leak, "gtopk-tree", 1, "discard")[Column::lost_mass_norm_sq], 37);
}

TEST(LostMass, CountsWhatNoFeedbackForgets) {
  // Left behind: (0, 0.5, 1) and (1, 0, -1); their sum is (1, 0.5, 0).
  const StepSight sight({{4, 0.5, 1}, {1, 3, -1}},
                        {.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                         .aggregator = {{"kind", "allgather"}},
                         .feedback = {{"kind", "none"}}},
                        1);
  EXPECT_NEAR(sight.seen()[Column::lost_mass_norm_sq], 1.25, 1e-15);
}

TEST(LostMass, IsNothingForTheDenseSum) {
  const StepSight sight({{0.1, 0.7}, {0.3, -0.2}, {1e-9, 3}},
                        {.sparsifier = {{"kind", "none"}}, .aggregator = {{"kind", "dense"}}},
                        2);
  EXPECT_EQ(sight.seen()[Column::lost_mass_norm_sq], 0);
}

TEST(Conservation, SeesALossThatOnlyTheListsOfTheResidualUpdateHide) {
  // The lists say that all is well, the model does not: somebody applied the wrong update.
  StepSight sight(
      leak,
      {.sparsifier = {{"kind", "top-k"}, {"k", 1}}, .aggregator = {{"kind", "gtopk-tree"}}},
      1);
  sight.model[1] += 1e-9;

  const auto seen = sight.seen();
  EXPECT_TRUE(seen.check("lost-mass").holds);
  EXPECT_FALSE(seen.check("conservation").holds);
}

TEST(Contraction, IsTheShareOfTheGapThatRemains) {
  // mean a = (11/4, 6/4); the update takes 10/4 at index 0: the gap is (1/4, 6/4).
  const auto seen = top_k_step(leak, "gtopk-tree", 1);

  EXPECT_NEAR(seen[Column::contraction], 37.0 / 157, 1e-15);
  EXPECT_NEAR(seen[Column::gap_norm_sq], 37.0 / 16, 1e-15);
  EXPECT_NEAR(seen[Column::mean_grad_norm_sq], 157.0 / 16, 1e-14);
  EXPECT_TRUE(seen.check("contraction").holds);
  EXPECT_NEAR(seen.check("pathwise-residual").rhs, std::sqrt(37.0) / 4, 1e-15);
  EXPECT_TRUE(seen.check("pathwise-residual").holds);
}

TEST(Contraction, IsAboveOneWhereTheUpdateLeadsAway) {
  // With e = 1/64 the means are (e/2, -e/2) and the update is (1 + e)/2: q = (1 + e^2) / (2 e^2).
  const auto seen = top_k_step({{1.015625, 1}, {-1, -1.015625}}, "gtopk-exact", 1);

  EXPECT_EQ(seen[Column::contraction], 4097.0 / 2);
  EXPECT_FALSE(seen.check("contraction").holds);
  EXPECT_FALSE(seen.check("contraction").hard);
  EXPECT_TRUE(seen.check("pathwise-residual").holds);
}

TEST(Contraction, IsNotMeasuredWhereThereIsNothingToContract) {
  const auto seen = top_k_step({{0, 0}, {0, 0}}, "gtopk-exact", 1);

  EXPECT_FALSE(seen.has(Column::contraction));
  EXPECT_EQ(seen[Column::gap_norm_sq], 0);
}

TEST(Residual, AveragesOverWorkersAndAddsUp) {
  // Residuals (0,0), (0,0), (1,6), (0,0).
  const auto seen = top_k_step(leak, "gtopk-tree", 1);

  EXPECT_EQ(seen[Column::residual_norm_sq], 37.0 / 4);
  EXPECT_EQ(seen[Column::mean_residual_norm_sq], 37.0 / 16);
  EXPECT_EQ(seen[Column::total_error], 37);
}

TEST(Residual, ChecksTheThresholdOfEveryWorker) {
  StepSight sight({{1, 0.25}, {0.5, -2}},
                  {.sparsifier = {{"kind", "hard-threshold"}, {"threshold", 0.75}},
                   .aggregator = {{"kind", "allgather"}}},
                  2);
  sight.view.selection.threshold = 0.75;
  const auto seen = sight.seen();
  int looked = 0;
  for (const auto& check : seen.checks) {
    if (check.name == "threshold-bound") {
      EXPECT_EQ(check.worker, looked++);
      EXPECT_TRUE(check.holds);
      EXPECT_EQ(check.rhs, 0.75);
    }
  }
  EXPECT_EQ(looked, 2);
  EXPECT_FALSE(seen.has(Column::xi)) << "a threshold has no k to compare with";

  sight.view.selection.threshold = 0.5;  // worker 1 has a residual of 0.5: not below
  EXPECT_FALSE(sight.seen().checks.empty());
  bool broken = false;
  for (const auto& check : sight.seen().checks) {
    broken = broken || (check.name == "threshold-bound" && !check.holds && check.worker == 1);
  }
  EXPECT_TRUE(broken);
}

// EControl's e^p grows by the errors of all messages, and only a part of it is in a^p: no threshold
// on a^p bounds it.
TEST(Residual, ChecksNoThresholdOfResidualsThatAccumulatorsLack) {
  StepSight sight({{1, 0.25}, {0.5, -2}},
                  {.sparsifier = {{"kind", "hard-threshold"}, {"threshold", 0.75}},
                   .aggregator = {{"kind", "allgather"}}},
                  2);
  sight.view.selection.threshold = 0.75;
  sight.facts.feedback.memory = Memory::control;
  for (const auto& check : sight.seen().checks) {
    EXPECT_NE(check.name, "threshold-bound");
  }
}

TEST(TrafficProbe, CountsEntriesBytesAndRounds) {
  const auto seen = top_k_step(leak, "gtopk-tree", 1);

  EXPECT_EQ(seen[Column::nnz_sent], 4);
  EXPECT_EQ(seen[Column::nnz_applied], 1);
  EXPECT_EQ(seen[Column::uplink_bytes], 6 * 12);
  EXPECT_EQ(seen[Column::rounds], 4);
  EXPECT_TRUE(seen.check("bytes").holds);
  EXPECT_TRUE(seen.check("bytes").hard);
}

TEST(TrafficProbe, SeesAByteTooMany) {
  StepSight sight(
      leak,
      {.sparsifier = {{"kind", "top-k"}, {"k", 1}}, .aggregator = {{"kind", "allgather"}}},
      1);
  EXPECT_TRUE(sight.seen().check("bytes").holds);
  ++sight.view.exchange.traffic.bytes;
  EXPECT_FALSE(sight.seen().check("bytes").holds);
  sight.view.exchange.traffic.bytes -= 2;
  EXPECT_FALSE(sight.seen().check("bytes").holds) << "the model of an all-gather is exact";
}

TEST(TrafficProbe, CountsTheNonZeroEntriesOfADenseUpdate) {
  const StepSight sight({{1, 0, 2}, {-1, 0, 3}},
                        {.sparsifier = {{"kind", "none"}}, .aggregator = {{"kind", "dense"}}},
                        3);
  EXPECT_EQ(sight.seen()[Column::nnz_applied], 1);
  EXPECT_EQ(sight.seen()[Column::nnz_sent], 6);
}

}  // namespace
}  // namespace residuum
