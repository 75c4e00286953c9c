// How bounds become verdicts: intervals over seeds, sampled left sides, runs that ended early.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/assumptions/theorems/support.h"

namespace residuum {
namespace {

using test::evaluate;
using test::plain_facts;
using test::row_of;
using test::SteadyRun;

TEST(Verdicts, GoByTheIntervalOverTheSeeds) {
  // rhs of bsp: 0.2 + 0.1 = 0.3 for every seed.
  RunFacts facts = plain_facts();
  facts.objective.noise_variance = Known{1, "exact"};
  const auto verdict_of = [&](const std::vector<double>& gradients) {
    Evidence evidence(facts);
    for (const double gradient : gradients) {
      evidence.add(SteadyRun{.gradient = gradient}.seed());
    }
    return evaluate("bsp", evidence);
  };
  EXPECT_EQ(verdict_of({0.1, 0.11, 0.12}).verdict, BoundVerdict::holds);
  EXPECT_EQ(verdict_of({0.5, 0.51, 0.52}).verdict, BoundVerdict::fails);
  EXPECT_EQ(verdict_of({0.1, 0.5, 0.3}).verdict, BoundVerdict::marginal);
  // mean -0.19, s = 0.01, t_2 = 4.302653: -0.19 +- 0.0248414.
  const Bound bound = verdict_of({0.1, 0.11, 0.12});
  EXPECT_NEAR(bound.excess->high, -0.19 + 4.302653 * 0.01 / std::sqrt(3.0), 1e-7);
  EXPECT_NEAR(*bound.slack, 0.3 / 0.11, 1e-9);

  const Bound alone = verdict_of({0.1});
  EXPECT_EQ(alone.verdict, BoundVerdict::undecided);
  EXPECT_EQ(alone.reason, "one seed: a bound in expectation takes an interval over seeds");
  EXPECT_FALSE(alone.excess);
  EXPECT_TRUE(alone.rhs);
  facts.deterministic = true;
  EXPECT_EQ(verdict_of({0.1}).verdict, BoundVerdict::holds);
  EXPECT_EQ(verdict_of({0.4}).verdict, BoundVerdict::fails);
}

TEST(Verdicts, SayWhereTheLeftSideWasSampledAndWhichSeedsEndedEarly) {
  RunFacts facts = plain_facts();
  facts.objective.noise_variance = Known{1, "exact"};
  const auto sampled = [](std::uint64_t rows) {
    SeedEvidence seed(101);
    for (std::uint64_t t = 0; t < rows; ++t) {
      Row row = row_of(t, {{Column::step_size, 0.1}, {Column::loss, 1}});
      if (t % 50 == 0) {
        row.set(Column::grad_norm_sq, 0.1);
      }
      seed.add(row);
    }
    return seed;
  };
  Evidence evidence(facts);
  evidence.add(sampled(101));
  evidence.add(sampled(101));
  const Bound bound = evaluate("bsp", evidence);
  EXPECT_EQ(bound.remarks, "left side sampled at 2 of 100 iterations");
  EXPECT_EQ(bound.verdict, BoundVerdict::undecided);
  EXPECT_EQ(bound.reason,
            "the left side was measured at 2 of 100 iterations: set probes.evaluate or "
            "probes.noise_every to 1");

  SeedEvidence diverged = sampled(61);
  diverged.end_early(61);
  evidence.add(diverged);
  const Bound shorter = evaluate("bsp", evidence);
  EXPECT_LE(*shorter.iterations, 60);
  EXPECT_NE(shorter.remarks.find("1 of 3 seeds diverged"), std::string::npos) << shorter.remarks;
}

TEST(Verdicts, PreferGradientsOfEveryIterationByHalfBatchesToSampledFullOnes) {
  RunFacts facts = plain_facts();
  facts.objective.noise_variance = Known{1, "exact"};
  SeedEvidence seed(11);
  for (std::uint64_t t = 0; t < 11; ++t) {
    Row row = row_of(t, {{Column::step_size, 0.1}, {Column::loss, 1}});
    row.set(Column::grad_norm_sq_split, 0.25);
    if (t == 0) {
      row.set(Column::grad_norm_sq, 0.1);
    }
    seed.add(row);
  }
  Evidence evidence(facts);
  evidence.add(seed);
  const Bound bound = evaluate("bsp", evidence);
  EXPECT_NEAR(*bound.lhs, 0.25, 1e-12);
  EXPECT_EQ(bound.remarks, "");
}

}  // namespace
}  // namespace residuum
