// The theorems about late gradients of convex objectives.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/assumptions/theorems/late_quadratic.h"
#include "tests/assumptions/theorems/smallest_slack.h"

namespace residuum {
namespace {

using test::AsynchronousWorkers;
using test::evaluate;
using test::for_all_schedules;
using test::late_evidence;
using test::LateQuadratic;
using test::Schedule;
using test::state_of;

constexpr std::array kBoth{"delayed-convex", "ssp-regret"};

RunFacts late_convex_facts() {
  RunFacts facts = test::late_facts();
  facts.objective.convex = true;
  facts.objective.initial_distance_sq = Known{2, "exact"};
  return facts;
}

const test::SteadyRun kSteadyLate{.gradient = 4,
                                  .further = {{Column::loss_gap, 1e-3},
                                              {Column::mean_grad_norm_sq, 3},
                                              {Column::worker_grad_norm_sq, 5},
                                              {Column::staleness_max, 6},
                                              {Column::contributions, 1}}};

// 2/(2 * 0.1 * 100), and 0.05 * 3 with 0.1 * 36 times that; or 0.1 * 5 (1/2 + 12).
TEST(LateConvex, IsThatOfAHandCalculation) {
  const Evidence evidence = kSteadyLate.evidence(late_convex_facts());
  EXPECT_NEAR(*evaluate("delayed-convex", evidence).rhs, 0.1 + 0.15 * (1 + 3.6), 1e-12);
  EXPECT_NEAR(*evaluate("ssp-regret", evidence).rhs, 0.1 + 0.5 * 12.5, 1e-12);
}

// |grad f(w_t)|^2 = 4 is below |G|^2 = 5 there; where it is above, it is the G^2 of the theorem.
TEST(SspRegret, TakesTheLargerOfBothGradients) {
  test::SteadyRun run = kSteadyLate;
  run.gradient = 7;
  EXPECT_NEAR(
      *evaluate("ssp-regret", run.evidence(late_convex_facts())).rhs, 0.1 + 0.7 * 12.5, 1e-12);
}

TEST(LateConvex, AsksForWhatItsProofUses) {
  const auto expect_unmet = [](const RunFacts& facts, std::string_view statement) {
    for (const char* name : kBoth) {
      const Bound bound = evaluate(name, kSteadyLate.evidence(facts));
      EXPECT_EQ(state_of(bound, statement), PreconditionState::not_met) << name;
      EXPECT_EQ(bound.verdict, BoundVerdict::not_applicable) << name;
    }
  };
  for (const char* name : kBoth) {
    EXPECT_TRUE(evaluate(name, kSteadyLate.evidence(late_convex_facts())).has_verdict());
  }
  RunFacts facts = late_convex_facts();
  facts.objective.convex = false;
  expect_unmet(facts, "f is convex");
  facts = late_convex_facts();
  facts.gradients.workers_alike = false;
  expect_unmet(facts, "every worker's gradients are those of f");
  facts = late_convex_facts();
  facts.protocol.contributions_weigh_alike = false;
  expect_unmet(facts, "a version is the mean");
  facts = late_convex_facts();
  facts.step.constant = false;
  expect_unmet(facts, "constant step size");
  facts = late_convex_facts();
  facts.sends_everything = false;
  expect_unmet(facts, "workers send everything");
  facts = late_convex_facts();
  facts.update.momentum = 0.9;
  expect_unmet(facts, "no momentum");
  facts = late_convex_facts();
  facts.protocol.synchrony = Synchrony::lockstep;
  expect_unmet(facts, "versions are made of gradients that may be late");
}

// There is no limit of the step: the longest ones are not stable.
TEST(NoViolation, OfLateConvexBySchedulesWithExactMoments) {
  test::SmallestSlack smooth("delayed-convex");
  test::SmallestSlack regret("ssp-regret");
  const auto look = [&](LateQuadratic problem,
                        const Schedule& schedule,
                        const AsynchronousWorkers& of,
                        std::size_t /*tau*/,
                        const std::string& name) {
    for (const double step : {0.02, 0.15, 0.6}) {
      problem.step = step / problem.smoothness();
      const Evidence evidence = late_evidence(problem, schedule, of);
      const std::string run = fmt::format("{}, eta L = {}", name, step);
      smooth.expect_no_violation(evidence, run);
      regret.expect_no_violation(evidence, run);
    }
  };
  for_all_schedules(1, look);
  for_all_schedules(3, look);
  smooth.tell();
  regret.tell();
}

// Nine workers in turn, eight versions late, at a step where the delay alone keeps f up: the bounds
// without their terms of the delay would fail.
TEST(LateConvex, NeedsTheTermOfTheDelay) {
  const AsynchronousWorkers of{.workers = 9, .round_robin = true};
  const Schedule schedule = schedule_of(of, 300);
  const LateQuadratic problem{.step = 0.19};
  for (const char* name : kBoth) {
    const Bound bound = evaluate(name, late_evidence(problem, schedule, of));
    ASSERT_TRUE(bound.has_verdict()) << bound.reason;
    EXPECT_LE(*bound.lhs, *bound.rhs) << name;
    EXPECT_GT(*bound.lhs, *bound.rhs - test::term(bound, Attribution::compression).value) << name;
  }
}

}  // namespace
}  // namespace residuum
