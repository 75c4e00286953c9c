// What all seeds of a method have, whatever the order in which they are told.

#include <gtest/gtest.h>

#include "tests/assumptions/theorems/support.h"

namespace residuum {
namespace {

RunFacts first_seed() {
  return {.k = 10,
          .contraction = 0.1,
          .contraction_is_exact = true,
          .threshold = 0.5,
          .conserves = true,
          .staleness = 3,
          .contributions = 4,
          .gradient_bias = {},
          .deterministic = true,
          .convex = true,
          .worker_smoothness = Known{2, "first"},
          .mean_worker_smoothness = Known{1, "first"},
          .largest_worker_smoothness = Known{3, "first"},
          .strong_convexity = Known{0.1, "first"},
          .minimum = Known{-1, "first"},
          .noise_variance = Known{5, "first"}};
}

RunFacts second_seed() {
  return {.k = 8,
          .contraction = 0.1,
          .contraction_is_exact = true,
          .threshold = 0.7,
          .conserves = false,
          .staleness = 2,
          .contributions = 3,
          .gradient_bias = "images are augmented",
          .deterministic = true,
          .convex = std::nullopt,
          .worker_smoothness = Known{1, "second"},
          .mean_worker_smoothness = Known{2, "second"},
          .largest_worker_smoothness = std::nullopt,
          .strong_convexity = Known{0.2, "second"},
          .minimum = Known{-2, "second"},
          .noise_variance = Known{6, "second"}};
}

void expect_the_weaker(const RunFacts& facts) {
  EXPECT_EQ(facts.k, 8);
  EXPECT_EQ(facts.contraction, 0.1);
  EXPECT_FALSE(facts.contraction_is_exact) << "it is exact for one k alone";
  EXPECT_EQ(facts.threshold, 0.7);
  EXPECT_FALSE(facts.conserves);
  EXPECT_EQ(facts.staleness, 3);
  EXPECT_EQ(facts.contributions, 3);
  EXPECT_EQ(facts.gradient_bias, "images are augmented");
  EXPECT_TRUE(facts.deterministic);
  EXPECT_FALSE(facts.convex) << "one seed does not know it";
  EXPECT_EQ(facts.worker_smoothness->value, 2);
  EXPECT_EQ(facts.worker_smoothness->origin, "first");
  EXPECT_EQ(facts.mean_worker_smoothness->value, 2);
  EXPECT_FALSE(facts.largest_worker_smoothness);
  EXPECT_EQ(facts.strong_convexity->value, 0.1);
  EXPECT_EQ(facts.minimum->value, -2);
  EXPECT_EQ(facts.noise_variance->value, 6);
}

TEST(WeakerFacts, AreTheSameWhicheverSeedComesFirst) {
  expect_the_weaker(weaker_of(first_seed(), second_seed()));
  expect_the_weaker(weaker_of(second_seed(), first_seed()));
}

TEST(WeakerFacts, OfOneSeedAreItsOwn) {
  const RunFacts facts = weaker_of(first_seed(), first_seed());
  EXPECT_TRUE(facts.contraction_is_exact);
  EXPECT_EQ(facts.convex, true);
  EXPECT_EQ(facts.threshold, 0.5);
  RunFacts concave = first_seed();
  concave.convex = false;
  EXPECT_EQ(weaker_of(first_seed(), concave).convex, false);
  EXPECT_EQ(weaker_of(concave, first_seed()).convex, false);
}

}  // namespace
}  // namespace residuum
