// The theorems on gradient estimates, EF21 and methods like it, against hand calculations.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>

#include "tests/assumptions/theorems/support.h"

namespace residuum {
namespace {

using test::evaluate;
using test::state_of;
using test::SteadyRun;
using test::term;
using test::top_k_facts;
using test::value_of;

/// alpha = 0.36: theta = 0.2, sqrt(beta/theta) = 4; L = L~ = L_AM = 1.
RunFacts estimates() {
  RunFacts facts = top_k_facts(36);
  facts.names.feedback = "ef21";
  facts.feedback.memory = Memory::estimate;
  facts.gradients.full = true;
  facts.objective.worker_smoothness = Known{1, "exact"};
  facts.objective.worker_smoothness_mean = Known{1, "exact"};
  facts.objective.strong_convexity = Known{0.5, "exact"};
  return facts;
}

TEST(Ef21ArithmeticMean, IsThatOfAHandCalculation) {
  RunFacts facts = estimates();
  facts.objective.worker_smoothness = Known{5, "exact"};  // no step that EF21 itself would allow
  const SteadyRun run{
      .gradient = 1e-3,
      .further = {{Column::ef21_distortion, 4}, {Column::ef21_weighted_distortion, 3}}};
  EXPECT_EQ(evaluate("ef21", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
  // 2/10 + 3/(0.2 * 100)
  EXPECT_NEAR(*evaluate("ef21-arithmetic-mean", run.evidence(facts)).rhs, 0.2 + 0.15, 1e-12);
  facts.objective.worker_smoothness_mean = Known{2.3, "exact"};  // limit 1/10.2
  EXPECT_EQ(evaluate("ef21-arithmetic-mean", run.evidence(facts)).verdict,
            BoundVerdict::not_applicable);
  facts.objective.worker_smoothness_mean.reset();
  EXPECT_EQ(evaluate("ef21-arithmetic-mean", run.evidence(facts)).verdict,
            BoundVerdict::not_measured);
}

TEST(Ef21Pl, IsThatOfAHandCalculation) {
  RunFacts facts = estimates();
  SteadyRun run{.further = {{Column::ef21_distortion, 4}, {Column::loss_gap, 1e-3}}};
  const Bound bound = evaluate("ef21-pl", run.evidence(facts));
  // (1 - 0.1/2)^100 (1 + 0.1 * 4/0.2)
  const double left = std::pow(0.95, 100);
  EXPECT_NEAR(term(bound, Attribution::optimisation).value, left, 1e-15);
  EXPECT_NEAR(term(bound, Attribution::compression).value, 2 * left, 1e-15);
  EXPECT_EQ(*bound.lhs, 1e-3);
  run.step = 1 / (1 + 4 * std::sqrt(2)) + 1e-6;
  EXPECT_EQ(evaluate("ef21-pl", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
  run.step = 0.1;
  facts.objective.strong_convexity = Known{1.01, "exact"};  // theta/(2 mu) < 0.1
  EXPECT_EQ(evaluate("ef21-pl", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
  facts.objective.strong_convexity = Known{0, "exact"};
  EXPECT_EQ(evaluate("ef21-pl", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
}

// 0.95^T >= 1e-9 up to T = 404: beyond, f - f* is mostly rounding.
TEST(Ef21Pl, EndsWhereItsRightSideSaysNoMoreThanRounding) {
  const SteadyRun run{.iterations = 2001,
                      .further = {{Column::ef21_distortion, 0}, {Column::loss_gap, 1e-12}}};
  const Bound bound = evaluate("ef21-pl", run.evidence(estimates()));
  ASSERT_TRUE(bound.iterations);
  EXPECT_LE(*bound.iterations, 404);
  EXPECT_GT(*bound.iterations, 300);
  EXPECT_EQ(verdict_text(bound.verdict), "holds");
}

TEST(ThreePoint, IsThatOfAHandCalculation) {
  // G = 4 throughout and changes of 1: B = 4 A for every A, limit 1/(1 + 2).
  RunFacts facts = estimates();
  facts.sparsifier.contraction.reset();
  facts.aggregator.applies_whole_messages = false;
  SteadyRun run{.gradient = 1e-3,
                .further = {{Column::ef21_distortion, 4}, {Column::ef21_change, 1}}};
  const Bound bound = evaluate("3pc", run.evidence(facts));
  EXPECT_NEAR(*bound.rhs, 0.2 + 4 / 100.0, 1e-12);  // A = 1 allows the step already
  EXPECT_EQ(value_of(bound, "A"), 1);
  EXPECT_NEAR(value_of(bound, "B"), 4, 1e-12);
  EXPECT_EQ(state_of(bound, "G′ ≤ (1 − A)G"), PreconditionState::no_violation_seen);
  run.step = 0.34;
  EXPECT_EQ(evaluate("3pc", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
}

TEST(ThreePoint, TakesTheLargestAThatAllowsTheStep) {
  // Falling from 8 to 4 with a change of 1: B = max(0, 8 A - 4), and 0 up to A = 1/2. At L~ = 1 the
  // step 1/2 leaves room for B/A = 1, which is A = 4/7; the step 1 for none.
  RunFacts facts = estimates();
  const auto bound_at = [&](double step) {
    Evidence evidence(facts);
    SeedEvidence seed(2);
    for (std::uint64_t t = 0; t < 2; ++t) {
      seed.add(test::row_of(t,
                            {{Column::step_size, step},
                             {Column::grad_norm_sq, 1e-3},
                             {Column::loss, 1},
                             {Column::ef21_distortion, t == 0 ? 8 : 4},
                             {Column::ef21_change, 1}}));
    }
    evidence.add(seed);
    evidence.add(seed);
    return evaluate("3pc", evidence);
  };
  const double a = value_of(bound_at(0.5), "A");
  EXPECT_LE(a, 4.0 / 7);
  EXPECT_GT(a, 0.96 * 4.0 / 7);
  EXPECT_LE(value_of(bound_at(1), "A"), 0.5);
  EXPECT_EQ(value_of(bound_at(1), "B"), 0);
}

TEST(ThreePoint, TakesNothingFromSingleDrawsOfARandomSelection) {
  RunFacts facts = estimates();
  facts.sparsifier.deterministic = false;
  const SteadyRun run{.gradient = 1e-3,
                      .further = {{Column::ef21_distortion, 4}, {Column::ef21_change, 1}}};
  const Bound bound = evaluate("3pc", run.evidence(facts));
  EXPECT_EQ(bound.verdict, BoundVerdict::not_measured);
  EXPECT_NE(bound.reason.find("A and B bound an expectation"), std::string::npos) << bound.reason;
}

TEST(ThreePoint, SaysWhatIsMissingWhereNoIterationsFollowOneAnother) {
  const SteadyRun run{.gradient = 1e-3, .further = {{Column::ef21_distortion, 4}}};
  const Bound bound = evaluate("3pc", run.evidence(estimates()));
  EXPECT_EQ(bound.verdict, BoundVerdict::not_measured);
  EXPECT_NE(bound.reason.find("A: not measured: distortions of successive iterations"),
            std::string::npos)
      << bound.reason;
}

/// a = alpha = 1/2, P = 4, sigma^2 = 2.
RunFacts averages() {
  RunFacts facts = top_k_facts(50);
  facts.names.feedback = "ef21-sgdm";
  facts.feedback.memory = Memory::estimate;
  facts.feedback.averaging = 0.5;
  facts.workers = 4;
  facts.objective.worker_smoothness = Known{1, "exact"};
  facts.objective.noise_variance = Known{2, "exact"};
  return facts;
}

TEST(Ef21Sgdm, IsThatOfAHandCalculation) {
  SteadyRun run{.step = 0.05, .gradient = 1e-3, .further = {{Column::ef21_distortion, 3}}};
  const Bound bound = evaluate("ef21-sgdm", run.evidence(averages()));
  ASSERT_TRUE(bound.has_verdict()) << bound.reason;
  // 2/(0.05 * 100); 4 * 3/(0.5 * 100); 2 * 2/4 (1/50 + 1/2); 2 (16/50 + 2 + 8).
  EXPECT_NEAR(bound.terms.at(0).value, 0.4, 1e-12);
  EXPECT_NEAR(bound.terms.at(1).value, 0.24, 1e-12);
  EXPECT_NEAR(bound.terms.at(2).value, 0.52, 1e-12);
  EXPECT_NEAR(bound.terms.at(3).value, 0.64 + 4 + 16, 1e-12);
  // 1/(1 + sqrt(8 + 80)) = 0.0963
  run.step = 1 / (1 + std::sqrt(88.0)) - 1e-9;
  EXPECT_TRUE(evaluate("ef21-sgdm", run.evidence(averages())).has_verdict());
  run.step += 1e-6;
  EXPECT_EQ(evaluate("ef21-sgdm", run.evidence(averages())).verdict, BoundVerdict::not_applicable);
}

TEST(Ef21Sgdm, IsNotAboutAnOuterStep) {
  const SteadyRun run{.step = 0.05, .gradient = 1e-3, .further = {{Column::ef21_distortion, 3}}};
  RunFacts facts = averages();
  ASSERT_TRUE(evaluate("ef21-sgdm", run.evidence(facts)).has_verdict());
  facts.update.outer_step = 0.01;
  const Bound bound = evaluate("ef21-sgdm", run.evidence(facts));
  EXPECT_EQ(bound.verdict, BoundVerdict::not_applicable);
  EXPECT_EQ(bound.reason, "the model moves by the update as it is: the outer step is 0.01");
}

TEST(Ef21Sgdm, AndEf21AreAboutAnAverageAndAboutGradients) {
  const SteadyRun run{.step = 0.01, .gradient = 1e-3, .further = {{Column::ef21_distortion, 3}}};
  RunFacts facts = averages();
  facts.gradients.full = true;
  Bound bound = evaluate("ef21", run.evidence(facts));
  EXPECT_EQ(bound.verdict, BoundVerdict::not_applicable);
  EXPECT_NE(bound.reason.find("an average that takes 0.5 of the newest"), std::string::npos)
      << bound.reason;
  EXPECT_EQ(evaluate("certificate", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
  facts.feedback.averaging = 1;  // that is EF21
  EXPECT_TRUE(evaluate("ef21", run.evidence(facts)).has_verdict());
  facts.feedback.averaging.reset();
  bound = evaluate("ef21-sgdm", run.evidence(facts));
  EXPECT_EQ(bound.verdict, BoundVerdict::not_applicable);
  EXPECT_NE(bound.reason.find("they follow the gradients themselves"), std::string::npos)
      << bound.reason;
}

/// alpha = 0.36, w = 1/20: nu = 0.7056, B = 6 * 0.64 * 1.7056/0.2944^2. P = 4, L = L~ = 1.
RunFacts controls(double variance) {
  RunFacts facts = top_k_facts(36);
  facts.names.feedback = "econtrol";
  facts.feedback.memory = Memory::control;
  facts.feedback.error_weight = 0.05;
  facts.workers = 4;
  facts.objective.worker_smoothness = Known{1, "exact"};
  facts.objective.noise_variance = Known{variance, "exact"};
  return facts;
}

TEST(EControlTheorem, IsThatOfAHandCalculation) {
  SteadyRun run{.step = 0.02, .gradient = 1e-3, .further = {{Column::residual_norm_sq, 3}}};
  const Bound bound = evaluate("econtrol", run.evidence(controls(2)));
  ASSERT_TRUE(bound.has_verdict()) << bound.reason;
  // 6.549504/0.08667136 and, with 1.28/0.2944, B'.
  const double change = 75.56710775;
  const double of_noise = 79.91493384;
  // 4/(0.02 * 100); 2 * 0.02 * 2/4; (0.02/0.05)^2 = 0.16 times 16 * 3/(0.2944 * 100), and times
  // 8 * 2 B' + 16 B * 0.0004 * 2/4.
  EXPECT_NEAR(bound.terms.at(0).value, 2, 1e-12);
  EXPECT_NEAR(bound.terms.at(1).value, 0.02, 1e-12);
  EXPECT_NEAR(bound.terms.at(2).value, 0.16 * 1.630434783, 1e-9);
  EXPECT_NEAR(bound.terms.at(3).value, 0.16 * (16 * of_noise + 0.0032 * change), 1e-6);
  // 1/sqrt(32 B) = 0.020336; the root of w times it, 0.0319, is above.
  run.step = 0.0203;
  EXPECT_TRUE(evaluate("econtrol", run.evidence(controls(2))).has_verdict());
  run.step = 0.0204;
  EXPECT_EQ(evaluate("econtrol", run.evidence(controls(2))).verdict, BoundVerdict::not_applicable);
}

TEST(EControlTheorem, AsksForASmallWeightAndForErrorControl) {
  const SteadyRun run{.step = 0.001, .gradient = 1e-3, .further = {{Column::residual_norm_sq, 3}}};
  RunFacts facts = controls(0);
  ASSERT_TRUE(evaluate("econtrol", run.evidence(facts)).has_verdict());
  facts.feedback.error_weight = 0.08;  // B w^2 = 0.67
  EXPECT_EQ(
      state_of(evaluate("econtrol", run.evidence(facts)), "w is small against α: ν < 1, Bw² ≤ 1/2"),
      PreconditionState::not_met);
  facts = controls(0);
  facts.feedback.memory = Memory::estimate;
  EXPECT_EQ(evaluate("econtrol", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
  facts = controls(0);
  facts.aggregator.applies_whole_messages = false;
  EXPECT_EQ(evaluate("econtrol", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
  const SteadyRun unmeasured{.step = 0.001, .gradient = 1e-3};
  const Bound bound = evaluate("econtrol", unmeasured.evidence(controls(0)));
  EXPECT_EQ(bound.verdict, BoundVerdict::not_measured);
  EXPECT_NE(bound.reason.find("residuals after the first iteration"), std::string::npos)
      << bound.reason;
}

}  // namespace
}  // namespace residuum
