// Theorems with bounded second moments against closed forms and the table of horizons.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "assumptions/estimators/compressor_constants.h"
#include "tests/assumptions/theorems/support.h"

namespace residuum {
namespace {

using test::evaluate;
using test::plain_facts;
using test::SteadyRun;
using test::top_k_facts;

/// L = Delta = M = theta = 1, eta = 1/sqrt(T), contraction q.
Evidence unit_evidence(double q, const RunFacts& facts) {
  return SteadyRun{.iterations = 101,
                   .step = 0.1,
                   .gradient = 1e-3,
                   .further = {{Column::mean_grad_norm_sq, 1},
                               {Column::gap_norm_sq, q},
                               {Column::contraction, q},
                               {Column::accumulator_norm_sq, 1},
                               {Column::delta, 1}}}
      .evidence(facts);
}

// T* of the table for c = 10, 100, 1000, 10000; the column of the bounded moment has Q = 4c(c-1).
TEST(BoundedMoment, HasTheHorizonsOfTheTable) {
  const std::vector<double> ratios{10, 100, 1000, 10000};
  const std::vector<double> published{4.4e5, 4.4e11, 4.4e17, 4.4e23};
  const std::vector<double> ours{1.4e4, 1.7e8, 1.8e12, 1.8e16};
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const double c = ratios[i];
    RunFacts facts = plain_facts();
    facts.dimension = 10 * c;
    facts.k = 10;
    const Evidence evidence = unit_evidence(1 - 1 / c, facts);
    EXPECT_NEAR(*evaluate("ijcai", evidence).horizon / published[i], 1, 0.02) << c;
    EXPECT_NEAR(*evaluate("karimireddy", evidence).horizon / ours[i], 1, 0.03) << c;
    // (Q/3)^2 with the exact Q.
    const double exact = amplification(1 - 1 / c) / 3;
    EXPECT_NEAR(*evaluate("bounded-moment", evidence).horizon / (exact * exact), 1, 1e-6) << c;
  }
}

TEST(BoundedMoment, IsThatOfTheClosedFormAtConstantStep) {
  const Bound bound = evaluate("bounded-moment", unit_evidence(0.9, plain_facts()));
  EXPECT_NEAR(*bound.rhs, 2 / 10.0 + 0.1 + amplification(0.9) * 0.01, 1e-9);
  EXPECT_EQ(bound.verdict, BoundVerdict::holds);
  const Bound other = evaluate("karimireddy", unit_evidence(0.9, plain_facts()));
  EXPECT_NEAR(*other.rhs, 0.3 + 360 * 0.01, 1e-9);
}

TEST(BoundedMoment, BoundsTheWeightedGapOfFallingStepsByTheSumOfCubes) {
  // sum eta_t R_t^2 <= Q sum eta_t^3 for steps that do not increase, R_t by its recursion.
  for (const double q : {0.3, 0.9, 0.99}) {
    for (const int drop : {1, 50, 1000}) {
      GapRecursion gap;
      double left = 0;
      double cubes = 0;
      for (int t = 0; t < 2000; ++t) {
        const double eta = t < drop ? 1 : 1 / std::sqrt(1.0 + t - drop);
        left += eta * gap.bound() * gap.bound();
        cubes += eta * eta * eta;
        gap.step(q, eta);
      }
      EXPECT_LE(left, amplification(q) * cubes) << q << " " << drop;
    }
  }
}

TEST(BoundedMoment, RefusesTrainingPracticeAndGradientUnitsWithChangingSteps) {
  RunFacts facts = plain_facts();
  facts.update.momentum = 0.9;
  Bound bound = evaluate("bounded-moment", unit_evidence(0.9, facts));
  EXPECT_EQ(bound.verdict, BoundVerdict::not_applicable);
  EXPECT_EQ(bound.reason, "no momentum: momentum is 0.9");
  EXPECT_FALSE(bound.has_verdict());
  EXPECT_FALSE(bound.rhs);
  facts = plain_facts();
  facts.update.weight_decay = 0.1;
  bound = evaluate("bounded-moment", unit_evidence(0.9, facts));
  EXPECT_EQ(bound.reason,
            "no decay of weights, and neither gradients nor updates are clipped: weight decay is "
            "0.1, clipped is nothing");
  facts = plain_facts();
  facts.update.clipped = "update";
  EXPECT_FALSE(evaluate("bounded-moment", unit_evidence(0.9, facts)).has_verdict());
  facts = plain_facts();
  facts.feedback.in_gradient_units = true;
  EXPECT_TRUE(evaluate("bounded-moment", unit_evidence(0.9, facts)).has_verdict());
  facts.names.step_rule = "inv-sqrt";
  facts.step.constant = false;
  bound = evaluate("bounded-moment", unit_evidence(0.9, facts));
  EXPECT_EQ(bound.verdict, BoundVerdict::not_applicable);
  EXPECT_TRUE(evaluate("certificate", unit_evidence(0.9, facts)).has_verdict());
}

TEST(BoundedMoment, RefusesWhatDoesNotContractAndBiasedDraws) {
  EXPECT_EQ(evaluate("bounded-moment", unit_evidence(1.01, plain_facts())).verdict,
            BoundVerdict::not_applicable);
  RunFacts facts = plain_facts();
  facts.names.sampling = "shuffle";
  facts.gradients.independent_draws = false;
  EXPECT_EQ(evaluate("bounded-moment", unit_evidence(0.9, facts)).verdict,
            BoundVerdict::not_applicable);
  facts.gradients.full = true;
  EXPECT_TRUE(evaluate("bounded-moment", unit_evidence(0.9, facts)).has_verdict());
}

TEST(IjcaiForm, NeedsItsAssumptionAndAPutBackThatLosesNothing) {
  RunFacts facts = plain_facts();
  facts.k = 10;
  EXPECT_NEAR(*evaluate("ijcai", unit_evidence(0.9, facts)).rhs, 0.4 + 0.2 + 0.04 * 990, 1e-9);
  facts.conserves = false;
  EXPECT_EQ(evaluate("ijcai", unit_evidence(0.9, facts)).verdict, BoundVerdict::not_applicable);
  facts.conserves = true;
  const Evidence above = SteadyRun{
      .further = {{Column::mean_grad_norm_sq, 1},
                  {Column::accumulator_norm_sq, 1},
                  {Column::delta,
                   1.5}}}.evidence(facts);
  const Bound bound = evaluate("ijcai", above);
  EXPECT_EQ(bound.verdict, BoundVerdict::not_applicable);
  EXPECT_NE(bound.reason.find("δ = 1.5"), std::string::npos) << bound.reason;
}

TEST(Alistarh, TakesXiAndGammaByHand) {
  RunFacts facts = top_k_facts(36);  // gamma = sqrt(1 - 0.36) = 0.8
  const Evidence evidence =
      SteadyRun{.gradient = 1e-3, .further = {{Column::mean_grad_norm_sq, 1}, {Column::xi, 0.2}}}
          .evidence(facts);
  // ((0.8 + 0.2)/0.2)^2 = 25
  EXPECT_NEAR(*evaluate("alistarh", evidence).rhs, 0.2 + 0.1 + 25 * 0.01, 1e-9);
  facts.names.aggregator = "gtopk-tree";
  facts.aggregator.applies_whole_messages = false;
  EXPECT_EQ(evaluate("alistarh", SteadyRun{}.evidence(facts)).verdict,
            BoundVerdict::not_applicable);
}

}  // namespace
}  // namespace residuum
