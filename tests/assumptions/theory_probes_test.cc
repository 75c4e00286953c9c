// The probes of certificate, average, tail, traffic, compressor and EF21: expectations known in
// closed form, and checks that hold or are seen to fail.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "objectives/registry.h"
#include "tests/assumptions/support.h"

namespace residuum {
namespace {

using test::convex;
using test::Json;
using test::Recipe;

/// Worker p's gradient is rows[p] everywhere.
test::TinyObjective constant_gradients(std::vector<std::vector<double>> rows) {
  const std::size_t d = rows.front().size();
  return {std::vector<double>(d, 0.0),
          [rows](const Draw& draw, std::span<const double>, std::span<double> g) {
            const auto& row = rows[static_cast<std::size_t>(draw.worker)];
            std::copy(row.begin(), row.end(), g.begin());
          }};
}

TEST(CompressorProbe, HasTheWorstWorkerOfEachClass) {
  Recipe recipe;
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 1}};
  recipe.aggregator = {{"kind", "allgather"}};
  recipe.step = {{"value", 1}};
  recipe.workers = 2;
  // Captured shares 16/25 and 4/5.
  const auto row = test::measure(constant_gradients({{4, 3}, {2, 1}}), recipe).rows[0];

  EXPECT_DOUBLE_EQ(row[Column::compressor_alpha], 16.0 / 25);
  EXPECT_DOUBLE_EQ(row[Column::compressor_beta], 1);
  EXPECT_DOUBLE_EQ(row[Column::compressor_gamma], 16.0 / 25);
  EXPECT_DOUBLE_EQ(row[Column::compressor_delta], 25.0 / 16);
  EXPECT_DOUBLE_EQ(row[Column::worker_accumulator_norm_sq], 15);
}

Recipe ef21(std::uint64_t iterations, int workers) {
  Recipe recipe;
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 1}};
  recipe.aggregator = {{"kind", "allgather"}};
  recipe.feedback = {{"kind", "ef21"}};
  recipe.workers = workers;
  recipe.iterations = iterations;
  return recipe;
}

TEST(Ef21Probe, ChecksTheRecursionOfTheDistortion) {
  // d = 2, k = 1: alpha = 1/2, 1 - theta = sqrt(1/2), beta = (1/2)/(1 - sqrt(1/2)). Gradient (3, 1)
  // twice: distortion 1, then 0; changes 10, then 0.
  const auto run = test::measure(constant_gradients({{3, 1}}), ef21(2, 1));

  EXPECT_EQ(run.rows[0][Column::ef21_distortion], 1);
  EXPECT_EQ(run.rows[0][Column::ef21_change], 10);
  EXPECT_EQ(run.rows[1][Column::ef21_change], 0);
  EXPECT_DOUBLE_EQ(run.rows[0].check("ef21-distortion").rhs, 5 / (1 - std::sqrt(0.5)));
  EXPECT_EQ(run.rows[1][Column::ef21_distortion], 0);
  EXPECT_DOUBLE_EQ(run.rows[1].check("ef21-distortion").rhs, std::sqrt(0.5));
}

TEST(Ef21Probe, WeighsTheWorkersByTheirSmoothness) {
  // L = (1, 3), distortions 4 and 6: 2^-2 (4/(1/4) + 6/(3/4)) = 6.
  const RunFacts facts{.workers = 2, .feedback = {.memory = Memory::estimate}};
  StepView view{.facts = facts};
  std::vector<WorkerScalars> scalars(2);
  scalars[0].residual_norm_sq = 4;
  scalars[1].residual_norm_sq = 6;
  view.worker_scalars = scalars;
  EXPECT_FALSE(test::seen_by({"ef21"}, view).has(Column::ef21_weighted_distortion));

  const std::vector<double> smoothness{1, 3};
  view.worker_smoothness = smoothness;
  EXPECT_DOUBLE_EQ(test::seen_by({"ef21"}, view)[Column::ef21_weighted_distortion], 6);
}

TEST(Ef21Probe, SeesARecursionThatIsBroken) {
  const RunFacts facts{.dimension = 4, .feedback = {.memory = Memory::estimate}};
  StepView view{.facts = facts};
  view.selection.contraction = 0.25;
  view.unit_roundoff = 0x1.0p-53;
  std::vector<WorkerScalars> scalars(1);
  scalars[0].residual_norm_sq = 7;  // at most beta * 1 = 0.75 / (1 - sqrt(0.75)) = 5.6 can be left
  scalars[0].gradient_change_sq = 1;
  view.worker_scalars = scalars;
  EXPECT_FALSE(test::seen_by({"ef21"}, view).check("ef21-distortion").holds);

  scalars[0].residual_norm_sq = 5;
  EXPECT_TRUE(test::seen_by({"ef21"}, view).check("ef21-distortion").holds);
}

