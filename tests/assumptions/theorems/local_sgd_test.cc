// The theorems of local SGD, dense and compressed, on quadratics of which every constant is known.

#include <gtest/gtest.h>

#include <memory>

#include "core/protocols/protocol.h"
#include "tests/assumptions/theorems/known_problem.h"

namespace residuum {
namespace {

using test::evaluate;
using test::Json;
using test::Recipe;
using test::UnequalQuadratics;

std::unique_ptr<Protocol> every_nth_step(int period) {
  return make_protocol(Section("protocol", Json{{"kind", "local"}, {"period", period}}));
}

Recipe dense_local(const Protocol& protocol, double eta) {
  Recipe recipe;
  recipe.protocol = &protocol;
  recipe.step = {{"value", eta}};
  recipe.iterations = 400;
  return recipe;
}

TEST(LocalSgd, KeepsItsTheorem) {
  for (const int period : {2, 8}) {
    for (const double noise : {0.0, 4.0}) {
      const UnequalQuadratics problem({.scales = {0.2, 0.6, 1.2, 2.0}, .noise_variance = noise});
      const auto local = every_nth_step(period);
      const Evidence evidence = evidence_of(problem, dense_local(*local, 0.2), noise == 0 ? 1 : 8);
      test::expect_no_violation(
          "local-sgd", evidence, fmt::format("H = {}, sigma^2 = {}", period, noise));
      EXPECT_EQ(evaluate("bsp", evidence).verdict, BoundVerdict::not_applicable);
      EXPECT_EQ(evaluate("certificate", evidence).verdict, BoundVerdict::not_applicable);
    }
  }
}

// Without noise the workers still pull apart, so that the gradient does not vanish: without the
// term of the drift the bound would fail.
TEST(LocalSgd, NeedsTheTermOfTheDrift) {
  const UnequalQuadratics problem({.scales = {0.2, 0.6, 1.2, 2.0}});
  const auto local = every_nth_step(8);
  Recipe recipe = dense_local(*local, 0.4);
  recipe.iterations = 3000;
  const Bound bound = evaluate("local-sgd", evidence_of(problem, recipe, 1));
  ASSERT_TRUE(bound.lhs && bound.rhs);
  double drift = 0;
  for (const auto& term : bound.terms) {
    drift += term.attribution == Attribution::heterogeneity ? term.value : 0;
  }
  EXPECT_GT(drift, 0);
  EXPECT_GT(*bound.lhs, *bound.rhs - drift);
  EXPECT_LE(*bound.lhs, *bound.rhs);
}

struct Selection {
  std::string name;
  Json sparsifier;
  Json aggregator;
};

/// k = 6 of 60 entries, 12 of Rand-k, and all of them.
std::vector<Selection> selections() {
  return {
      {"top-k", {{"kind", "top-k"}, {"k", 6}}, {{"kind", "allgather"}}},
      {"rand-k", {{"kind", "rand-k"}, {"k", 12}, {"mask", "per-worker"}}, {{"kind", "allgather"}}},
      {"dense", {{"kind", "none"}}, {{"kind", "dense"}}}};
}

// All steps are the longest that the theorem allows.
TEST(QsparseLocalSgd, KeepsItsTheorem) {
  for (const int period : {2, 8}) {
    for (const double noise : {0.0, 4.0}) {
      for (const auto& selection : selections()) {
        const UnequalQuadratics problem({.scales = {0.2, 0.6, 1.2, 2.0}, .noise_variance = noise});
        const auto local = every_nth_step(period);
        Recipe recipe = dense_local(*local, 1 / (4.0 * period));
        recipe.sparsifier = selection.sparsifier;
        recipe.aggregator = selection.aggregator;
        recipe.feedback = {{"kind", "ef14"}};
        test::expect_no_violation(
            "qsparse-local-sgd",
            evidence_of(problem, recipe, 8),
            fmt::format("{}, H = {}, sigma^2 = {}", selection.name, period, noise));
      }
    }
  }
}

RunFacts qsparse_facts() {
  RunFacts facts = test::top_k_facts(64);  // q = 0.36, Q = 0.36/0.16 = 2.25
  facts.names.protocol = "local";
  facts.protocol.synchrony = Synchrony::periodic;
  facts.workers = 4;
  facts.protocol.local_steps = 5;
  facts.objective.noise_variance = Known{8, "exact"};
  facts.objective.worker_smoothness_max = Known{2, "exact"};
  return facts;
}

const test::SteadyRun kSteadyLocal{
    .step = 0.05, .gradient = 1e-3, .further = {{Column::worker_grad_norm_sq, 3}}};

// eta H T = 0.25 * 100; 2 * 0.05 * 8/4; 4 * 0.0025 * 10 * 3; 2 * 2.25 * 0.0625 * 3.
TEST(QsparseLocalSgd, IsThatOfAHandCalculation) {
  const Bound bound = evaluate("qsparse-local-sgd", kSteadyLocal.evidence(qsparse_facts()));
  ASSERT_TRUE(bound.rhs) << bound.reason;
  EXPECT_NEAR(*bound.rhs, 0.08 + 0.2 + 0.3 + 0.84375, 1e-12);
}

TEST(QsparseLocalSgd, AsksForErrorFeedbackOfWholeMessagesAndAShortStep) {
  const auto bound = [](const RunFacts& facts) {
    return evaluate("qsparse-local-sgd", kSteadyLocal.evidence(facts));
  };
  const auto state = [&](const RunFacts& facts, std::string_view statement) {
    EXPECT_EQ(bound(facts).verdict, BoundVerdict::not_applicable) << statement;
    return test::state_of(bound(facts), statement);
  };
  EXPECT_TRUE(bound(qsparse_facts()).has_verdict());
  RunFacts facts = qsparse_facts();
  facts.aggregator.applies_whole_messages = false;
  EXPECT_EQ(state(facts, "every message is applied"), PreconditionState::not_met);
  facts = qsparse_facts();
  facts.feedback.memory = Memory::velocity;
  EXPECT_EQ(state(facts, "what was not applied"), PreconditionState::not_met);
  facts = qsparse_facts();
  facts.conserves = false;
  EXPECT_EQ(state(facts, "what was not applied"), PreconditionState::not_met);
  facts = qsparse_facts();
  facts.sparsifier.contraction = 0;
  EXPECT_EQ(state(facts, "contraction q < 1"), PreconditionState::not_met);
  facts = qsparse_facts();
  facts.protocol.local_steps = 6;
  EXPECT_EQ(state(facts, "η ≤ 1/(4LH)"), PreconditionState::not_met);
  facts = qsparse_facts();
  facts.step.constant = false;
  EXPECT_EQ(state(facts, "constant step size"), PreconditionState::not_met);
  facts = qsparse_facts();
  facts.update.outer_step = 0.7;
  EXPECT_EQ(state(facts, "the model moves by the update"), PreconditionState::not_met);
  facts = qsparse_facts();
  facts.protocol.synchrony = Synchrony::lockstep;
  EXPECT_EQ(state(facts, "workers exchange after local steps"), PreconditionState::not_met);
}

// f(w) = w^2/2, one worker, H = 1, eta = 1/4. It sends what it holds at every sixth exchange only:
// w stays for six, then falls to -w/2. So sum w^2 = 6/(1 - 1/4) = 8 over the run, which is more
// than 2 Delta/eta = 4.
TEST(QsparseLocalSgd, NeedsTheTermOfTheResiduals) {
  RunFacts facts = qsparse_facts();
  facts.workers = 1;
  facts.protocol.local_steps = 1;
  facts.objective.noise_variance = Known{0, "exact"};
  facts.objective.worker_smoothness_max = Known{1, "exact"};
  facts.sparsifier.contraction.reset();
  facts.deterministic = true;
  constexpr std::uint64_t kVersions = 6 * Windows::kWindows;  // a window has six of them
  SeedEvidence seed(kVersions);
  double w = 1;
  double held = 0;
  for (std::uint64_t t = 0; t < kVersions; ++t) {
    const double brought = held + w / 4;
    const bool sends = t % 6 == 5;
    held = sends ? 0 : brought;
    seed.add(test::row_of(t,
                          {{Column::step_size, 0.25},
                           {Column::loss, w * w / 2},
                           {Column::grad_norm_sq, w * w},
                           {Column::worker_grad_norm_sq, w * w},
                           {Column::worker_accumulator_norm_sq, brought * brought},
                           {Column::residual_norm_sq, held * held}}));
    w -= sends ? brought : 0;
  }
  Evidence evidence(facts);
  evidence.add(seed);
  const Bound bound = evaluate("qsparse-local-sgd", evidence);
  ASSERT_TRUE(bound.has_verdict()) << bound.reason;
  EXPECT_NEAR(*bound.lhs * *bound.iterations, 8, 1e-12);
  EXPECT_LE(*bound.lhs, *bound.rhs);
  EXPECT_NEAR(
      *bound.rhs - test::term(bound, Attribution::residual).value, 4 / *bound.iterations, 1e-12);
}

}  // namespace
}  // namespace residuum
