// Hard threshold, Top-k, EF21 and the dense protocols against hand calculations.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/assumptions/theorems/support.h"

namespace residuum {
namespace {

using test::evaluate;
using test::plain_facts;
using test::row_of;
using test::SteadyRun;
using test::term;
using test::top_k_facts;

TEST(HardThreshold, IsThatOfAHandCalculationConvexAndNot) {
  MethodFacts facts = top_k_facts(1);
  facts.sparsifier = "hard-threshold";
  facts.k.reset();
  facts.threshold = 0.02;
  facts.workers = 2;
  const SteadyRun run{.gradient = 1e-3, .further = {{Column::loss_gap, 1e-3}}};
  // 4/10 + 2 * 0.1/2 + 2 * 100 * 4e-4
  EXPECT_NEAR(*evaluate("hard-threshold", run.evidence(facts)).rhs, 0.4 + 0.1 + 0.08, 1e-12);
  facts.convex = true;
  facts.initial_distance_sq = Known{2, "exact"};
  // 2 * 2/10 + 2 * 0.1/2 + 4 * 100 * 4e-4
  EXPECT_NEAR(*evaluate("hard-threshold-convex", run.evidence(facts)).rhs, 0.4 + 0.1 + 0.16, 1e-12);
  facts.threshold.reset();
  EXPECT_EQ(evaluate("hard-threshold", run.evidence(facts)).verdict, BoundVerdict::not_measured);
  EXPECT_EQ(evaluate("top-k", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
}

TEST(HardThreshold, HasNoHeterogeneityWithoutNoiseGrowthAndHasSomeWithIt) {
  MethodFacts facts = top_k_facts(1);
  facts.sparsifier = "hard-threshold";
  facts.threshold = 0.02;
  facts.workers = 2;
  facts.noise_variance.reset();
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
  MethodFacts facts = top_k_facts(64);  // q = 0.36, Q = 0.36/0.16 = 2.25
  facts.workers = 4;
  const SteadyRun run{.gradient = 1e-3,
                      .further = {{Column::heterogeneity, 3}, {Column::loss_gap, 1e-3}}};
  // 8/10 + 4 * 0.1/4 + 4 * 2.25 * 0.01 (3 + 1)
  EXPECT_NEAR(*evaluate("top-k", run.evidence(facts)).rhs, 0.8 + 0.1 + 0.36, 1e-12);
  facts.convex = true;
  facts.initial_distance_sq = Known{2, "exact"};
  // 4 * 2/10 + 4 * 0.1/4 + 8 * 2.25 * 0.01 * 4
  EXPECT_NEAR(*evaluate("top-k-convex", run.evidence(facts)).rhs, 0.8 + 0.1 + 0.72, 1e-12);
}

TEST(Ef21, IsThatOfAHandCalculation) {
  MethodFacts facts = top_k_facts(36);  // sqrt(1 - alpha) = 0.8, theta = 0.2: limit 1/(1 + 4)
  facts.feedback = "ef21";
  facts.full_gradients = true;
  facts.worker_smoothness = Known{1, "exact"};
  SteadyRun run{.gradient = 1e-3, .further = {{Column::ef21_distortion, 4}}};
  const Bound bound = evaluate("ef21", run.evidence(facts));
  EXPECT_NEAR(*bound.rhs, 0.2 + 4 / (0.2 * 100), 1e-12);
  run.step = 0.21;
  EXPECT_EQ(evaluate("ef21", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
  facts.sparsifier = "scaled rand-k";  // it contracts nothing
  EXPECT_EQ(evaluate("ef21", SteadyRun{.further = run.further}.evidence(facts)).verdict,
            BoundVerdict::not_applicable);
  facts.sparsifier = "top-k";
  run.step = 0.1;
  facts.worker_smoothness.reset();
  EXPECT_EQ(evaluate("ef21", run.evidence(facts)).verdict, BoundVerdict::not_measured);
  facts.full_gradients = false;
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
  MethodFacts facts = top_k_facts(36);
  facts.full_gradients = true;
  facts.sampling = "shuffle";
  Bound bound = evaluate("ef21", run.evidence(facts));
  EXPECT_EQ(detail_of(bound, "full gradients"), "gradients are full");
  bound = evaluate("ijcai", run.evidence(facts));
  EXPECT_EQ(detail_of(bound, "gradients are unbiased given the past"), "gradients are full");
  EXPECT_EQ(detail_of(bound, "nothing is lost for good"), "the put-back rule conserves");

  facts.full_gradients = false;
  facts.conserves = false;
  bound = evaluate("ef21", run.evidence(facts));
  EXPECT_EQ(detail_of(bound, "full gradients"), "gradients are drawn from batches");
  bound = evaluate("ijcai", run.evidence(facts));
  EXPECT_EQ(detail_of(bound, "gradients are unbiased given the past"), "sampling is shuffle");
  EXPECT_EQ(detail_of(bound, "nothing is lost for good"), "the put-back rule leaks");
}

TEST(Synchronisation, OfOneLocalStepAndOfNoDelayIsThatOfLockstep) {
  MethodFacts facts = plain_facts();
  facts.workers = 4;
  facts.noise_variance = Known{8, "exact"};
  const SteadyRun run{.gradient = 1e-3, .further = {{Column::worker_grad_norm_sq, 5}}};
  const Bound lockstep = evaluate("bsp", run.evidence(facts));
  EXPECT_NEAR(*lockstep.rhs, 0.2 + 0.1 * 8 / 4, 1e-12);
  EXPECT_EQ(evaluate("delayed", run.evidence(facts)).reason,
            "the protocol is that of the theorem: protocol is bsp");
  EXPECT_EQ(evaluate("local-sgd", run.evidence(facts)).verdict, BoundVerdict::not_applicable);

  facts.protocol = "local";
  facts.period = 1;
  EXPECT_DOUBLE_EQ(*evaluate("local-sgd", run.evidence(facts)).rhs, *lockstep.rhs);
  facts.period = 4;  // (3 * 0.1)^2 * 5
  EXPECT_NEAR(*evaluate("local-sgd", run.evidence(facts)).rhs, *lockstep.rhs + 0.45, 1e-12);

  facts.protocol = "asp";
  facts.delay = 0;
  facts.contributions = 4;
  EXPECT_DOUBLE_EQ(*evaluate("delayed", run.evidence(facts)).rhs, *lockstep.rhs);
  facts.delay = 3;  // 2 * 0.01 * 3 * 8/4
  EXPECT_NEAR(*evaluate("delayed", run.evidence(facts)).rhs, *lockstep.rhs + 0.12, 1e-12);
  facts.delay = 5;  // eta <= 1/12
  EXPECT_EQ(evaluate("delayed", run.evidence(facts)).verdict, BoundVerdict::not_applicable);
  facts.delay.reset();
  EXPECT_EQ(evaluate("delayed", run.evidence(facts)).verdict, BoundVerdict::not_measured);
}

}  // namespace
}  // namespace residuum
