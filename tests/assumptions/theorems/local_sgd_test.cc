// The theorem of local SGD on quadratics of which every constant is known.

#include <gtest/gtest.h>

#include <memory>

#include "core/protocols/protocol.h"
#include "tests/assumptions/theorems/known_problem.h"

namespace residuum {
namespace {

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

}  // namespace
}  // namespace residuum
