// The theorems about gossip: hand calculations, what each asks for, and runs on quadratics of which
// all moments are exact.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/assumptions/theorems/gossip_quadratic.h"
#include "tests/assumptions/theorems/smallest_slack.h"

namespace residuum {
namespace {

using test::complete;
using test::evaluate;
using test::gossip_evidence;
using test::gossip_facts;
using test::GossipRun;
using test::ring;
using test::ring_gap;
using test::row_of;
using test::state_of;
using test::SteadyRun;

const SteadyRun kSteadyGossip{.gradient = 1e-3,
                              .further = {{Column::loss, 1},
                                          {Column::worker_grad_norm_sq, 8},
                                          {Column::mean_grad_norm_sq, 5},
                                          {Column::consensus_sq, 0.5}}};

// 2 Delta/(eta T) = 0.2, L eta sigma^2/P = 0.2, and 4 * 0.01 * (8 - 5)/0.25.
TEST(Gossip, IsThatOfAHandCalculation) {
  EXPECT_NEAR(
      *evaluate("gossip", kSteadyGossip.evidence(gossip_facts())).rhs, 0.2 + 0.2 + 0.48, 1e-12);
}

TEST(Gossip, AsksForPlainMixingOnAConnectedGraph) {
  const auto bound = [](const RunFacts& facts) {
    return evaluate("gossip", kSteadyGossip.evidence(facts));
  };
  RunFacts facts = gossip_facts();
  EXPECT_TRUE(bound(facts).has_verdict());
  facts.protocol.spectral_gap = 0;
  EXPECT_EQ(state_of(bound(facts), "p > 0"), PreconditionState::not_met);
  facts.protocol.spectral_gap.reset();
  EXPECT_EQ(bound(facts).verdict, BoundVerdict::not_measured);
  facts = gossip_facts();
  facts.sends_everything = false;
  EXPECT_EQ(state_of(bound(facts), "workers send everything"), PreconditionState::not_met);
  facts = gossip_facts();
  facts.objective.smoothness = Known{11, "exact"};
  EXPECT_EQ(state_of(bound(facts), "η ≤ 1/L"), PreconditionState::not_met);
  facts = gossip_facts();
  facts.step.constant = false;
  EXPECT_EQ(bound(facts).verdict, BoundVerdict::not_applicable);
  facts = gossip_facts();
  facts.objective.worker_smoothness_max.reset();
  EXPECT_EQ(bound(facts).verdict, BoundVerdict::not_measured);
}

// Over T = 100 versions of eta = 0.1: nothing from f, which stays 1; 0.1 * 5; and 4 * 0.5 in all
// versions but the first, which begins without an error.
TEST(GossipCertificate, IsThatOfAHandCalculation) {
  const Bound bound = evaluate("gossip-certificate", kSteadyGossip.evidence(gossip_facts()));
  EXPECT_NEAR(*bound.rhs, 0.5 + 4 * 0.5 * 0.99, 1e-12);
}

TEST(GossipCertificate, HoldsForCompressedMessagesAndFallingStepsButNotForAnyRule) {
  const auto bound = [](const RunFacts& facts) {
    return evaluate("gossip-certificate", kSteadyGossip.evidence(facts));
  };
  RunFacts facts = gossip_facts();
  facts.sends_everything = false;
  facts.step.constant = false;
  facts.protocol.spectral_gap.reset();
  EXPECT_TRUE(bound(facts).has_verdict());
  facts.update.momentum = 0.9;
  EXPECT_EQ(bound(facts).verdict, BoundVerdict::not_applicable);
  facts = gossip_facts();
  facts.gradients.independent_draws = false;
  EXPECT_EQ(bound(facts).verdict, BoundVerdict::not_applicable);
  facts = gossip_facts();
  facts.conserves = false;
  EXPECT_EQ(state_of(bound(facts), "what neighbours exchange"), PreconditionState::not_met);
}

TEST(GossipCertificate, NeedsTheConsensusErrorOfEveryVersion) {
  Evidence evidence(gossip_facts());
  SeedEvidence seed(20);
  for (std::uint64_t t = 0; t < 20; ++t) {
    Row row = row_of(t,
                     {{Column::step_size, 0.1},
                      {Column::grad_norm_sq, 1e-3},
                      {Column::loss, 1},
                      {Column::mean_grad_norm_sq, 5}});
    if (t != 0) {
      row.set(Column::consensus_sq, 0.5);
    }
    seed.add(row);
  }
  evidence.add(seed);
  EXPECT_EQ(evaluate("gossip-certificate", evidence).verdict, BoundVerdict::not_measured);
}

std::vector<GossipRun> all_graphs() {
  std::vector<GossipRun> runs;
  for (const std::size_t workers : {3, 8}) {
    runs.push_back({.mixing = ring(workers), .gap = ring_gap(workers)});
    runs.push_back({.mixing = complete(workers), .gap = 1});
  }
  return runs;
}

/// Rings and complete graphs, both orders, with and without noise, short steps and the longest.
std::vector<GossipRun> all_gossip_runs() {
  std::vector<GossipRun> runs;
  for (GossipRun run : all_graphs()) {
    for (int choice = 0; choice < 8; ++choice) {
      run.mixes_first = (choice & 1) != 0;
      run.noise_variance = (choice & 2) != 0 ? 4 : 0;
      run.step = (choice & 4) != 0 ? 1 : 0.05;
      runs.push_back(run);
    }
  }
  return runs;
}

std::string name_of_run(const GossipRun& run) {
  return fmt::format("gap {:.3g} of {}, {}, sigma^2 = {}, eta = {}",
                     run.gap,
                     run.mixing.size(),
                     run.mixes_first ? "mix, step" : "step, mix",
                     run.noise_variance,
                     run.step);
}

TEST(NoViolation, OfGossipWithExactMoments) {
  test::SmallestSlack bound("gossip");
  test::SmallestSlack certificate("gossip-certificate");
  for (const GossipRun& run : all_gossip_runs()) {
    const Evidence evidence = gossip_evidence(run);
    bound.expect_no_violation(evidence, name_of_run(run));
    certificate.expect_no_violation(evidence, name_of_run(run));
  }
  bound.tell();
  certificate.tell();
}

// Two workers that go 0.0005 of the way to their mean pull apart: with the gap of W, which is 1,
// the theorem would fail.
TEST(NoViolation, OfGossipThatGoesAPartOfTheWayWithTheGapOfTheMatrixThatActs) {
  GossipRun run{.mixing = test::part_of_the_way(complete(2), 0.0005),
                .gap = 0.0005,
                .step = 0.5,
                .versions = 600};
  test::SmallestSlack bound("gossip");
  bound.expect_no_violation(gossip_evidence(run), "0.0005 of the way");
  bound.tell();
  run.gap = 1;
  EXPECT_EQ(evaluate("gossip", gossip_evidence(run)).verdict, BoundVerdict::fails);
}

TEST(NoViolation, OfTheGossipCertificateByCompressedMessagesWithExactMoments) {
  test::SmallestSlack certificate("gossip-certificate");
  for (const double noise : {0.0, 4.0}) {
    const GossipRun run{
        .mixing = ring(5), .gap = ring_gap(5), .choco = 0.2, .noise_variance = noise, .step = 0.1};
    const Evidence evidence = gossip_evidence(run);
    EXPECT_EQ(evaluate("gossip", evidence).verdict, BoundVerdict::not_applicable);
    certificate.expect_no_violation(evidence, fmt::format("CHOCO, sigma^2 = {}", noise));
  }
  certificate.tell();
}

// Without noise the workers still pull apart and the gradient at their mean does not vanish:
// without the term of the consensus error either bound would fail.
TEST(Gossip, NeedsTheTermOfTheConsensusError) {
  const GossipRun run{
      .mixing = ring(8), .gap = ring_gap(8), .mixes_first = true, .step = 0.5, .versions = 600};
  const Evidence evidence = gossip_evidence(run);
  for (const char* name : {"gossip", "gossip-certificate"}) {
    const Bound bound = evaluate(name, evidence);
    ASSERT_TRUE(bound.lhs && bound.rhs) << bound.reason;
    const double drift = test::term(bound, Attribution::heterogeneity).value;
    EXPECT_LE(*bound.lhs, *bound.rhs) << name;
    EXPECT_GT(*bound.lhs, *bound.rhs - drift) << name;
  }
}

}  // namespace
}  // namespace residuum
