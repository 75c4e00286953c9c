// The facts that all seeds of a method share do not depend on the order of the seeds.

#include <gtest/gtest.h>

#include "tests/assumptions/theorems/support.h"

namespace residuum {
namespace {

RunFacts first_seed() {
  return {.k = 10,
          .conserves = true,
          .deterministic = true,
          .sparsifier = {.contraction = 0.1, .threshold = 0.5, .exact = true},
          .quantiser = QuantiserLaw{.contraction = 0.5, .variance = 1, .random = false, .bits = 4},
          .protocol = {.local_steps = 4, .staleness = 3, .contributions = 4},
          .objective = {.convex = true,
                        .worker_smoothness = Known{2, "first"},
                        .worker_smoothness_mean = Known{1, "first"},
                        .worker_smoothness_max = Known{3, "first"},
                        .strong_convexity = Known{0.1, "first"},
                        .minimum = Known{-1, "first"},
                        .noise_variance = Known{5, "first"}}};
}

RunFacts second_seed() {
  return {.k = 8,
          .conserves = false,
          .deterministic = true,
          .sparsifier = {.contraction = 0.1, .threshold = 0.7, .exact = true},
          .quantiser = QuantiserLaw{.contraction = 0.4, .variance = 2, .random = true, .bits = 3},
          .protocol = {.local_steps = 5, .staleness = 2, .contributions = 3},
          .objective = {.worker_smoothness = Known{1, "second"},
                        .worker_smoothness_mean = Known{2, "second"},
                        .strong_convexity = Known{0.2, "second"},
                        .minimum = Known{-2, "second"},
                        .noise_variance = Known{6, "second"},
                        .gradient_bias = "images are augmented"}};
}

void expect_the_weaker(const RunFacts& facts) {
  EXPECT_EQ(facts.k, 8);
  EXPECT_EQ(facts.sparsifier.contraction, 0.1);
  EXPECT_FALSE(facts.sparsifier.exact) << "it is exact for one k alone";
  EXPECT_EQ(facts.sparsifier.threshold, 0.7);
  EXPECT_FALSE(facts.conserves);
  EXPECT_EQ(facts.quantiser->contraction, 0.4);
  EXPECT_EQ(facts.quantiser->variance, 2);
  EXPECT_EQ(facts.quantiser->bits, 4);
  EXPECT_TRUE(facts.quantiser->random);
  EXPECT_EQ(facts.protocol.local_steps, 5U);
  EXPECT_EQ(facts.protocol.staleness, 3U);
  EXPECT_EQ(facts.protocol.contributions, 3U);
  EXPECT_EQ(facts.objective.gradient_bias, "images are augmented");
  EXPECT_TRUE(facts.deterministic);
  EXPECT_FALSE(facts.objective.convex) << "one seed does not know it";
  EXPECT_EQ(facts.objective.worker_smoothness->value, 2);
  EXPECT_EQ(facts.objective.worker_smoothness->origin, "first");
  EXPECT_EQ(facts.objective.worker_smoothness_mean->value, 2);
  EXPECT_FALSE(facts.objective.worker_smoothness_max);
  EXPECT_EQ(facts.objective.strong_convexity->value, 0.1);
  EXPECT_EQ(facts.objective.minimum->value, -2);
  EXPECT_EQ(facts.objective.noise_variance->value, 6);
}

TEST(WeakerFacts, AreTheSameWhicheverSeedComesFirst) {
  expect_the_weaker(weaker_of(first_seed(), second_seed()));
  expect_the_weaker(weaker_of(second_seed(), first_seed()));
}

TEST(WeakerFacts, HaveNoLawThatOneSeedLacks) {
  RunFacts whole = first_seed();
  whole.quantiser.reset();
  EXPECT_FALSE(weaker_of(whole, first_seed()).quantiser);
  EXPECT_FALSE(weaker_of(first_seed(), whole).quantiser);
}

TEST(WeakerFacts, OfOneSeedAreItsOwn) {
  const RunFacts facts = weaker_of(first_seed(), first_seed());
  EXPECT_TRUE(facts.sparsifier.exact);
  EXPECT_EQ(facts.objective.convex, true);
  EXPECT_EQ(facts.sparsifier.threshold, 0.5);
  RunFacts concave = first_seed();
  concave.objective.convex = false;
  EXPECT_EQ(weaker_of(first_seed(), concave).objective.convex, false);
  EXPECT_EQ(weaker_of(concave, first_seed()).objective.convex, false);
}

}  // namespace
}  // namespace residuum
