// The pairs (A, B) that a run leaves standing, against the inequalities solved by hand.

#include <gtest/gtest.h>

#include <algorithm>

#include "assumptions/estimators/compressor_constants.h"

namespace residuum {
namespace {

TEST(EstimateRecursion, KeepsTheLeastBOfEveryA) {
  // From 4 to 3 with a change of 2: B >= (4 A - 1)/2; from 3 to 4 with one of 1: B >= 1 + 3 A.
  EstimateRecursion recursion;
  recursion.look(0, 4, 100);
  recursion.look(1, 3, 2);
  const auto first = recursion.pairs();
  ASSERT_EQ(first.front().a, 1);
  for (const auto& pair : first) {
    EXPECT_NEAR(pair.b, std::max(0.0, (4 * pair.a - 1) / 2), 1e-12);
  }
  recursion.look(2, 4, 1);
  for (const auto& pair : recursion.pairs()) {
    EXPECT_NEAR(pair.b, 1 + 3 * pair.a, 1e-12);
  }
  EXPECT_EQ(recursion.compared(), 2U);
}

TEST(EstimateRecursion, HasItsGridFromOneDownwards) {
  EstimateRecursion recursion;
  recursion.look(0, 1, 1);
  recursion.look(1, 1, 1);
  const auto pairs = recursion.pairs();
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    EXPECT_LT(pairs[i].a, pairs[i - 1].a);
    EXPECT_GT(pairs[i].a, 0.96 * pairs[i - 1].a);
  }
  EXPECT_NEAR(pairs.back().a, 1e-4, 1e-15);
}

TEST(EstimateRecursion, ComparesSuccessiveIterationsOnly) {
  EstimateRecursion recursion;
  recursion.look(0, 1, 1);
  recursion.look(2, 100, 1e-9);
  EXPECT_EQ(recursion.compared(), 0U);
  EXPECT_TRUE(recursion.pairs().empty());
}

TEST(EstimateRecursion, IsRefutedWhereDistortionGrowsAndNothingHasChanged) {
  EstimateRecursion recursion;
  recursion.look(0, 2, 1);
  recursion.look(1, 1, 0);  // A up to 1/2
  for (const auto& pair : recursion.pairs()) {
    EXPECT_LE(pair.a, 0.5);
    EXPECT_EQ(pair.b, 0);
  }
  EXPECT_FALSE(recursion.pairs().empty());
  recursion.look(2, 2, 0);
  EXPECT_TRUE(recursion.pairs().empty());
}

TEST(EstimateRecursion, OfTwoRunsIsWhatNeitherRefutes) {
  EstimateRecursion one;
  one.look(0, 1, 1);
  one.look(1, 1, 1);  // B >= A
  EstimateRecursion other;
  other.look(5, 1, 1);
  other.look(6, 2, 10);  // B >= (1 + A)/10
  one.merge(other);
  EXPECT_EQ(one.compared(), 2U);
  for (const auto& pair : one.pairs()) {
    EXPECT_NEAR(pair.b, std::max(pair.a, (1 + pair.a) / 10), 1e-12);
  }
}

}  // namespace
}  // namespace residuum
