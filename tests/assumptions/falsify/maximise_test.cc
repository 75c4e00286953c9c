#include "assumptions/falsify/maximise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace residuum {
namespace {

/// -(x - 1)^2 - 10 (y + 2)^2 + 5: largest at (1, -2).
double hill(std::span<const double> x) {
  return 5 - (x[0] - 1) * (x[0] - 1) - 10 * (x[1] + 2) * (x[1] + 2);
}

/// The valley of Rosenbrock turned into a ridge: largest, 0, at (1, 1).
double ridge(std::span<const double> x) {
  const double off = x[1] - x[0] * x[0];
  return -(100 * off * off + (1 - x[0]) * (1 - x[0]));
}

RandomStream random_of_test() { return {1, Purpose::test, 0, 0}; }

TEST(CoordinateSearch, AscendsAHillWhoseAxesAreTheCoordinates) {
  Budgeted function(hill, 10000);
  RandomStream random = random_of_test();
  Candidate candidate{.x = {30, 40}, .value = hill(std::vector<double>{30, 40})};

  coordinate_search(function, random, 0.5, 1e-8, candidate);

  EXPECT_NEAR(candidate.x[0], 1, 1e-6);
  EXPECT_NEAR(candidate.x[1], -2, 1e-6);
  EXPECT_EQ(candidate.value, hill(candidate.x));
  EXPECT_GT(function.left(), 0U);
}

TEST(CoordinateSearch, MovesTwoCoordinatesAtOnceAlongAnEdge) {
  // Either alone falls off: the value drops unless x + y >= 1. Largest, -1/2, at (1/2, 1/2).
  Budgeted function(
      [](std::span<const double> x) {
        return -x[0] * x[0] - x[1] * x[1] - (x[0] + x[1] < 1 ? 100 : 0);
      },
      10000);
  RandomStream random = random_of_test();
  Candidate candidate{.x = {1, 0}, .value = -1};

  coordinate_search(function, random, 0.25, 1e-6, candidate);

  EXPECT_NEAR(candidate.value, -0.5, 1e-4);
}

TEST(CoordinateSearch, StepsOutOfWhereTheFunctionIsUndefined) {
  Budgeted function(
      [](std::span<const double> x) {
        return x[0] < 2 ? -std::numeric_limits<double>::infinity() : -x[0];
      },
      100);
  RandomStream random = random_of_test();
  Candidate candidate{.x = {1.5}, .value = -std::numeric_limits<double>::infinity()};

  coordinate_search(function, random, 1, 1e-3, candidate);

  EXPECT_NEAR(candidate.x[0], 2, 2e-3);
}

TEST(NelderMead, FollowsARidgeThatIsNoCoordinate) {
  Budgeted function(ridge, 10000);
  Candidate candidate{.x = {-1.2, 1}, .value = ridge(std::vector<double>{-1.2, 1})};

  nelder_mead(function, 0.5, 1e-9, candidate);

  EXPECT_NEAR(candidate.x[0], 1, 1e-6);
  EXPECT_NEAR(candidate.x[1], 1, 1e-6);
  EXPECT_GT(function.left(), 0U);
}

TEST(NelderMead, NeverLosesTheBestAndKeepsItsBudget) {
  for (std::uint64_t budget = 0; budget < 60; ++budget) {
    std::uint64_t calls = 0;
    Budgeted function(
        [&](std::span<const double> x) {
          ++calls;
          return ridge(x);
        },
        budget);
    Candidate candidate{.x = {0.5, 0.5}, .value = ridge(std::vector<double>{0.5, 0.5})};
    const double before = candidate.value;

    nelder_mead(function, 0.5, 1e-9, candidate);

    EXPECT_LE(calls, budget);
    EXPECT_GE(candidate.value, before);
    EXPECT_EQ(candidate.value, ridge(candidate.x));
  }
}

TEST(NelderMead, LeavesOneDimensionToTheCoordinates) {
  Budgeted function([](std::span<const double> x) { return -x[0] * x[0]; }, 10);
  Candidate candidate{.x = {1}, .value = -1};

  nelder_mead(function, 0.5, 1e-9, candidate);

  EXPECT_EQ(candidate.x[0], 1);
  EXPECT_EQ(function.left(), 10U);
}

}  // namespace
}  // namespace residuum
