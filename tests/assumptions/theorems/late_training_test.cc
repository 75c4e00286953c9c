// The theorems about late gradients, of runs of the trainer on quadratics of which every constant
// is known, with what the tables say of staleness and contributions.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/assumptions/theorems/known_problem.h"

namespace residuum {
namespace {

using test::evaluate;
using test::Json;
using test::Recipe;
using test::UnequalQuadratics;

Evidence late_training(const Json& protocol, const UnequalQuadratics& problem, double step) {
  const auto rule = make_protocol(Section("protocol", protocol));
  Recipe recipe;
  recipe.protocol = rule.get();
  recipe.step = {{"value", step}};
  recipe.iterations = 300;
  return evidence_of(problem, recipe, 8);
}

const std::vector<Json> kLateProtocols{
    {{"kind", "asp"}, {"compute", "exponential:1"}},
    {{"kind", "asp"}, {"compute", 1}, {"speeds", {1, 1, 1, 0.2}}},
    {{"kind", "ssp"}, {"staleness", 1}, {"compute", "exponential:1"}},
    {{"kind", "inhad"},
     {"nodes", 2},
     {"quota", 3},
     {"staleness", 2},
     {"cap", 2},
     {"compute", "exponential:1"}}};

TEST(NoViolation, OfLateTheoremsByTheTrainer) {
  for (const Json& protocol : kLateProtocols) {
    for (const double noise : {0.0, 4.0}) {
      const UnequalQuadratics problem({.noise_variance = noise, .spread = 0});
      const Evidence evidence = late_training(protocol, problem, 0.02);
      const std::string of = fmt::format("{}, sigma^2 = {}", protocol.dump(), noise);
      for (const char* name : {"delayed", "delayed-convex", "ssp-regret"}) {
        test::expect_no_violation(name, evidence, of);
      }
      if (protocol["kind"] == "inhad") {
        EXPECT_EQ(evaluate("concurrency", evidence).verdict, BoundVerdict::not_measured);
      } else {
        test::expect_no_violation("concurrency", evidence, of);
      }
      for (const char* name : {"bsp", "certificate", "certificate-any-rule", "bounded-moment"}) {
        EXPECT_EQ(evaluate(name, evidence).verdict, BoundVerdict::not_applicable) << name;
      }
    }
  }
}

// Some gradient is 28 versions late, but no more than four are in the making.
TEST(LateTraining, MayTakeLongerStepsByConcurrencyThanByItsLargestDelay) {
  const Evidence evidence =
      late_training(kLateProtocols.front(), UnequalQuadratics({.spread = 0}), 0.03);
  EXPECT_EQ(test::state_of(evaluate("delayed", evidence), "η ≤ "), PreconditionState::not_met);
  EXPECT_TRUE(evaluate("concurrency", evidence).has_verdict());
}

TEST(LateTraining, OfWorkersThatDifferIsNotJudged) {
  const Evidence evidence =
      late_training(kLateProtocols.front(), UnequalQuadratics({.noise_variance = 4}), 0.03);
  for (const char* name : {"delayed", "concurrency", "delayed-convex", "ssp-regret"}) {
    EXPECT_EQ(test::state_of(evaluate(name, evidence), "every worker's gradients"),
              PreconditionState::not_met);
  }
}

}  // namespace
}  // namespace residuum
