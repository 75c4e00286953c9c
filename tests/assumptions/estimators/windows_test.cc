#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "assumptions/estimators/held_ratio.h"

namespace residuum {
namespace {

TEST(Windows, TakeTheLargestMeanAndNotTheLargestDraw) {
  Windows windows(6, 2);  // 0, 1, 2 and 3, 4, 5
  windows.add(0, 1, 9);
  windows.add(1, 2, 0);
  windows.add(2, 3, 0);
  windows.add(3, 4, 4);
  windows.add(4, 5, 5);
  windows.add(5, 6, 6);
  EXPECT_EQ(windows.window(0), 3);
  EXPECT_EQ(windows.window(1), 5);
  EXPECT_EQ(windows.largest(), 5);
  EXPECT_EQ(windows.overall(), 4);
  EXPECT_EQ(windows.count(), 6U);
}

TEST(Windows, PoolRatiosBeforeTheyDivide) {
  Windows windows(10, 1);
  windows.add(0, 1, 1, 1);
  windows.add(9, 10, 1, 9);
  EXPECT_EQ(windows.largest(), 0.2);
}

TEST(Windows, OfSeveralSeedsAddUp) {
  Windows a(4, 4);
  Windows b(4, 4);
  a.add(1, 2, 2);
  b.add(1, 2, 6);
  b.add(3, 4, 1);
  a.merge(b);
  EXPECT_EQ(a.window(1), 4);
  EXPECT_EQ(a.window(3), 1);
  EXPECT_FALSE(a.window(0));
}

TEST(Windows, GiveQuartersOfTheRun) {
  Windows windows(8);
  EXPECT_FALSE(windows.quarters());
  for (std::uint64_t t = 0; t < 8; ++t) {
    windows.add(t, t + 1, static_cast<double>(t));
  }
  EXPECT_EQ(windows.quarters(), (std::array<double, 4>{0.5, 2.5, 4.5, 6.5}));
  EXPECT_FALSE(Windows(3).quarters());
}

TEST(Windows, LeaveANegativeVarianceNegative) {
  Windows windows(4, 1);
  windows.add(0, 1, -3);
  windows.add(1, 2, 1);
  EXPECT_EQ(windows.largest(), -1);
}

TEST(Windows, AreNoMoreThanTheIterationsAndAbsentWhereNothingWasSeen) {
  EXPECT_EQ(Windows(3).size(), 3U);
  EXPECT_EQ(Windows(1'000'000).size(), Windows::kWindows);
  EXPECT_EQ(Windows(0).size(), 1U);
  EXPECT_FALSE(Windows(3).largest());
  EXPECT_FALSE(Windows(3).overall());
}

TEST(Windows, AreInfiniteWhereTheDenominatorsAloneAreZero) {
  Windows windows(2, 2);
  windows.add(0, 1, 0, 0);
  EXPECT_FALSE(windows.overall());
  windows.add(1, 2, 3, 0);
  EXPECT_EQ(windows.overall(), std::numeric_limits<double>::infinity());
  EXPECT_FALSE(windows.window(0));
  EXPECT_EQ(windows.window(1), std::numeric_limits<double>::infinity());
}

TEST(Windows, CountARowForTheIterationsItStandsFor) {
  Windows windows(10, 2);   // 0 to 4 and 5 to 9
  windows.add(0, 2, 1);     // two of the first
  windows.add(2, 8, 3);     // three of each
  windows.add(8, 100, 10);  // two of the second: the run has ten
  EXPECT_DOUBLE_EQ(windows.window(0).value(), (2 * 1 + 3 * 3) / 5.0);
  EXPECT_DOUBLE_EQ(windows.window(1).value(), (3 * 3 + 2 * 10) / 5.0);
  EXPECT_DOUBLE_EQ(windows.overall().value(), (2 * 1 + 6 * 3 + 2 * 10) / 10.0);
  EXPECT_EQ(windows.count(), 3U);
}

TEST(Windows, AreThoseOfABruteSumForAnyLength) {
  for (const std::uint64_t iterations : {1U, 7U, 63U, 64U, 65U, 1000U}) {
    Windows one(iterations);
    Windows by_one(iterations);
    for (std::uint64_t t = 0; t < iterations; t += 3) {
      const auto value = static_cast<double>(t * t % 17);
      one.add(t, t + 3, value);
      for (std::uint64_t s = t; s < std::min(t + 3, iterations); ++s) {
        by_one.add(s, s + 1, value);
      }
    }
    for (std::size_t i = 0; i < one.size(); ++i) {
      ASSERT_TRUE(one.window(i));
      EXPECT_DOUBLE_EQ(*one.window(i), by_one.window(i).value()) << iterations << " " << i;
    }
  }
}

TEST(Windows, TakeTheLargestRatioOfTheBeginnings) {
  Windows windows(4, 4);
  for (const auto& [t, ratio] : {std::pair{0U, 0.2}, {1U, 1.4}, {2U, 0.3}, {3U, 0.3}}) {
    windows.add(t, t + 1, ratio, 1);
  }
  EXPECT_DOUBLE_EQ(windows.largest_beginning().value(), (0.2 + 1.4) / 2);
  EXPECT_DOUBLE_EQ(windows.largest().value(), 1.4);
}

}  // namespace
}  // namespace residuum
