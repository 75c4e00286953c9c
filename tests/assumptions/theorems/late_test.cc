// The theorems about late gradients: hand calculations, what each asks for, and schedules on
// quadratics of which all moments are exact.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
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
using test::late_facts;
using test::LateQuadratic;
using test::row_of;
using test::Schedule;
using test::state_of;
using test::SteadyRun;
using test::value_of;

SteadyRun late_run(double staleness, double contributions) {
  return {.gradient = 1e-3,
          .further = {{Column::staleness_max, staleness},
                      {Column::staleness_mean, staleness / 2},
                      {Column::contributions, contributions}}};
}

// 2 Delta/(eta T) = 2/(0.1 * 100), L eta sigma^2/b = 0.8/b.
TEST(Delayed, IsThatOfAHandCalculationWithWhatEveryVersionShowed) {
  const RunFacts facts = late_facts();
  EXPECT_NEAR(*evaluate("delayed", late_run(0, 4).evidence(facts)).rhs, 0.2 + 0.2, 1e-12);
  // 2 * 0.01 * 3 * 8/4
  EXPECT_NEAR(*evaluate("delayed", late_run(3, 4).evidence(facts)).rhs, 0.2 + 0.2 + 0.12, 1e-12);
  // The limit is 2/(1 + sqrt 289) = 0.111 for tau = 6, and 2/(1 + sqrt 393) = 0.096 for 7.
  EXPECT_TRUE(evaluate("delayed", late_run(6, 4).evidence(facts)).has_verdict());
  EXPECT_EQ(evaluate("delayed", late_run(7, 4).evidence(facts)).verdict,
            BoundVerdict::not_applicable);
}

/// Ten versions of staleness 1, but for one; the fourth is `seen` or not.
Evidence with_one_late_version(const RunFacts& facts, bool seen) {
  Evidence evidence(facts);
  for (int i = 0; i < 2; ++i) {
    SeedEvidence seed(10);
    for (std::uint64_t t = 0; t < 10; ++t) {
      Row row =
          row_of(t, {{Column::step_size, 0.1}, {Column::grad_norm_sq, 1e-3}, {Column::loss, 1}});
      if (seen || t != 4) {
        row.set(Column::staleness_max, t == 7 ? 3 : 1);
        row.set(Column::staleness_mean, 1);
        row.set(Column::contributions, t == 8 ? 2 : 5);
      }
      seed.add(row);
    }
    evidence.add(std::move(seed));
  }
  return evidence;
}

TEST(Delayed, TakesTheLargestStalenessOnlyIfEveryVersionWasSeen) {
  RunFacts facts = late_facts();
  Bound bound = evaluate("delayed", with_one_late_version(facts, true));
  EXPECT_EQ(value_of(bound, "τ"), 3);
  EXPECT_EQ(value_of(bound, "b"), 2);
  EXPECT_TRUE(bound.has_verdict()) << bound.reason;

  bound = evaluate("delayed", with_one_late_version(facts, false));
  EXPECT_EQ(bound.verdict, BoundVerdict::not_measured);
  EXPECT_NE(bound.reason.find("not measured in each iteration"), std::string::npos) << bound.reason;

  facts.protocol.staleness = 5;  // the protocol's law is a limit, whatever was measured
  facts.protocol.contributions = 4;
  bound = evaluate("delayed", with_one_late_version(facts, false));
  EXPECT_EQ(value_of(bound, "τ"), 5);
  EXPECT_EQ(value_of(bound, "b"), 4);
  facts.protocol.contributions.reset();
  bound = evaluate("delayed", with_one_late_version(facts, false));
  EXPECT_EQ(value_of(bound, "b"), 1);
}

TEST(Delayed, AsksForWorkersWhoseGradientsAreThoseOfF) {
  RunFacts facts = late_facts();
  facts.gradients.workers_alike = false;
  for (const char* name : {"delayed", "concurrency"}) {
    const Bound bound = evaluate(name, late_run(1, 1).evidence(facts));
    EXPECT_EQ(state_of(bound, "every worker's gradients are those of f"),
              PreconditionState::not_met);
    EXPECT_EQ(bound.verdict, BoundVerdict::not_applicable);
  }
  facts.workers = 1;
  EXPECT_TRUE(evaluate("delayed", late_run(1, 1).evidence(facts)).has_verdict());
}

TEST(Delayed, AsksForVersionsThatAreMeans) {
  RunFacts facts = late_facts();
  facts.protocol.contributions_weigh_alike = false;
  for (const char* name : {"delayed", "concurrency"}) {
    const Bound bound = evaluate(name, late_run(1, 1).evidence(facts));
    EXPECT_EQ(state_of(bound, "a version is the mean"), PreconditionState::not_met);
    EXPECT_EQ(bound.verdict, BoundVerdict::not_applicable);
  }
}

TEST(Delayed, AsksForDenseUpdatesByAConstantStep) {
  const auto verdict = [](const char* name, const RunFacts& facts) {
    return evaluate(name, late_run(1, 1).evidence(facts)).verdict;
  };
  for (const char* name : {"delayed", "concurrency"}) {
    RunFacts facts = late_facts();
    facts.protocol.contributions = 1;
    EXPECT_EQ(verdict(name, facts), BoundVerdict::holds);
    RunFacts other = facts;
    other.sends_everything = false;
    EXPECT_EQ(verdict(name, other), BoundVerdict::not_applicable) << name;
    other = facts;
    other.update.momentum = 0.9;
    EXPECT_EQ(verdict(name, other), BoundVerdict::not_applicable) << name;
    other = facts;
    other.step.constant = false;
    EXPECT_EQ(verdict(name, other), BoundVerdict::not_applicable) << name;
    other = facts;
    other.gradients.independent_draws = false;
    EXPECT_EQ(verdict(name, other), BoundVerdict::not_applicable) << name;
    other = facts;
    other.protocol.synchrony = Synchrony::lockstep;
    EXPECT_EQ(verdict(name, other), BoundVerdict::not_applicable) << name;
  }
}

