#include <gtest/gtest.h>

#include <limits>

#include "reports/terminal/watch.h"

namespace residuum::reports {
namespace {

std::string drawn(const std::vector<double>& heights, std::size_t width) {
  BlockCurve curve;
  for (std::size_t i = 0; i < heights.size(); ++i) {
    curve.add(static_cast<double>(i), heights[i]);
  }
  return curve.blocks(width);
}

TEST(BlockCurve, GoesFromTheLeastMeanToTheLargest) {
  EXPECT_EQ(drawn({0, 1, 2, 3, 4, 5, 6, 7}, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(drawn({-7, -7, -3, -1}, 2), "▁█");
}

// ln 1, ln 10, ln 100 and ln 1000 are 0, 1/3, 2/3 and 1 of the way; times 7 these round to 0, 2, 5
// and 7.
TEST(BlockCurve, IsLogarithmicOverTwoDecades) {
  EXPECT_EQ(drawn({1, 10, 100, 1000}, 4), "▁▃▆█");
  EXPECT_EQ(drawn({0, 10, 100, 1000}, 4), "▁▁▂█") << "0 has no logarithm";
}

TEST(BlockCurve, IsALineWhereThereIsNoPoint) {
  BlockCurve curve;
  curve.add(0, 0);
  curve.add(10, 7);
  EXPECT_EQ(curve.blocks(8), "▁▂▃▄▅▆▇█") << "two evaluations";
}

TEST(BlockCurve, IsFlatInTheMiddleAndEmptyWithoutPoints) {
  EXPECT_EQ(drawn({3, 3, 3}, 3), "▅▅▅");
  EXPECT_EQ(drawn({3}, 2), "▅▅");
  EXPECT_EQ(drawn({}, 2), "  ");
  EXPECT_EQ(drawn({1, 2}, 0), "");
}

TEST(BlockCurve, LeavesOutWhatIsNotFinite) {
  const double inf = std::numeric_limits<double>::infinity();
  BlockCurve curve;
  curve.add(0, std::numeric_limits<double>::quiet_NaN());
  curve.add(1, inf);
  curve.add(inf, 1);
  EXPECT_TRUE(curve.empty());
}

TEST(BlockCurve, KeepsItsFormWithManyPoints) {
  std::vector<double> heights(100000);
  for (std::size_t i = 0; i < heights.size(); ++i) {
    heights[i] = static_cast<double>(i);
  }
  EXPECT_EQ(drawn(heights, 8), "▁▂▃▄▅▆▇█");
}

}  // namespace
}  // namespace residuum::reports
