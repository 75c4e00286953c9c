#include "assumptions/estimators/upper_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/random/random.h"

namespace residuum {
namespace {

double height(const UpperLine& line, const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) {
    sum += line.slope * value + line.offset;
  }
  return sum / static_cast<double>(x.size());
}

/// The least mean height over all slopes at which it can be: 0 and those through two points, the
/// origin among them.
double brute_force(std::vector<double> x, std::vector<double> y) {
  const std::vector<double> given = x;
  x.push_back(0);
  y.push_back(0);
  std::vector<double> slopes{0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      slopes.push_back(std::max(0.0, (y[i] - y[j]) / (x[i] - x[j])));
    }
  }
  double best = std::numeric_limits<double>::infinity();
  for (const double slope : slopes) {
    UpperLine line{.slope = slope, .offset = 0};
    for (std::size_t i = 0; i < x.size(); ++i) {
      line.offset = std::max(line.offset, y[i] - slope * x[i]);
    }
    best = std::min(best, height(line, given));
  }
  return best;
}

TEST(UpperLine, FindsTheLineThatThePointsLieOn) {
  const std::vector<double> x{1, 2, 3, 5};
  const std::vector<double> y{2.5, 3, 3.5, 4.5};  // y = x/2 + 2
  const auto line = upper_line(x, y);
  ASSERT_TRUE(line);
  EXPECT_DOUBLE_EQ(line->slope, 0.5);
  EXPECT_DOUBLE_EQ(line->offset, 2);
}

TEST(UpperLine, HasNeitherNegativeSlopeNorNegativeOffset) {
  const auto falling = upper_line(std::vector<double>{1, 2, 3}, std::vector<double>{3, 2, 1});
  EXPECT_EQ(falling->slope, 0);
  EXPECT_EQ(falling->offset, 3);
  const auto steep = upper_line(std::vector<double>{1, 2, 3}, std::vector<double>{0, 4, 8});
  EXPECT_EQ(steep->offset, 0);
  EXPECT_NEAR(steep->slope, 8.0 / 3, 1e-15);
  const auto negative = upper_line(std::vector<double>{1, 2}, std::vector<double>{-1, -3});
  EXPECT_EQ(negative->slope, 0);
  EXPECT_EQ(negative->offset, 0);
}

TEST(UpperLine, OfOnePointAndOfEqualAbscissaeIsTheFlattest) {
  EXPECT_EQ(upper_line(std::vector<double>{2}, std::vector<double>{3})->slope, 0);
  const auto line = upper_line(std::vector<double>{2, 2}, std::vector<double>{3, 5});
  EXPECT_EQ(line->slope, 0);
  EXPECT_EQ(line->offset, 5);
  EXPECT_FALSE(upper_line({}, {}));
}

TEST(UpperLine, LiesAboveAllPointsAndNoLineOfTheBruteForceIsLower) {
  RandomStream random(11, Purpose::test, 0, 0);
  for (int repetition = 0; repetition < 500; ++repetition) {
    const std::size_t n = 1 + static_cast<std::size_t>(repetition % 12);
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i < n; ++i) {
      x.push_back(2 * random.normal() + 1);
      y.push_back(random.normal() + 0.5 * x.back());
    }
    const auto line = upper_line(x, y);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_LE(y[i], line->slope * x[i] + line->offset + 1e-12);
    }
    ASSERT_NEAR(height(*line, x), brute_force(x, y), 1e-9) << "repetition " << repetition;
  }
}

}  // namespace
}  // namespace residuum