TEST(Concurrency, IsThatOfAHandCalculation) {
  RunFacts facts = late_facts();
  facts.protocol.contributions = 1;
  // 0.2 + 0.8 and 2 * 0.01 * 3 * 8; three others in the making and tau = 4.
  EXPECT_NEAR(
      *evaluate("concurrency", late_run(4, 1).evidence(facts)).rhs, 0.2 + 0.8 + 0.48, 1e-12);
  facts.workers = 10;  // the limit 2/(1 + sqrt(1 + 72 tau)) is 0.1000 for tau = 5, 0.0917 for 6
  EXPECT_TRUE(evaluate("concurrency", late_run(5, 1).evidence(facts)).has_verdict());
  const Bound too_long = evaluate("concurrency", late_run(6, 1).evidence(facts));
  EXPECT_EQ(state_of(too_long, "η ≤ 2/(L(1 + √(1 + 8(τ_C − 1)τ)))"), PreconditionState::not_met);
}

TEST(Concurrency, IsKnownOnlyWhereEveryGradientIsAVersion) {
  RunFacts facts = late_facts();
  const Bound bound = evaluate("concurrency", late_run(1, 2).evidence(facts));
  EXPECT_EQ(bound.verdict, BoundVerdict::not_measured);
  EXPECT_NE(bound.reason.find("τ_C"), std::string::npos) << bound.reason;
}

// Four workers that have one gradient each in the making cannot be 3.5 versions late on average.
TEST(Concurrency, IsContradictedByALargerMeanStaleness) {
  RunFacts facts = late_facts();
  facts.protocol.contributions = 1;
  EXPECT_EQ(state_of(evaluate("concurrency", late_run(6, 1).evidence(facts)), "mean staleness"),
            PreconditionState::met);
  const Bound bound = evaluate("concurrency", late_run(7, 1).evidence(facts));
  EXPECT_EQ(state_of(bound, "mean staleness"), PreconditionState::not_met);
  EXPECT_EQ(bound.verdict, BoundVerdict::not_applicable);
}

/// The step limit of the theorem, calculated from the schedule itself.
double late_limit(double smoothness, std::size_t crossing, std::size_t tau) {
  return 2 / (smoothness * (1 + std::sqrt(1 + 8.0 * static_cast<double>(crossing * tau))));
}

// All take the largest step that the theorem allows.
TEST(NoViolation, OfDelayedBySchedulesWithExactMoments) {
  test::SmallestSlack slack("delayed");
  for (const std::size_t quota : {1, 3}) {
    for_all_schedules(quota,
                      [&](LateQuadratic problem,
                          const Schedule& schedule,
                          const AsynchronousWorkers& of,
                          std::size_t tau,
                          const std::string& name) {
                        problem.step = late_limit(problem.smoothness(), tau, tau);
                        slack.expect_no_violation(late_evidence(problem, schedule, of), name);
                      });
  }
  slack.tell();
}

TEST(NoViolation, OfConcurrencyBySchedulesWithExactMoments) {
  test::SmallestSlack slack("concurrency");
  for_all_schedules(1,
                    [&](LateQuadratic problem,
                        const Schedule& schedule,
                        const AsynchronousWorkers& of,
                        std::size_t tau,
                        const std::string& name) {
                      problem.step = late_limit(problem.smoothness(), of.workers - 1, tau);
                      slack.expect_no_violation(late_evidence(problem, schedule, of), name);
                    });
  slack.tell();
}

// Nine workers in turn: each gradient is eight versions old. A step of pi times the limit is
// unstable, since 2 sin(pi/34) = 0.184 is the largest stable one.
TEST(Concurrency, NeedsItsStepLimit) {
  const AsynchronousWorkers of{.workers = 9, .round_robin = true};
  const Schedule schedule = schedule_of(of, 400);
  const double limit = late_limit(1, 8, 8);
  EXPECT_LT(limit, 0.184);
  EXPECT_GT(3 * limit, 0.184);
  const LateQuadratic problem{.step = 3 * limit};
  const Bound bound = evaluate("concurrency", late_evidence(problem, schedule, of));
  EXPECT_EQ(bound.verdict, BoundVerdict::not_applicable);
  const auto evidence = late_evidence(problem, schedule, of);
  const auto snapshots = evidence.seeds().front().snapshots();
  const auto& last = snapshots.rbegin()->second;
  EXPECT_GT(last.gradient->value, 2 * 0.5 / *last.step_sum);
}

TEST(LateRuns, AreNotJudgedByHalfBatchesOfLateGradients) {
  RunFacts facts = late_facts();
  facts.protocol.contributions = 1;
  Evidence evidence(facts);
  for (int i = 0; i < 2; ++i) {
    SeedEvidence seed(10);
    for (std::uint64_t t = 0; t < 10; ++t) {
      seed.add(row_of(t,
                      {{Column::step_size, 0.1},
                       {Column::grad_norm_sq_split, 1e-3},
                       {Column::loss, 1},
                       {Column::staleness_max, 1},
                       {Column::staleness_mean, 1}}));
    }
    evidence.add(std::move(seed));
  }
  EXPECT_EQ(evaluate("delayed", evidence).verdict, BoundVerdict::not_measured);
  EXPECT_EQ(evaluate("concurrency", evidence).verdict, BoundVerdict::not_measured);
}

}  // namespace
}  // namespace residuum
