// A proof whose update is the mean of the messages says nothing where an aggregator cuts, weighs or
// approximates them. Every aggregator, with the keys that change its law, meets every theorem.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/assumptions/theorems/known_problem.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;
using test::UnequalQuadratics;

/// Every registered aggregator, and every choice of keys with a law of its own.
const std::vector<Json>& exchanges() {
  static const std::vector<Json> kAll{{{"kind", "dense"}},
                                      {{"kind", "allgather"}},
                                      {{"kind", "allgather"}, {"clip", "median-norm"}},
                                      {{"kind", "allgather"}, {"weighting", "senders"}},
                                      {{"kind", "sparse-reduce-scatter"}},
                                      {{"kind", "parameter-server"}},
                                      {{"kind", "parameter-server"}, {"down", "top-k"}},
                                      {{"kind", "parameter-server"}, {"down", "ef21-p"}, {"k", 9}},
                                      {{"kind", "ok-topk"}},
                                      {{"kind", "ok-topk"}, {"k", 3}},
                                      {{"kind", "gtopk-exact"}},
                                      {{"kind", "gtopk-tree"}},
                                      {{"kind", "gtopk-doubling"}},
                                      {{"kind", "gtopk-mask"}},
                                      {{"kind", "powersgd"}},
                                      {{"kind", "arc-top-k"}},
                                      {{"kind", "quantised-ring"}}};
  return kAll;
}

/// In these proofs the update is the mean of the messages.
const std::set<std::string_view> kOfWholeMessages{"alistarh",
                                                  "worker-contraction",
                                                  "mem-sgd",
                                                  "hard-threshold",
                                                  "hard-threshold-convex",
                                                  "top-k",
                                                  "top-k-convex",
                                                  "ef21",
                                                  "ef21-arithmetic-mean",
                                                  "ef21-pl",
                                                  "tight-ef14",
                                                  "tight-ef21",
                                                  "ef21-sgdm",
                                                  "ef21-p",
                                                  "econtrol",
                                                  "bsp",
                                                  "delayed",
                                                  "concurrency",
                                                  "delayed-convex",
                                                  "ssp-regret",
                                                  "local-sgd",
                                                  "qsparse-local-sgd",
                                                  "gossip"};

/// These take the update, the gap or the estimates as they were measured.
const std::set<std::string_view> kOfWhatWasMeasured{"certificate",
                                                    "certificate-any-rule",
                                                    "bounded-moment",
                                                    "ijcai",
                                                    "karimireddy",
                                                    "mean-contraction",
                                                    "convex-certificate",
                                                    "3pc",
                                                    "gossip-certificate"};

bool refuses_the_aggregator(const Bound& bound) {
  return std::any_of(
      bound.preconditions.begin(), bound.preconditions.end(), [](const Precondition& one) {
        return one.state == PreconditionState::not_met &&
               one.statement == "every message is applied as it was sent";
      });
}

TEST(TheoremsOfWholeMessages, AreAllTheOthersThanThoseOfWhatWasMeasured) {
  for (const Theorem& theorem : theorems()) {
    EXPECT_NE(kOfWholeMessages.contains(theorem.name), kOfWhatWasMeasured.contains(theorem.name))
        << theorem.name;
  }
}

TEST(TheoremsOfWholeMessages, MeetEveryAggregator) {
  for (const auto& entry : aggregators()) {
    EXPECT_TRUE(std::any_of(exchanges().begin(), exchanges().end(), [&](const Json& one) {
      return one["kind"] == entry.name;
    })) << entry.name;
  }
}

// The facts are those of the components' laws, and nothing else is told of an aggregator.
TEST(TheoremsOfWholeMessages, AskTheLawOfEveryAggregator) {
  for (const Json& exchange : exchanges()) {
    Recipe recipe;
    recipe.aggregator = exchange;
    const RunFacts facts = UnequalQuadratics({}).facts_with(recipe);
    const bool is_whole = test::aggregator(exchange)->law().applies_whole_messages;
    const Evidence evidence = test::SteadyRun{.gradient = 1e-3}.evidence(facts);
    for (const Theorem& theorem : theorems()) {
      const bool refuses = !is_whole && kOfWholeMessages.contains(theorem.name);
      EXPECT_EQ(refuses_the_aggregator(theorem.evaluate(evidence)), refuses)
          << theorem.name << " with " << exchange;
    }
  }
}

TEST(TheoremsOfWholeMessages, SayWhatTheAggregatorDoesToMessages) {
  const auto reason = [](const Json& exchange) {
    Recipe recipe;
    recipe.aggregator = exchange;
    const RunFacts facts = UnequalQuadratics({}).facts_with(recipe);
    return test::evaluate("bsp", test::SteadyRun{}.evidence(facts)).reason;
  };
  const std::string whole = "every message is applied as it was sent: aggregator ";
  EXPECT_EQ(reason({{"kind", "allgather"}, {"clip", "median-norm"}}),
            whole + "allgather clips or weighs what was sent");
  EXPECT_EQ(reason({{"kind", "ok-topk"}, {"k", 3}}), whole + "ok-topk cuts what was sent");
  EXPECT_EQ(reason({{"kind", "powersgd"}}),
            whole + "powersgd approximates the sum of the accumulators");
}

/// Runs without noise are no random draws: a theorem that applies holds, or it asks too little.
void expect_no_failure(const UnequalQuadratics& problem, const Recipe& recipe) {
  const Evidence evidence = test::evidence_of(problem, recipe, 1);
  for (const Theorem& theorem : theorems()) {
    const Bound bound = theorem.evaluate(evidence);
    EXPECT_NE(bound.verdict, BoundVerdict::fails)
        << theorem.name << " with " << recipe.aggregator << ", " << recipe.sparsifier << ", "
        << recipe.feedback << ": " << *bound.lhs << " above " << *bound.rhs;
  }
}

bool takes(const Json& exchange, const Json& feedback) {
  const AggregatorLaw law = test::aggregator(exchange)->law();
  return !law.approximates_sum && !(law.weighs_messages && feedback["kind"] == "ef21");
}

TEST(NoViolation, OfAnyTheoremUnderAnyAggregator) {
  const UnequalQuadratics problem({.dimension = 40, .spread = 20});
  for (const Json& exchange : exchanges()) {
    for (const Json& sparsifier :
         {Json{{"kind", "top-k"}, {"k", 40}}, Json{{"kind", "top-k"}, {"k", 8}}}) {
      for (const char* feedback : {"ef14", "none", "ef21"}) {
        Recipe recipe{.sparsifier = sparsifier,
                      .aggregator = exchange,
                      .feedback = {{"kind", feedback}},
                      .step = {{"value", 0.5}},
                      .iterations = 600};
        if (takes(exchange, recipe.feedback)) {
          expect_no_failure(problem, recipe);
        }
      }
    }
  }
}

}  // namespace
}  // namespace residuum
