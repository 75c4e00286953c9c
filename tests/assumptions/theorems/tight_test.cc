// The tight theorems: what they ask of laws and facts, and their verdicts on rows made by hand.

#include "assumptions/theorems/tight.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/assumptions/theorems/support.h"

namespace residuum {
namespace {

using test::evaluate;

/// L = 2, mu = 1, alpha = 1/2, full gradients, one worker: rho* = 0.794108532.
RunFacts tight_facts() {
  RunFacts facts = test::top_k_facts(1);
  facts.dimension = 2;
  facts.sparsifier.contraction = 0.5;
  facts.sparsifier.pathwise = true;
  facts.gradients.full = true;
  facts.gradients.shares_minimizer = true;
  facts.objective.worker_smoothness_max = Known{2, "exact"};
  facts.objective.worker_strong_convexity = Known{1, "exact"};
  facts.deterministic = true;
  return facts;
}

double step_of(const RunFacts& facts) { return tight_step(*compressed_problem_of(facts)); }

/// `ratios` from the first iteration on, of V that begins at 1.
Evidence evidence_of(const RunFacts& facts,
                     const std::vector<double>& ratios,
                     std::uint64_t iterations = 4) {
  SeedEvidence seed(iterations);
  double value = 1;
  for (std::size_t t = 0; t < ratios.size(); ++t) {
    value *= ratios[t];
    seed.add(test::row_of(t,
                          {{Column::step_size, step_of(facts)},
                           {Column::lyapunov, value},
                           {Column::lyapunov_ratio, ratios[t]}}));
  }
  Evidence evidence(facts);
  evidence.add(std::move(seed));
  return evidence;
}

TEST(TightTheorems, HoldIfNoIterationIsAboveTheRate) {
  const auto bound = evaluate("tight-ef14", evidence_of(tight_facts(), {0.7, 0.794, 0.75, 0.7}));
  EXPECT_EQ(bound.verdict, BoundVerdict::holds) << bound.reason;
  EXPECT_EQ(bound.lhs, 0.794);
  EXPECT_NEAR(*bound.rhs, 0.794108532, 1e-9);
  EXPECT_EQ(*bound.slack, *bound.rhs / 0.794);
}

TEST(TightTheorems, FailIfASingleIterationIs) {
  const auto bound = evaluate("tight-ef14", evidence_of(tight_facts(), {0.5, 0.7942, 0.5, 0.5}));
  EXPECT_EQ(bound.verdict, BoundVerdict::fails);
  EXPECT_NE(bound.remarks.find("largest factor at iteration 1"), std::string::npos)
      << bound.remarks;
}

TEST(TightTheorems, AreUndecidedWhereRowsAreMissing) {
  const auto bound = evaluate("tight-ef14", evidence_of(tight_facts(), {0.5, 0.6}, 5));
  EXPECT_EQ(bound.verdict, BoundVerdict::undecided);
  EXPECT_EQ(bound.open_key, "probes.every");
}

TEST(TightTheorems, PartTheSlackInIterations) {
  const RunFacts facts = tight_facts();
  const double rate = tight_rate(*compressed_problem_of(facts));
  const auto bound = evaluate("tight-ef14", evidence_of(facts, {rate * rate, rate * rate}, 2));
  EXPECT_DOUBLE_EQ(*bound.rates->of_proof(), 1);
  EXPECT_NEAR(*bound.rates->of_problem(), 2, 1e-12);
}

/// V_t = `factor`^t up to iteration 40, of which the first two and every twentieth have rows.
Evidence thinned_evidence(double factor) {
  const RunFacts facts = tight_facts();
  SeedEvidence seed(41);
  for (const std::uint64_t t : {0U, 1U, 20U, 40U}) {
    Row row = test::row_of(t,
                           {{Column::step_size, step_of(facts)},
                            {Column::lyapunov, std::pow(factor, static_cast<double>(t + 1))}});
    if (t < 2) {
      row.set(Column::lyapunov_ratio, t == 0 ? factor : 0.1);
    }
    seed.add(row);
  }
  Evidence evidence(facts);
  evidence.add(std::move(seed));
  return evidence;
}

TEST(TightTheorems, MeasureTheFallOverAllIterationsAlsoOfThinnedRows) {
  for (const double factor : {0.7, 0.9, 1.2}) {
    const auto bound = evaluate("tight-ef14", thinned_evidence(factor));
    EXPECT_NEAR(*bound.rates->measured, factor, 1e-12);
    EXPECT_EQ(bound.rates->of_problem().has_value(), factor < 1);
  }
  // 0.4^21 is 4e-9, and what follows may be rounding.
  EXPECT_NEAR(*measured_lyapunov_factor(thinned_evidence(0.4)), 0.4, 1e-12);
}

TEST(TightTheorems, AskForLawsAndFacts) {
  const auto state_with = [](const char* theorem, const auto& change) {
    RunFacts facts = tight_facts();
    const double step = step_of(facts);
    change(facts);
    SeedEvidence seed(1);
    seed.add(test::row_of(
        0, {{Column::step_size, step}, {Column::lyapunov, 1}, {Column::lyapunov_ratio, 0.5}}));
    Evidence evidence(facts);
    evidence.add(std::move(seed));
    return evaluate(theorem, evidence).verdict;
  };
  const auto none = BoundVerdict::not_applicable;
  EXPECT_EQ(state_with("tight-ef14", [](RunFacts&) {}), BoundVerdict::holds);
  EXPECT_EQ(state_with("tight-ef21", [](RunFacts&) {}), none);
  const auto estimates = [](RunFacts& facts) {
    facts.feedback.memory = Memory::estimate;
    facts.gradients.shares_minimizer = false;
  };
  EXPECT_EQ(state_with("tight-ef21", estimates), BoundVerdict::holds);
  EXPECT_EQ(state_with("tight-ef14", estimates), none);
  EXPECT_EQ(state_with("tight-ef14", [](RunFacts& f) { f.gradients.shares_minimizer = false; }),
            none);
  EXPECT_EQ(state_with("tight-ef14", [](RunFacts& f) { f.gradients.full = false; }), none);
  EXPECT_EQ(
      state_with("tight-ef14", [](RunFacts& f) { f.aggregator.applies_whole_messages = false; }),
      none);
  EXPECT_EQ(state_with("tight-ef14", [](RunFacts& f) { f.update.momentum = 0.9; }), none);
  EXPECT_EQ(state_with("tight-ef14", [](RunFacts& f) { f.update.weight_decay = 0.1; }), none);
  EXPECT_EQ(state_with("tight-ef14", [](RunFacts& f) { f.conserves = false; }), none);
  EXPECT_EQ(state_with("tight-ef14", [](RunFacts& f) { f.sparsifier.pathwise = false; }), none);
  EXPECT_EQ(state_with("tight-ef14", [](RunFacts& f) { f.protocol.synchrony = Synchrony::late; }),
            none);
  EXPECT_EQ(state_with("tight-ef14",
                       [](RunFacts& f) {
                         f.objective.worker_smoothness_max = Known{2.001, "exact"};
                       }),
            none);
  EXPECT_EQ(
      state_with("tight-ef14", [](RunFacts& f) { f.objective.worker_strong_convexity.reset(); }),
      BoundVerdict::not_measured);
}

TEST(TightTheorems, TellARunWhatToMeasure) {
  RunFacts facts = tight_facts();
  const double step = step_of(facts);
  const auto known = lyapunov_facts(facts, step);
  EXPECT_NEAR(*known->rate, 0.794108532, 1e-9);
  EXPECT_DOUBLE_EQ(known->root, std::sqrt(0.5));
  EXPECT_EQ(known->smoothness, 2);
  EXPECT_FALSE(lyapunov_facts(facts, 1.01 * step)->rate) << "V is measured, and not judged";
  facts.gradients.shares_minimizer = false;
  EXPECT_FALSE(lyapunov_facts(facts, step)->rate);
  facts.protocol.synchrony = Synchrony::late;
  EXPECT_FALSE(lyapunov_facts(facts, step));
}

TEST(TightTheorems, HoldTheBoundOfEf21AgainstTheTightRate) {
  // The iterations by the PL bound over those at the tight rate, and the rates of the bound.
  struct Case {
    double kappa;
    double rest;
    double bound;
    double over;
  };
  for (const auto& [kappa, rest, bound, over] : {Case{2, 0.5, 0.886729540, 1.918},
                                                 Case{10, 0.9, 0.996315989, 2.595},
                                                 Case{100, 0.99, 0.999964504, 2.803},
                                                 Case{1000, 0.999, 0.999999646, 2.826}}) {
    const CompressedProblem problem{
        .smoothness = 1, .strong_convexity = 1 / kappa, .contraction = 1 - rest};
    const auto rate = find_theorem("ef21-pl")->linear_rate(problem, std::nullopt);
    EXPECT_NEAR(rate->rate, bound, 6e-10) << kappa;
    const RateSlack slack{
        .bound = rate->rate, .tight = tight_rate(problem), .measured = std::nullopt};
    EXPECT_NEAR(*slack.of_proof(), over, 6e-4) << kappa;
    EXPECT_FALSE(find_theorem("ef21-pl")->linear_rate(problem, 1.01 * rate->step));
    EXPECT_FALSE(find_theorem("tight-ef21")->linear_rate(problem, rate->step));
  }
}

std::vector<std::string> statements_of(const std::vector<Precondition>& unmet) {
  std::vector<std::string> statements;
  for (const auto& one : unmet) {
    statements.push_back(one.statement);
  }
  return statements;
}

TEST(TightTheorems, SayWhatAMethodDoesNotMeetAtAnyStep) {
  using Statements = std::vector<std::string>;
  const auto unmet = [](const char* name, const RunFacts& facts) {
    return statements_of(unmet_preconditions(*find_theorem(name), facts));
  };
  RunFacts facts = tight_facts();
  facts.step.constant = false;  // it is asked of a constant one
  EXPECT_EQ(unmet("tight-ef14", facts), Statements());
  EXPECT_EQ(unmet("tight-ef21", facts),
            Statements{"workers exchange changes of gradient estimates"});
  facts.aggregator.applies_whole_messages = false;
  facts.gradients.shares_minimizer = false;
  EXPECT_EQ(unmet("tight-ef14", facts),
            (Statements{"every message is applied as it was sent",
                        "x* minimises every worker's objective"}));
}

TEST(TightTheorems, WorstCasesAskForWhatTheirProofsAreOf) {
  using Statements = std::vector<std::string>;
  const auto unmet = [](const RunFacts& facts, const WorstCaseDemands& demands) {
    return statements_of(unmet_by_worst_case(facts, demands));
  };
  RunFacts facts = tight_facts();
  EXPECT_EQ(unmet(facts, {.memory = Memory::residual, .common_minimizer = true}), Statements());
  EXPECT_EQ(unmet(facts, {.memory = Memory::control}),
            Statements{"the memory is gradient estimates with error control"});
  facts.gradients.shares_minimizer = false;
  facts.update.momentum = 0.5;
  EXPECT_EQ(unmet(facts, {.common_minimizer = true}),
            (Statements{"no momentum", "x* minimises every worker's objective"}));
  EXPECT_EQ(unmet(facts, {.momentum = true}), Statements());
  facts.protocol.synchrony = Synchrony::periodic;
  EXPECT_EQ(unmet(facts, {.momentum = true}), Statements{"workers exchange in lockstep"});
  EXPECT_EQ(unmet(facts, {.momentum = true, .local_steps = true}), Statements());
  facts.sends_everything = true;
  EXPECT_EQ(unmet(facts, {.momentum = true, .local_steps = true}),
            Statements{"messages leave something out"});
  EXPECT_EQ(unmet(facts, {.compresses = false, .momentum = true, .local_steps = true}),
            Statements());
}

}  // namespace
}  // namespace residuum
