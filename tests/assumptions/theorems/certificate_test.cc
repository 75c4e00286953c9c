// The registry, and the certificate against two iterations by hand.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/assumptions/theorems/support.h"

namespace residuum {
namespace {

using test::evaluate;
using test::plain_facts;
using test::row_of;
using test::SteadyRun;
using test::term;

TEST(Theorems, HaveDifferentNamesAndSayWhatTheyState) {
  std::set<std::string_view> names;
  for (const auto& theorem : theorems()) {
    names.insert(theorem.name);
    EXPECT_FALSE(theorem.statement.empty());
    EXPECT_FALSE(theorem.paper.empty());
  }
  EXPECT_EQ(names.size(), 32U);
  EXPECT_EQ(find_theorem("no such"), nullptr);
}

TEST(Theorems, WantAllWorkersInEveryVersionButForCertificatesOfTheMeanGradient) {
  RunFacts facts = plain_facts();
  facts.workers = 4;
  facts.protocol.participants = 2;
  const Evidence evidence(facts);
  for (const auto& theorem : theorems()) {
    const Bound bound = theorem.evaluate(evidence);
    const bool is_refused =
        bound.verdict == BoundVerdict::not_applicable &&
        bound.reason.starts_with("all workers take part in every version: 2 of 4 do");
    const bool is_for_some =
        theorem.name == "certificate" || theorem.name == "certificate-any-rule";
    EXPECT_NE(is_refused, is_for_some) << theorem.name << ": " << bound.reason;
  }
}

// f(w) = w^2/2, L = 1, eta = 1/2, w_0 = 4; nothing is sent in the first iteration, everything held
// back (e = 2) in the second, so w = 4, 4, 1 and z = 4, 2, 0 with gradients 4, 4.
TEST(Certificate, IsThatOfTwoIterationsByHand) {
  SeedEvidence seed(3);
  seed.add(row_of(0,
                  {{Column::step_size, 0.5},
                   {Column::grad_norm_sq, 16},
                   {Column::mean_grad_norm_sq, 16},
                   {Column::gap_norm_sq, 4},
                   {Column::loss, 8},
                   {Column::virtual_loss, 8}}));
  seed.add(row_of(1,
                  {{Column::step_size, 0.5},
                   {Column::grad_norm_sq, 16},
                   {Column::mean_grad_norm_sq, 16},
                   {Column::gap_norm_sq, 1},
                   {Column::loss, 8},
                   {Column::virtual_loss, 2}}));
  seed.add(row_of(2,
                  {{Column::step_size, 0.5},
                   {Column::grad_norm_sq, 1},
                   {Column::loss, 0.5},
                   {Column::virtual_loss, 0}}));
  RunFacts facts = plain_facts();
  facts.deterministic = true;
  Evidence evidence(facts);
  evidence.add(seed);
  const Bound bound = evaluate("certificate", evidence);

  EXPECT_EQ(bound.verdict, BoundVerdict::holds);
  EXPECT_EQ(bound.iterations, 2);
  EXPECT_DOUBLE_EQ(*bound.lhs, 16);
  EXPECT_DOUBLE_EQ(term(bound, Attribution::optimisation).value, 2 * (8 - 0) / 1.0);
  EXPECT_DOUBLE_EQ(term(bound, Attribution::noise).value, 2 * 0.25 * 16);
  EXPECT_DOUBLE_EQ(term(bound, Attribution::residual).value, 0.5 * 4);
  EXPECT_DOUBLE_EQ(*bound.rhs, 26);
  EXPECT_DOUBLE_EQ(*bound.slack, 26.0 / 16);
  ASSERT_EQ(bound.curve.size(), 2U);
  EXPECT_EQ(bound.curve[0].iterations, 1);
  EXPECT_DOUBLE_EQ(bound.curve[0].rhs, (2 * (8 - 2) + 0.25 * 16) / 0.5);
}

TEST(Certificate, AttributesWhatIsLostForGoodToTheLeak) {
  SteadyRun run{.further = {{Column::mean_grad_norm_sq, 1},
                            {Column::gap_norm_sq, 4},
                            {Column::mean_residual_norm_sq, 1},
                            {Column::virtual_loss, 0.5}}};
  RunFacts facts = plain_facts();
  const Bound kept = evaluate("certificate", run.evidence(facts));
  facts.conserves = false;
  const Bound leaking = evaluate("certificate", run.evidence(facts));
  EXPECT_DOUBLE_EQ(*kept.rhs, *leaking.rhs);
  const double gap = term(kept, Attribution::residual).value;
  EXPECT_DOUBLE_EQ(term(leaking, Attribution::leak).value, 0.75 * gap);
  EXPECT_DOUBLE_EQ(term(leaking, Attribution::residual).value, 0.25 * gap);
}

TEST(Certificate, TakesTheMinimumWhereTheEndIsUnknownAndSaysWhatIsMissingOtherwise) {
  SteadyRun run{.further = {{Column::mean_grad_norm_sq, 1}, {Column::gap_norm_sq, 0}}};
  RunFacts facts = plain_facts();
  const Bound bound = evaluate("certificate", run.evidence(facts));
  EXPECT_EQ(term(bound, Attribution::optimisation).formula, "2(f(z_0) − f*)/Ση");
  EXPECT_NEAR(term(bound, Attribution::optimisation).value, 2 / 10.0, 1e-12);
  facts.objective.minimum.reset();
  EXPECT_EQ(evaluate("certificate", run.evidence(facts)).verdict, BoundVerdict::not_measured);
  facts = plain_facts();
  facts.objective.smoothness.reset();
  const Bound without = evaluate("certificate", run.evidence(facts));
  EXPECT_EQ(without.verdict, BoundVerdict::not_measured);
  EXPECT_NE(without.reason.find("L: not measured"), std::string::npos) << without.reason;
}

TEST(Certificate, TakesEverySeedFromItsOwnStart) {
  // Networks start where their seed says: f(w_0) = 3 and 5, f(z_T) = 1 and 3.
  Evidence evidence(plain_facts());
  for (const double start : {3.0, 5.0}) {
    evidence.add(SteadyRun{.further = {{Column::loss, start},
                                       {Column::virtual_loss, start - 2},
                                       {Column::mean_grad_norm_sq, 0},
                                       {Column::gap_norm_sq, 0}}}
                     .seed());
  }
  const Bound bound = evaluate("certificate", evidence);
  EXPECT_NEAR(*bound.rhs, 2 * 2 / 10.0, 1e-12);
  EXPECT_NEAR(bound.excess->high - bound.excess->low, 0, 1e-12);
}

TEST(Certificate, SaysThatAMeasuredSmoothnessMayBeTooSmall) {
  RunFacts facts = plain_facts();
  facts.objective.smoothness.reset();
  const SteadyRun run{.further = {{Column::smoothness_gap, 0.7},
                                  {Column::smoothness_power, 0.9},
                                  {Column::mean_grad_norm_sq, 1},
                                  {Column::gap_norm_sq, 0}}};
  const Bound bound = evaluate("certificate", run.evidence(facts));
  EXPECT_NEAR(term(bound, Attribution::noise).value, 0.1 * 0.9, 1e-12);
  EXPECT_NE(bound.remarks.find("L is the largest ratio seen"), std::string::npos) << bound.remarks;
}

TEST(Certificate, TakesTheLargestRatioThatAnyMethodHasMetOnF) {
  RunFacts facts = plain_facts();
  facts.objective.smoothness.reset();
  const SteadyRun run{.further = {{Column::smoothness_gap, 0.7},
                                  {Column::mean_grad_norm_sq, 1},
                                  {Column::gap_norm_sq, 0}}};
  Evidence evidence = run.evidence(facts);
  evidence.see_smoothness(0.5);
  EXPECT_NEAR(term(evaluate("certificate", evidence), Attribution::noise).value, 0.1 * 0.7, 1e-12);
  evidence.see_smoothness(2);
  EXPECT_NEAR(term(evaluate("certificate", evidence), Attribution::noise).value, 0.1 * 2, 1e-12);
  EXPECT_EQ(evidence.largest_smoothness(), 0.7);
}

TEST(Certificate, DoesNotMixIterationsWithAKnownEndAndOthers) {
  SeedEvidence seed(101);
  for (std::uint64_t t = 0; t < 101; ++t) {
    Row row = row_of(t,
                     {{Column::step_size, 0.1},
                      {Column::grad_norm_sq, 0.1},
                      {Column::loss, 1},
                      {Column::mean_grad_norm_sq, 1},
                      {Column::gap_norm_sq, 0}});
    if (t % 20 == 0) {
      row.set(Column::virtual_loss, 0.5);
    }
    seed.add(row);
  }
  Evidence evidence(plain_facts());
  evidence.add(seed);
  evidence.add(seed);
  const Bound bound = evaluate("certificate", evidence);
  ASSERT_FALSE(bound.curve.empty());
  for (const auto& point : bound.curve) {
    if (point.iterations > 0) {
      EXPECT_EQ(static_cast<int>(point.iterations) % 20, 0);
      EXPECT_NEAR(point.rhs, 2 * 0.5 / (0.1 * point.iterations) + 0.1, 1e-9);
    }
  }
}

/// T = 100 and eta' = 2 eta: sums over all iterations so far in every row, f(u_T) = 1/2.
Evidence with_unperturbed(const RunFacts& facts, double initial_loss) {
  SeedEvidence seed(101);
  for (std::uint64_t t = 0; t < 101; ++t) {
    const auto n = static_cast<double>(t);
    seed.add(row_of(t,
                    {{Column::step_size, 0.1},
                     {Column::grad_norm_sq, 0.1},
                     {Column::decayed_grad_norm_sq, 0.2},
                     {Column::loss, 1},
                     {Column::unperturbed_loss, t == 0 ? initial_loss : 0.5},
                     {Column::unperturbed_step_sum, 0.2 * n},
                     {Column::unperturbed_noise_sum, 0.04 * n},
                     {Column::unperturbed_gap_sum, 0.1 * n}}));
  }
  Evidence evidence(facts);
  evidence.add(seed);
  evidence.add(seed);
  return evidence;
}

TEST(CertificateAnyRule, IsThatOfAHandCalculation) {
  RunFacts facts = plain_facts();
  facts.update.momentum = 0.5;
  facts.objective.smoothness = Known{2, "exact"};
  const Bound bound = evaluate("certificate-any-rule", with_unperturbed(facts, 1));
  ASSERT_TRUE(bound.has_verdict()) << bound.reason;
  // 2 * 0.5/20, 2 * 4/20, 4 * 10/20
  EXPECT_NEAR(term(bound, Attribution::optimisation).value, 0.05, 1e-12);
  EXPECT_NEAR(term(bound, Attribution::noise).value, 0.4, 1e-12);
  EXPECT_NEAR(term(bound, Attribution::residual).value, 2, 1e-12);
  EXPECT_NEAR(*bound.lhs, 0.1, 1e-12);
}

TEST(CertificateAnyRule, IsAboutTheDecayedObjectiveWhereWeightsDecay) {
  RunFacts facts = plain_facts();
  facts.update.weight_decay = 1;
  facts.update.effective_decay = 0.5;
  const Bound bound = evaluate("certificate-any-rule", with_unperturbed(facts, 1.5));
  ASSERT_TRUE(bound.has_verdict()) << bound.reason;
  EXPECT_NEAR(term(bound, Attribution::optimisation).value, 0.1, 1e-12);
  EXPECT_NEAR(term(bound, Attribution::noise).value, 1.5 * 4 / 20, 1e-12);
  EXPECT_NEAR(term(bound, Attribution::residual).value, 2.25 * 10 / 20, 1e-12);
  EXPECT_NEAR(*bound.lhs, 0.2, 1e-12);
  EXPECT_EQ(bound.left, "Σ η ‖∇f(w) + λw‖² / Σ η");
}

TEST(CertificateAnyRule, LeavesPlainRunsToTheCertificateAndClippedGradientsToNobody) {
  RunFacts facts = plain_facts();
  const Bound plain = evaluate("certificate-any-rule", with_unperturbed(facts, 1));
  EXPECT_EQ(plain.verdict, BoundVerdict::not_applicable);
  EXPECT_NE(plain.reason.find("`certificate` says the same"), std::string::npos) << plain.reason;
  facts.update.clipped = "update";
  EXPECT_TRUE(evaluate("certificate-any-rule", with_unperturbed(facts, 1)).has_verdict());
  facts.update.clipped = "nothing";
  facts.update.outer_step = 1.5;
  EXPECT_TRUE(evaluate("certificate-any-rule", with_unperturbed(facts, 1)).has_verdict());
  EXPECT_EQ(evaluate("certificate", with_unperturbed(facts, 1)).verdict,
            BoundVerdict::not_applicable);
  facts.update.outer_step = 1;
  facts.update.takes_signs = true;
  EXPECT_TRUE(evaluate("certificate-any-rule", with_unperturbed(facts, 1)).has_verdict());
  const Bound by_signs = evaluate("certificate", with_unperturbed(facts, 1));
  EXPECT_EQ(by_signs.verdict, BoundVerdict::not_applicable);
  EXPECT_NE(by_signs.reason.find("the signs of its entries"), std::string::npos) << by_signs.reason;
  facts.update.takes_signs = false;
  facts.update.direction = "the polar factors of its layers";
  EXPECT_TRUE(evaluate("certificate-any-rule", with_unperturbed(facts, 1)).has_verdict());
  const Bound by_factors = evaluate("certificate", with_unperturbed(facts, 1));
  EXPECT_EQ(by_factors.verdict, BoundVerdict::not_applicable);
  EXPECT_NE(by_factors.reason.find("moves by the polar factors"), std::string::npos);
  facts.update.direction.clear();
  facts.update.clipped = "worker";
  facts.update.momentum = 0.9;
  EXPECT_EQ(evaluate("certificate-any-rule", with_unperturbed(facts, 1)).verdict,
            BoundVerdict::not_applicable);
  facts.update.clipped = "nothing";
  facts.objective.gradient_bias = "batch normalisation";
  EXPECT_EQ(evaluate("certificate-any-rule", with_unperturbed(facts, 1)).verdict,
            BoundVerdict::not_applicable);
}

TEST(CertificateAnyRule, IsForLocalStepsAndForOptimisersThatOtherTheoremsRefuse) {
  RunFacts facts = plain_facts();
  facts.update.has_optimisers = true;
  EXPECT_TRUE(evaluate("certificate-any-rule", with_unperturbed(facts, 1)).has_verdict());
  const Bound plain = evaluate("certificate", with_unperturbed(facts, 1));
  EXPECT_EQ(plain.verdict, BoundVerdict::not_applicable);
  EXPECT_NE(plain.reason.find("directions of an optimiser"), std::string::npos) << plain.reason;

  facts.protocol.synchrony = Synchrony::periodic;
  EXPECT_TRUE(evaluate("certificate-any-rule", with_unperturbed(facts, 1)).has_verdict());
  facts.update.has_optimisers = false;
  EXPECT_TRUE(evaluate("certificate-any-rule", with_unperturbed(facts, 1)).has_verdict());
  for (const Synchrony other : {Synchrony::late, Synchrony::neighbours}) {
    facts.protocol.synchrony = other;
    const Bound bound = evaluate("certificate-any-rule", with_unperturbed(facts, 1));
    EXPECT_EQ(bound.verdict, BoundVerdict::not_applicable);
    EXPECT_NE(bound.reason.find("begin at one model"), std::string::npos) << bound.reason;
  }
}

}  // namespace
}  // namespace residuum
