// Theorems that need a contraction, and those of convex objectives, against hand calculations.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "tests/assumptions/theorems/support.h"

namespace residuum {
namespace {

using test::evaluate;
using test::plain_facts;
using test::row_of;
using test::SteadyRun;
using test::term;
using test::top_k_facts;

TEST(MeanContraction, HasItsTunedFormAndHorizon) {
  // Tuned: eta = sqrt(4 Delta P/(3 L sigma^2 T)) gives 8 sqrt(L Delta sigma^2/(3 P T)).
  RunFacts facts = plain_facts();
  facts.workers = 4;
  facts.objective.noise_variance = Known{10, "exact"};
  const double t = 1000;
  const double eta = std::sqrt(4 * 4 / (3 * 10 * t));
  const Evidence evidence =
      SteadyRun{.iterations = 1001,
                .step = eta,
                .gradient = 1e-3,
                .further = {{Column::gap_norm_sq, 0.5}, {Column::contraction, 0.5}}}
          .evidence(facts);
  const Bound bound = evaluate("mean-contraction", evidence);
  EXPECT_NEAR(*bound.rhs, 8 * std::sqrt(10 / (3 * 4 * t)), 1e-9);
  EXPECT_DOUBLE_EQ(*bound.horizon, 16.0 / 3 * 4 / (0.25 * 10));
}

// 16/3 c^2 P at L = Delta = sigma = 1: 5.3e2 P, 5.3e4 P, ...
TEST(MeanContraction, HasTheHorizonsOfTheTable) {
  for (const double c : {10.0, 100.0, 1000.0, 10000.0}) {
    RunFacts facts = plain_facts();
    facts.workers = 8;
    facts.objective.noise_variance = Known{1, "exact"};
    const Evidence evidence =
        SteadyRun{.step = (1 - 1e-9) / (4 * c),  // q is a ratio of sums, with their rounding
                  .gradient = 1e-3,
                  .further = {{Column::gap_norm_sq, 1 - 1 / c}, {Column::contraction, 1 - 1 / c}}}
            .evidence(facts);
    const Bound bound = evaluate("mean-contraction", evidence);
    ASSERT_TRUE(bound.horizon) << bound.reason;
    EXPECT_NEAR(*bound.horizon / (5.333333 * c * c * 8), 1, 1e-5);
  }
}

TEST(MeanContraction, RefusesALargerStepThanItsLimit) {
  RunFacts facts = plain_facts();
  facts.objective.noise_variance = Known{1, "exact"};
  SteadyRun run{.step = 0.125,
                .gradient = 1e-3,
                .further = {{Column::gap_norm_sq, 0.5}, {Column::contraction, 0.5}}};
  EXPECT_TRUE(evaluate("mean-contraction", run.evidence(facts)).has_verdict());
  run.step = 0.126;
  const Bound bound = evaluate("mean-contraction", run.evidence(facts));
  EXPECT_EQ(bound.verdict, BoundVerdict::not_applicable);
  EXPECT_NE(bound.reason.find("η = 0.126, limit 0.125"), std::string::npos) << bound.reason;
  facts.names.step_rule = "inv-sqrt";
  facts.step.constant = false;
  EXPECT_EQ(evaluate("mean-contraction", run.evidence(facts)).verdict,
            BoundVerdict::not_applicable);
}

TEST(WorkerContraction, HasHeterogeneityAndNoiseThatWorkersDoNotDivide) {
  RunFacts facts = top_k_facts(50);  // q = 1/2 by the promise of Top-k
  facts.workers = 4;
  const Evidence evidence =
      SteadyRun{.step = 0.1, .gradient = 1e-3, .further = {{Column::heterogeneity, 3}}}.evidence(
          facts);
  const Bound bound = evaluate("worker-contraction", evidence);
  ASSERT_TRUE(bound.has_verdict()) << bound.reason;
  EXPECT_NEAR(term(bound, Attribution::optimisation).value, 8 / 30.0, 1e-12);
  EXPECT_NEAR(term(bound, Attribution::noise).value, 0.1 / 3, 1e-12);
  EXPECT_NEAR(term(bound, Attribution::heterogeneity).value, 16 * 0.5 * 0.01 / 0.25, 1e-12);
  EXPECT_NEAR(term(bound, Attribution::residual).value, 0.08 / 3, 1e-12);
}

TEST(WorkerContraction, NamesAHeterogeneityThatWasNotMeasuredOrCameOutNegative) {
  RunFacts facts = top_k_facts(50);
  facts.workers = 4;
  const Bound missing = evaluate("worker-contraction", SteadyRun{}.evidence(facts));
  EXPECT_EQ(missing.verdict, BoundVerdict::not_measured);
  EXPECT_NE(missing.reason.find("ζ²: not measured"), std::string::npos) << missing.reason;
  const Bound negative = evaluate(
      "worker-contraction", SteadyRun{.further = {{Column::heterogeneity, -0.5}}}.evidence(facts));
  EXPECT_EQ(negative.verdict, BoundVerdict::not_measured);
  EXPECT_NE(negative.reason.find("estimate is negative (-0.5)"), std::string::npos)
      << negative.reason;
}

TEST(ConvexCertificate, IsThatOfAHandCalculation) {
  RunFacts facts = plain_facts();
  facts.objective.convex = true;
  facts.workers = 2;
  facts.objective.initial_distance_sq = Known{5, "exact"};
  facts.objective.noise_variance = Known{4, "exact"};
  const SteadyRun run{
      .further = {{Column::loss_gap, 0.1}, {Column::mean_grad_norm_sq, 1}, {Column::gap_sum, 2}}};
  const Bound bound = evaluate("convex-certificate", run.evidence(facts));
  // 2 * 5/10 + 2 * 0.1 * 4/2 + 4 * 2/10
  EXPECT_NEAR(*bound.rhs, 1 + 0.4 + 0.8, 1e-12);
  EXPECT_NEAR(*bound.lhs, 0.1, 1e-12);
  facts.objective.convex = false;
  EXPECT_EQ(evaluate("convex-certificate", run.evidence(facts)).verdict,
            BoundVerdict::not_applicable);
  facts.objective.convex.reset();
  EXPECT_EQ(evaluate("convex-certificate", run.evidence(facts)).verdict,
            BoundVerdict::not_applicable);
}

/// d/k = 2 and mu = 1/2; G^2 = 2.
RunFacts mem_sgd_facts(double shift) {
  RunFacts facts = top_k_facts(50);
  facts.objective.convex = true;
  facts.names.step_rule = "inv-time";
  facts.step.constant = false;
  facts.step.shift = shift;
  facts.objective.strong_convexity = Known{0.5, "exact"};
  facts.objective.initial_distance_sq = Known{3, "exact"};
  return facts;
}

Bound mem_sgd_bound(RunFacts facts, double first_step, std::uint64_t iterations = 3) {
  SeedEvidence seed(iterations);
  for (std::uint64_t t = 0; t < iterations; ++t) {
    seed.add(row_of(t,
                    {{Column::step_size, t == 0 ? first_step : first_step / 2},
                     {Column::worker_grad_norm_sq, 2},
                     {Column::averaged_loss_gap, 0.01}}));
  }
  Evidence evidence(std::move(facts));
  evidence.add(seed);
  evidence.add(seed);
  return evaluate("mem-sgd", evidence);
}

TEST(MemSgd, HasTheWeightSumOfTheBruteSum) {
  for (const double a : {12.0, 27.5, 240.0}) {
    for (const int iterations : {2, 17, 1000}) {
      double brute = 0;
      for (int t = 0; t < iterations; ++t) {
        brute += (a + t) * (a + t);
      }
      const Bound bound = mem_sgd_bound(mem_sgd_facts(a), 16 / a, iterations);
      ASSERT_TRUE(bound.has_verdict()) << bound.reason;
      const double sum = 4.0 * iterations * (iterations + 2 * a) * 2 /
                         (0.5 * term(bound, Attribution::noise).value);
      EXPECT_NEAR(sum / brute, 1, 1e-12);
      EXPECT_GE(sum, std::pow(iterations, 3) / 3);
    }
  }
}

TEST(MemSgd, IsThatOfAHandCalculation) {
  // a = 2 * 13 + 1 so that alpha = 12 and 4 alpha/(alpha - 4) = 6
  RunFacts facts = mem_sgd_facts(27);
  const Bound bound = mem_sgd_bound(facts, 16.0 / 27);
  ASSERT_TRUE(bound.has_verdict()) << bound.reason;
  const double t = 3;  // row 2 averages w_0, w_1, w_2
  const double sum = 27.0 * 27 + 28 * 28 + 29 * 29;
  EXPECT_NEAR(term(bound, Attribution::noise).value, 4 * t * (t + 54) * 2 / (0.5 * sum), 1e-9);
  EXPECT_NEAR(
      term(bound, Attribution::optimisation).value, 0.5 * 27 * 27 * 27 * 3 / (8 * sum), 1e-9);
  EXPECT_NEAR(term(bound, Attribution::residual).value, 64 * t * 5 / (0.5 * sum) * 6 * 4 * 2, 1e-9);

  EXPECT_EQ(mem_sgd_bound(facts, 1).verdict, BoundVerdict::not_applicable);  // not 8/(mu a)
  facts.step.shift = 10;                                                     // alpha = 3.5
  EXPECT_EQ(mem_sgd_bound(facts, 1.6).verdict, BoundVerdict::not_applicable);
  facts.step.shift.reset();
  EXPECT_NE(mem_sgd_bound(facts, 16.0 / 27).verdict, BoundVerdict::holds);
  EXPECT_EQ(mem_sgd_bound(facts, 16.0 / 27).verdict, BoundVerdict::not_applicable);
}

TEST(MemSgd, AcceptsItsDelayByTheConditionOfThePaper) {
  // alpha = (a-1) k/d - 1 must satisfy (alpha+1) d/k + r/(r+1) <= a, r = 4
  // alpha/((alpha-4)(alpha+1)^2).
  for (const double ratio : {1.0, 2.0, 100.0}) {
    for (const double a : {6 * ratio + 1, 7 * ratio, 50 * ratio}) {
      const double alpha = (a - 1) / ratio - 1;
      if (alpha > 4) {
        const double r = 4 * alpha / ((alpha - 4) * (alpha + 1) * (alpha + 1));
        EXPECT_LE((alpha + 1) * ratio + r / (r + 1), a);
      }
    }
  }
}

}  // namespace
}  // namespace residuum