TEST(Ef21Probe, HoldsInBothPrecisionsAndConservationToo) {
  const auto objective = test::noisy_quadratic(20, 0.5);
  for (const char* kind : {"ef21", "ef21-sgdm"}) {
    for (const auto precision : {Precision::float32, Precision::float64}) {
      Recipe recipe = ef21(400, 5);
      recipe.feedback = {{"kind", kind}};
      recipe.precision = precision;
      const auto run = test::measure(objective, recipe);
      for (const char* name :
           {"ef21-distortion", "conservation", "lost-mass", "pathwise-residual"}) {
        const auto& check = run.summary.checks.at(name);
        EXPECT_EQ(check.failures, 0U) << kind << ": " << name;
        EXPECT_GE(check.n, 399U) << kind << ": " << name;
      }
    }
  }
}

TEST(Ef21Probe, IsSilentAboutOtherFeedback) {
  Recipe recipe = ef21(1, 1);
  recipe.feedback = {{"kind", "ef14"}};
  const auto run = test::measure(constant_gradients({{3, 1}}), recipe);

  EXPECT_FALSE(run.rows[0].has(Column::ef21_distortion));
}

TEST(ContractionProbe, FollowsTheMemoryFactorFromTheStart) {
  // Gradient (2, 1) for ever, Top-1, eta = 1: e_1 = (0, 1), q_0 = 1/5; a_1 = (2, 2), the tie goes
  // to index 0: e_2 = (0, 2), q_1 = 4/8. R_1 = sqrt(1/5), R_2 = sqrt(1/2) (R_1 + 1).
  Recipe recipe;
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 1}};
  recipe.aggregator = {{"kind", "allgather"}};
  recipe.step = {{"value", 1}};
  recipe.iterations = 2;
  const auto run = test::measure(constant_gradients({{2, 1}}), recipe);

  EXPECT_DOUBLE_EQ(run.rows[0][Column::memory_factor], std::sqrt(0.2));
  EXPECT_DOUBLE_EQ(run.rows[1][Column::memory_factor], std::sqrt(0.5) * (std::sqrt(0.2) + 1));
}

TEST(ContractionProbe, HasNoMemoryFactorAfterAnIterationThatWasNotMeasured) {
  Recipe recipe;
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 1}};
  recipe.aggregator = {{"kind", "allgather"}};
  recipe.iterations = 6;
  recipe.measured = 2;
  const auto run = test::measure(constant_gradients({{2, 1}}), recipe);

  EXPECT_TRUE(run.rows[0].has(Column::memory_factor));
  EXPECT_FALSE(run.rows[1].has(Column::memory_factor));
}

TEST(TailProbe, ComparesTheTailWithTheClaimWhereItMaySort) {
  // ColumnMean accumulator (4, 2, 1, 0), squares 16, 4, 1, 0 of 21, k = 1: the tail holds 5/21, the
  // claim allows 9/16. Their second differences 9, 2 are positive: convex.
  Recipe recipe;
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 1}};
  recipe.aggregator = {{"kind", "allgather"}};
  recipe.step = {{"value", 1}};
  recipe.iterations = 4;
  recipe.sorted = 3;
  const auto run = test::measure(constant_gradients({{4, 2, 1, 0}}), recipe);

  EXPECT_DOUBLE_EQ(run.rows[0][Column::tail_ratio], 5.0 / 21);
  EXPECT_EQ(run.rows[0][Column::tail_convexity], 1);
  EXPECT_DOUBLE_EQ(run.rows[0].check("tail-claim").rhs, 9.0 / 16);
  EXPECT_TRUE(run.rows[0].check("tail-claim").holds);
  EXPECT_FALSE(run.rows[1].has(Column::tail_ratio));
  EXPECT_TRUE(run.rows[3].has(Column::tail_ratio));
}

