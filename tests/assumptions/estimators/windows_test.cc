#include "assumptions/estimators/windows.h"

#include <gtest/gtest.h>

namespace residuum {
namespace {

TEST(Windows, TakeTheLargestMeanAndNotTheLargestDraw) {
  Windows windows(6, 2);  // 0, 1, 2 and 3, 4, 5
  windows.add(0, 9);
  windows.add(1, 0);
  windows.add(2, 0);
  windows.add(3, 4);
  windows.add(4, 5);
  windows.add(5, 6);
  EXPECT_EQ(windows.window(0), 3);
  EXPECT_EQ(windows.window(1), 5);
  EXPECT_EQ(windows.largest(), 5);
  EXPECT_EQ(windows.overall(), 4);
  EXPECT_EQ(windows.count(), 6U);
}

TEST(Windows, PoolRatiosBeforeTheyDivide) {
  Windows windows(10, 1);
  windows.add_ratio(0, 1, 1);
  windows.add_ratio(9, 1, 9);
  EXPECT_EQ(windows.largest(), 0.2);
}

TEST(Windows, OfSeveralSeedsAddUp) {
  Windows a(4, 4);
  Windows b(4, 4);
  a.add(1, 2);
  b.add(1, 6);
  b.add(3, 1);
  a.merge(b);
  EXPECT_EQ(a.window(1), 4);
  EXPECT_EQ(a.window(3), 1);
  EXPECT_FALSE(a.window(0));
}

TEST(Windows, LeaveANegativeVarianceNegative) {
  Windows windows(4, 1);
  windows.add(0, -3);
  windows.add(1, 1);
  EXPECT_EQ(windows.largest(), -1);
}

TEST(Windows, AreNoMoreThanTheIterationsAndAbsentWhereNothingWasSeen) {
  EXPECT_EQ(Windows(3).size(), 3U);
  EXPECT_EQ(Windows(1'000'000).size(), Windows::kWindows);
  EXPECT_EQ(Windows(0).size(), 1U);
  EXPECT_FALSE(Windows(3).largest());
  EXPECT_FALSE(Windows(3).overall());
}

}  // namespace
}  // namespace residuum
