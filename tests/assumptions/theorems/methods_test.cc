// Hard threshold, Top-k, EF21 and the dense protocols against hand calculations.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tests/assumptions/theorems/support.h"

namespace residuum {
namespace {

using test::evaluate;
using test::plain_facts;
using test::row_of;
using test::state_of;
using test::SteadyRun;
using test::term;
using test::top_k_facts;

/// tau on the accumulator, of messages that are all applied; sigma^2 = 1.
RunFacts threshold_facts(double threshold) {
  RunFacts facts = plain_facts();
  facts.names.sparsifier = "hard-threshold";
  facts.names.aggregator = "allgather";
  facts.sends_everything = false;
  facts.sparsifier.threshold = threshold;
  facts.objective.noise_variance = Known{1, "exact"};
  return facts;
}

// With tau = eta lambda the last term falls as eta^2; a fixed one stays, and T* is not defined.
TEST(HardThreshold, HasAHorizonOnlyWhereItsThresholdFollowsTheStep) {
  RunFacts facts = threshold_facts(0.02);
  const SteadyRun run{.gradient = 1e-3};
  const Bound fixed = evaluate("hard-threshold", run.evidence(facts));
  ASSERT_TRUE(fixed.has_verdict()) << fixed.reason;
  EXPECT_FALSE(fixed.horizon);
  facts.sparsifier.threshold_scales = true;
  // 4/10 + 2 * 0.1 against 2 * 100 * 4e-4, over 100 iterations.
  const double ratio = 0.08 / 0.6;
  EXPECT_NEAR(*evaluate("hard-threshold", run.evidence(facts)).horizon, 100 * ratio * ratio, 1e-9);
}

TEST(HardThreshold, IsThatOfAHandCalculationConvexAndNot) {
  RunFacts facts = threshold_facts(0.02);
  facts.workers = 2;
  const SteadyRun run{.gradient = 1e-3, .further = {{Column::loss_gap, 1e-3}}};
  // 4/10 + 2 * 0.1/2 + 2 * 100 * 4e-4
  EXPECT_NEAR(*evaluate("hard-threshold", run.evidence(facts)).rhs, 0.4 + 0.1 + 0.08, 1e-12);
  facts.objective.convex = true;
  facts.objective.initial_distance_sq = Known{2, "exact"};
  // 2 * 2/10 + 2 * 0.1/2 + 4 * 100 * 4e-4
  EXPECT_NEAR(*evaluate("hard-threshold-convex", run.evidence(facts)).rhs, 0.4 + 0.1 + 0.16, 1e-12);
  facts.sparsifier.threshold.reset();
  EXPECT_EQ(evaluate("hard-threshold", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
  EXPECT_EQ(evaluate("top-k", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
}

TEST(HardThreshold, HasNoHeterogeneityWithoutNoiseGrowthAndHasSomeWithIt) {
  RunFacts facts = threshold_facts(0.02);
  facts.workers = 2;
  facts.objective.noise_variance.reset();
  // sigma^2 = |grad f_p|^2 / 2 throughout: the line through the origin has M = 1/2.
  SeedEvidence seed(101);
  for (std::uint64_t t = 0; t < 101; ++t) {
    const double gradient = t < 50 ? 8 : 1;
    seed.add(row_of(t,
                    {{Column::step_size, 0.1},
                     {Column::grad_norm_sq, 1e-3},
                     {Column::loss, 1},
                     {Column::noise_variance, gradient / 2},
                     {Column::worker_grad_norm_sq, 1.5 * gradient},
                     {Column::heterogeneity, 3}}));
  }
  Evidence evidence(facts);
  evidence.add(seed);
  evidence.add(seed);
  const Bound bound = evaluate("hard-threshold", evidence);
  ASSERT_TRUE(bound.has_verdict()) << bound.reason;
  EXPECT_NEAR(term(bound, Attribution::noise).value, 0, 1e-12);
  EXPECT_NEAR(term(bound, Attribution::heterogeneity).value, 2 * 0.1 * 0.5 * 3 / 2, 1e-12);
}

TEST(TopK, IsThatOfAHandCalculationConvexAndNot) {
  RunFacts facts = top_k_facts(64);  // q = 0.36, Q = 0.36/0.16 = 2.25
  facts.workers = 4;
  const SteadyRun run{.gradient = 1e-3,
                      .further = {{Column::heterogeneity, 3}, {Column::loss_gap, 1e-3}}};
  // 8/10 + 4 * 0.1/4 + 4 * 2.25 * 0.01 (3 + 1)
  EXPECT_NEAR(*evaluate("top-k", run.evidence(facts)).rhs, 0.8 + 0.1 + 0.36, 1e-12);
  facts.objective.convex = true;
  facts.objective.initial_distance_sq = Known{2, "exact"};
  // 4 * 2/10 + 4 * 0.1/4 + 8 * 2.25 * 0.01 * 4
  EXPECT_NEAR(*evaluate("top-k-convex", run.evidence(facts)).rhs, 0.8 + 0.1 + 0.72, 1e-12);
}

TEST(Ef21, IsThatOfAHandCalculation) {
  RunFacts facts = top_k_facts(36);  // sqrt(1 - alpha) = 0.8, theta = 0.2: limit 1/(1 + 4)
  facts.names.feedback = "ef21";
  facts.feedback.memory = Memory::estimate;
  facts.gradients.full = true;
  facts.objective.worker_smoothness = Known{1, "exact"};
  SteadyRun run{.gradient = 1e-3, .further = {{Column::ef21_distortion, 4}}};
  const Bound bound = evaluate("ef21", run.evidence(facts));
  EXPECT_NEAR(*bound.rhs, 0.2 + 4 / (0.2 * 100), 1e-12);
  run.step = 0.21;
  EXPECT_EQ(evaluate("ef21", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
  facts.sparsifier.contraction.reset();  // as of a selection that is scaled to be unbiased
  EXPECT_EQ(evaluate("ef21", SteadyRun{.further = run.further}.evidence(facts)).verdict,
            BoundVerdict::not_applicable);
  facts.sparsifier.contraction = 0.36;
  run.step = 0.1;
  facts.objective.worker_smoothness.reset();
  EXPECT_EQ(evaluate("ef21", run.evidence(facts)).verdict, BoundVerdict::not_measured);
  facts.gradients.full = false;
  EXPECT_EQ(evaluate("ef21", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
}

std::string detail_of(const Bound& bound, std::string_view statement) {
  for (const auto& one : bound.preconditions) {
    if (one.statement == statement) {
      return one.detail;
    }
  }
  return "no such precondition";
}

TEST(Preconditions, SayWhatIsSoWhetherMetOrNot) {
  const SteadyRun run{.gradient = 1e-3};
  RunFacts facts = top_k_facts(36);
  facts.gradients.full = true;
  facts.names.sampling = "shuffle";
  facts.gradients.independent_draws = false;
  Bound bound = evaluate("ef21", run.evidence(facts));
  EXPECT_EQ(detail_of(bound, "full gradients"), "gradients are full");
  bound = evaluate("ijcai", run.evidence(facts));
  EXPECT_EQ(detail_of(bound, "gradients are unbiased given the past"), "gradients are full");
  EXPECT_EQ(detail_of(bound, "what was not applied is added to the next gradient"),
            "feedback ef14 does");

  facts.gradients.full = false;
  facts.conserves = false;
  bound = evaluate("ef21", run.evidence(facts));
  EXPECT_EQ(detail_of(bound, "full gradients"), "gradients are drawn from batches");
  bound = evaluate("ijcai", run.evidence(facts));
  EXPECT_EQ(detail_of(bound, "gradients are unbiased given the past"), "sampling is shuffle");
  EXPECT_EQ(detail_of(bound, "what was not applied is added to the next gradient"),
            "feedback ef14 loses some of it for good");

  facts.gradients.full = true;
  facts.objective.gradient_bias = "images are augmented";
  bound = evaluate("ijcai", run.evidence(facts));
  EXPECT_EQ(bound.verdict, BoundVerdict::not_applicable);
  EXPECT_EQ(detail_of(bound, "gradients are unbiased given the past"), "images are augmented");
}

TEST(Preconditions, AreNotRefutedByAMeasuredLAndMetByAKnownOne) {
  RunFacts facts = plain_facts();
  facts.objective.noise_variance = Known{1, "exact"};
  const SteadyRun run{.gradient = 1e-3, .further = {{Column::smoothness_gap, 1}}};
  EXPECT_EQ(state_of(evaluate("bsp", run.evidence(facts)), "η ≤ 1/L"), PreconditionState::met);
  facts.objective.smoothness.reset();
  const Bound measured = evaluate("bsp", run.evidence(facts));
  EXPECT_EQ(state_of(measured, "η ≤ 1/L"), PreconditionState::no_violation_seen);
  EXPECT_TRUE(measured.has_verdict());
  // L of a part of the samples may be larger than L: it enters no theorem.
  facts.evaluation.differences_are_of_f = false;
  EXPECT_EQ(evaluate("bsp", run.evidence(facts)).verdict, BoundVerdict::not_measured);
}

/// delta = 0.9 in the measured iterations, but in the last, where it is `last`.
Evidence with_last_delta(double last, bool all_measured) {
  RunFacts facts = top_k_facts(10);
  Evidence evidence(facts);
  for (int i = 0; i < 2; ++i) {
    SeedEvidence seed(10);
    for (std::uint64_t t = 0; t < 10; ++t) {
      Row row = row_of(t,
                       {{Column::step_size, 0.1},
                        {Column::grad_norm_sq, 1e-3},
                        {Column::loss, 1},
                        {Column::mean_grad_norm_sq, 1}});
      if (all_measured || t != 4) {
        row.set(Column::delta, t == 9 ? last : 0.9);
        row.set(Column::accumulator_norm_sq, 1);
      }
      seed.add(row);
    }
    evidence.add(std::move(seed));
  }
  return evidence;
}

TEST(Preconditions, OfTheGTopKTheoremAreAboutEveryIteration) {
  constexpr const char* kAssumption = "δ ≤ 1 in every iteration";
  EXPECT_EQ(state_of(evaluate("ijcai", with_last_delta(1, true)), kAssumption),
            PreconditionState::met);
  EXPECT_EQ(state_of(evaluate("ijcai", with_last_delta(1, false)), kAssumption),
            PreconditionState::no_violation_seen);
  // On average delta is 0.92.
  const Bound above = evaluate("ijcai", with_last_delta(1.1, true));
  EXPECT_EQ(state_of(above, kAssumption), PreconditionState::not_met);
  EXPECT_EQ(above.verdict, BoundVerdict::not_applicable);
}

/// q is 0.5, but 1.2 in one of ten iterations whose gap is as large as the others': on average
/// 10/(9/0.5 + 1/1.2) = 0.53.
Evidence with_one_expansion(bool steps_are_constant, bool selects_at_random = false) {
  RunFacts facts = plain_facts();
  facts.step.constant = steps_are_constant;
  facts.sparsifier.deterministic = !selects_at_random;
  Evidence evidence(facts);
  for (int i = 0; i < 2; ++i) {
    SeedEvidence seed(10);
    for (std::uint64_t t = 0; t < 10; ++t) {
      seed.add(row_of(t,
                      {{Column::step_size, 0.1},
                       {Column::grad_norm_sq, 1e-3},
                       {Column::loss, 1},
                       {Column::mean_grad_norm_sq, 1},
                       {Column::gap_norm_sq, 1},
                       {Column::contraction, t == 5 ? 1.2 : 0.5}}));
    }
    evidence.add(std::move(seed));
  }
  return evidence;
}

TEST(Preconditions, OfConstantStepsAreAboutSumsAndOfFallingOnesAboutEveryIteration) {
  const Bound constant = evaluate("bounded-moment", with_one_expansion(true));
  EXPECT_EQ(state_of(constant, "contraction q < 1, on average"), PreconditionState::met);
  EXPECT_TRUE(constant.has_verdict());
  const Bound falling = evaluate("bounded-moment", with_one_expansion(false));
  EXPECT_EQ(state_of(falling, "contraction q < 1 in every iteration"), PreconditionState::not_met);
  EXPECT_EQ(falling.verdict, BoundVerdict::not_applicable);
}

TEST(Preconditions, AreNotRefutedByASingleDrawOfARandomSelection) {
  const Bound bound = evaluate("bounded-moment", with_one_expansion(false, true));
  EXPECT_EQ(state_of(bound, "contraction q < 1 in every iteration"),
            PreconditionState::no_violation_seen);
  EXPECT_NE(bound.verdict, BoundVerdict::not_applicable);
}

// Residuals at every iteration, or at every second one, of a selection that promises nothing.
TEST(Preconditions, OfAConstantThatWasMeasuredInSomeRowsAreNotMet) {
  const auto state = [](std::uint64_t every) {
    RunFacts facts = top_k_facts(36);
    facts.sparsifier.contraction.reset();
    Evidence evidence(facts);
    SeedEvidence seed(10);
    for (std::uint64_t t = 0; t < 10; ++t) {
      Row row = row_of(t,
                       {{Column::step_size, 0.1},
                        {Column::grad_norm_sq, 1e-3},
                        {Column::loss, 1},
                        {Column::heterogeneity, 0}});
      if (t % every == 0) {
        row.set(Column::residual_norm_sq, 0.5);
        row.set(Column::worker_accumulator_norm_sq, 1);
      }
      seed.add(row);
    }
    evidence.add(seed);
    evidence.add(seed);
    return state_of(evaluate("worker-contraction", evidence),
                    "contraction q < 1 of the workers' residuals");
  };
  EXPECT_EQ(state(1), PreconditionState::met);
  EXPECT_EQ(state(2), PreconditionState::no_violation_seen);
  EXPECT_EQ(precondition_text(state(2)), "no violation seen");
}

TEST(Theorems, HoldNothingOfARunThatDiverged) {
  RunFacts facts = plain_facts();
  facts.objective.noise_variance = Known{1, "exact"};
  const SteadyRun run{.gradient = 1e-3};
  Evidence evidence = run.evidence(facts);
  EXPECT_EQ(evaluate("bsp", evidence).verdict, BoundVerdict::holds);
  evidence.miss(1);
  const Bound bound = evaluate("bsp", evidence);
  EXPECT_EQ(bound.verdict, BoundVerdict::undecided);
  EXPECT_EQ(bound.reason, "1 of 3 runs diverged, failed or were cut");
}

TEST(Laws, MakeASparsifierQualifyWhateverItsName) {
  RunFacts facts = top_k_facts(50);
  facts.names.sparsifier = "window-k";
  facts.names.aggregator = "somebody's own";
  facts.objective.noise_variance = Known{0, "exact"};
  const SteadyRun run{.gradient = 1e-3, .further = {{Column::heterogeneity, 0}}};
  EXPECT_TRUE(evaluate("worker-contraction", run.evidence(facts)).has_verdict());
  EXPECT_TRUE(evaluate("top-k", run.evidence(facts)).has_verdict());
  facts.aggregator.applies_whole_messages = false;
  EXPECT_EQ(evaluate("top-k", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
}

// z then moves by the mean of the gradients that each worker had last.
TEST(Certificate, AsksThatNoWorkerIsAbsentWhoseEstimateMovesTheModel) {
  RunFacts facts = plain_facts();
  facts.workers = 4;
  facts.protocol.participants = 2;
  facts.feedback.memory = Memory::estimate;
  const SteadyRun run{.gradient = 1e-3};
  EXPECT_EQ(state_of(evaluate("certificate", run.evidence(facts)), "z moves by gradients"),
            PreconditionState::not_met);
}

TEST(Synchronisation, OfOneLocalStepAndOfNoDelayIsThatOfLockstep) {
  RunFacts facts = plain_facts();
  facts.workers = 4;
  facts.objective.noise_variance = Known{8, "exact"};
  const SteadyRun run{.gradient = 1e-3, .further = {{Column::worker_grad_norm_sq, 5}}};
  const Bound lockstep = evaluate("bsp", run.evidence(facts));
  EXPECT_NEAR(*lockstep.rhs, 0.2 + 0.1 * 8 / 4, 1e-12);
  EXPECT_EQ(evaluate("delayed", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
  EXPECT_EQ(evaluate("local-sgd", run.evidence(facts)).verdict, BoundVerdict::not_applicable);

  facts.shift_contraction = 1;  // every change of the model is sent
  EXPECT_DOUBLE_EQ(*evaluate("ef21-p", run.evidence(facts)).rhs, *lockstep.rhs);
  EXPECT_EQ(evaluate("bsp", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
  facts.shift_contraction = 0.75;  // theta = 1/2, sqrt(beta/theta) = 1: and 0.1 times 0.2
  EXPECT_NEAR(*evaluate("ef21-p", run.evidence(facts)).rhs, 0.2 + 0.2 + 0.02, 1e-12);
  facts.shift_contraction = 0.2;  // sqrt(beta/theta) = 4 + 2 sqrt 5: steps up to 0.106
  EXPECT_NEAR(*evaluate("ef21-p", run.evidence(facts)).rhs,
              0.2 + 0.2 + (36 + 16 * std::sqrt(5.0)) * 0.02,
              1e-12);
  facts.shift_contraction = 0.18;
  EXPECT_EQ(evaluate("ef21-p", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
  facts.shift_contraction = std::nullopt;
  EXPECT_EQ(evaluate("ef21-p", run.evidence(facts)).verdict, BoundVerdict::not_applicable);

  facts.protocol.synchrony = Synchrony::periodic;
  facts.protocol.local_steps = 1;
  facts.objective.worker_smoothness_max = Known{1, "exact"};
  EXPECT_DOUBLE_EQ(*evaluate("local-sgd", run.evidence(facts)).rhs, *lockstep.rhs);
  facts.protocol.local_steps =
      4;  // 2 Delta/(eta R) = 0.2 and 4 times 0.1 * 8/4 and (3 * 0.1)^2 * 5
  EXPECT_NEAR(*evaluate("local-sgd", run.evidence(facts)).rhs, 0.2 + 4 * (0.2 + 0.45), 1e-12);
  facts.objective.worker_smoothness_max = Known{2, "exact"};  // the drift weighs four times as much
  EXPECT_NEAR(*evaluate("local-sgd", run.evidence(facts)).rhs, 0.2 + 4 * (0.2 + 1.8), 1e-12);
  facts.update.outer_step = 0.7;
  EXPECT_EQ(evaluate("local-sgd", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
  facts.update.outer_step = 1;

  facts.protocol.synchrony = Synchrony::late;
  facts.gradients.workers_alike = true;
  facts.protocol.staleness = 0;
  facts.protocol.contributions = 4;
  EXPECT_DOUBLE_EQ(*evaluate("delayed", run.evidence(facts)).rhs, *lockstep.rhs);
}

}  // namespace
}  // namespace residuum