TEST(TailProbe, SeesTheClaimFailForEqualMagnitudes) {
  // Nothing decays: 3/4 is left, above (3/4)^2.
  Recipe recipe;
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 1}};
  recipe.aggregator = {{"kind", "allgather"}};
  recipe.sorted = 1;
  const auto run = test::measure(constant_gradients({{1, 1, -1, 1}}), recipe);

  EXPECT_DOUBLE_EQ(run.rows[0][Column::tail_ratio], 0.75);
  EXPECT_FALSE(run.rows[0].check("tail-claim").holds);
}

TEST(AverageProbe, IsTheLossGapAtTheAverage) {
  const auto objective = test::noisy_quadratic(3, 0);
  Recipe recipe;
  recipe.iterations = 1;
  recipe.evaluated = 1;
  recipe.averages_iterates = true;
  recipe.minimum = 0.25;
  const auto row = test::measure(objective, recipe).rows[0];

  EXPECT_DOUBLE_EQ(row[Column::averaged_loss_gap], row[Column::loss] - 0.25);
}

TEST(TrafficProbe, HasTotalsOverAllIterationsWhateverIsMeasured) {
  const auto objective = test::noisy_quadratic(10, 0.3);
  Recipe recipe;
  recipe.sparsifier = {{"kind", "hard-threshold"}, {"threshold", 0.1}};
  recipe.aggregator = {{"kind", "allgather"}};
  recipe.workers = 3;
  recipe.iterations = 25;
  const auto all = test::measure(objective, recipe);
  double bytes = 0;
  double sent = 0;
  for (const auto& row : all.rows) {
    bytes += row[Column::sent_bytes];
    sent += row[Column::nnz_sent];
  }
  recipe.measured = 9;
  const auto some = test::measure(objective, recipe);

  EXPECT_LT(some.rows.size(), all.rows.size());
  EXPECT_EQ(some.rows.back()[Column::total_sent_bytes], bytes);
  EXPECT_EQ(some.rows.back()[Column::total_nnz_sent], sent);
  EXPECT_EQ(some.summary.sent_bytes, bytes);
}

TEST(CertificateProbe, HasTheUnperturbedIterateWhereMomentumOrDecayMakeItAnother) {
  const auto objective = test::noisy_quadratic(3, 0.1);
  Recipe recipe;
  recipe.iterations = 5;
  recipe.evaluated = 1;
  recipe.virtual_points = 1;
  recipe.unperturbed = true;
  recipe.split = 1;
  EXPECT_FALSE(test::measure(objective, recipe).rows[4].has(Column::unperturbed_loss));

  recipe.momentum = 0.5;
  const auto with_momentum = test::measure(objective, recipe).rows[4];
  EXPECT_DOUBLE_EQ(with_momentum[Column::unperturbed_step_sum], 0.8);
  EXPECT_TRUE(with_momentum.has(Column::unperturbed_loss));
  EXPECT_FALSE(with_momentum.has(Column::decayed_grad_norm_sq));
  EXPECT_FALSE(with_momentum.has(Column::decayed_grad_norm_sq_split));

  recipe.weight_decay = 0.1;
  const auto with_both = test::measure(objective, recipe).rows[0];  // w_0 = (1/2, 1/2, 1/2)
  const double loss = with_both[Column::loss];
  EXPECT_NEAR(with_both[Column::unperturbed_loss], loss + 0.05 * 0.75, 1e-15);
  // grad f = 2 w for one worker of this problem's f.
  EXPECT_NEAR(with_both[Column::decayed_grad_norm_sq], 2.1 * 2.1 * 0.75, 1e-15);
  EXPECT_NE(with_both[Column::decayed_grad_norm_sq_split], with_both[Column::grad_norm_sq_split]);
}

TEST(CertificateProbe, PassesOnTheSumsAndTheVirtualLoss) {
  const auto objective = test::noisy_quadratic(3, 0.1);
  Recipe recipe;
  recipe.iterations = 5;
  recipe.evaluated = 1;
  recipe.virtual_points = 1;
  const auto run = test::measure(objective, recipe);

  double noise = 0;
  for (const auto& row : run.rows) {
    EXPECT_DOUBLE_EQ(row[Column::noise_sum], noise);
    noise += 0.01 * row[Column::mean_grad_norm_sq];
    EXPECT_NEAR(row[Column::virtual_loss], row[Column::loss], 1e-12);  // dense: z = w
  }
  EXPECT_DOUBLE_EQ(run.rows[4][Column::step_sum], 0.4);
}

}  // namespace
}  // namespace residuum
