// Bins of magnitudes against the powers of two that bound them.

#include "core/measurement/magnitudes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace residuum {
namespace {

int exponent_of(double x) { return kLeastExponent + static_cast<int>(magnitude_bin(x)); }

TEST(MagnitudeBin, IsThatOfThePowerOfTwoBelow) {
  for (int exponent = kLeastExponent; exponent <= kMostExponent; ++exponent) {
    const double power = std::ldexp(1.0, exponent);
    EXPECT_EQ(exponent_of(power), exponent);
    EXPECT_EQ(exponent_of(-1.999 * power), exponent);
    EXPECT_EQ(exponent_of(std::nextafter(2 * power, 0.0)), exponent);
  }
}

TEST(MagnitudeBin, KeepsWhatIsOutOfRangeAtItsEnds) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(exponent_of(1e-300), kLeastExponent);
  EXPECT_EQ(exponent_of(5e-324), kLeastExponent);
  EXPECT_EQ(exponent_of(1e300), kMostExponent);
  EXPECT_EQ(exponent_of(-infinite), kMostExponent);
  EXPECT_EQ(exponent_of(std::numeric_limits<float>::denorm_min()), kLeastExponent);
  EXPECT_EQ(exponent_of(std::numeric_limits<float>::max()), kMostExponent);
}

TEST(CountMagnitudes, LeavesZerosOut) {
  const std::vector<float> values{0, -0.0F, 1, 1.5F, -3, 0.25F};
  std::vector<double> counts(kMagnitudeBins);

  count_magnitudes<float>(values, counts);

  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0.0), 4);
  EXPECT_EQ(counts[magnitude_bin(1)], 2);
  EXPECT_EQ(counts[magnitude_bin(2)], 1);
  EXPECT_EQ(counts[magnitude_bin(0.25)], 1);
}

}  // namespace
}  // namespace residuum
