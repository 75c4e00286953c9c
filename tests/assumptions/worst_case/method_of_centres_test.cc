// The method of centres on programmes whose answer is known.

#include "assumptions/worst_case/method_of_centres.h"

#include <gtest/gtest.h>

namespace residuum {
namespace {

/// y (rho I - A) positive definite with A = ((2, 1), (1, 2)): rho is above A's eigenvalue 3.
RateProgram largest_eigenvalue() {
  RateProgram program;
  program.blocks.push_back({.size = 2, .fixed = {{-2, -1, -2}}, .per_rate = {{1, 0, 1}}});
  program.norm = {1};
  return program;
}

TEST(MethodOfCentres, FindsAnEigenvalue) {
  const auto found = least_rate(largest_eigenvalue(), {.rate = 100, .y = {1}});

  ASSERT_TRUE(found.has_value());
  EXPECT_GT(found->rate, 3);
  EXPECT_NEAR(static_cast<double>(found->rate), 3, 1e-8);
}

TEST(MethodOfCentres, TakesRowsThatMoveWithRho) {
  // y_1 (rho - 1) > y_2 and y_2 > y_1: rho is above 2.
  RateProgram program;
  program.blocks.push_back({.size = 1, .fixed = {{1}, {0}}, .per_rate = {{0}, {0}}});
  program.rows = {{.fixed = {-1, -1}, .per_rate = {1, 0}}, {.fixed = {-1, 1}, .per_rate = {0, 0}}};
  program.norm = {1, 1};

  const auto found = least_rate(program, {.rate = 10, .y = {1, 2}});

  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(static_cast<double>(found->rate), 2, 1e-8);
}

TEST(MethodOfCentres, EndsAtTheFloor) {
  const auto found = least_rate(largest_eigenvalue(), {.rate = 100, .y = {1}}, {.floor = 4});

  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->rate, 4);
}

TEST(MethodOfCentres, NeedsAPointOfTheCone) {
  EXPECT_FALSE(least_rate(largest_eigenvalue(), {.rate = 2, .y = {1}}).has_value());
}

}  // namespace
}  // namespace residuum
