// Polar factors against those that a pencil gives, and against what tells them from all others: U
// has orthonormal columns, and U^T A is symmetric without a negative eigenvalue.

#include "core/vectors/polar_factor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/core/support.h"

namespace residuum {
namespace {

using Values = std::vector<double>;

constexpr double kOfDoubles = std::numeric_limits<double>::epsilon();

Values polar(std::size_t rows, std::size_t columns, Values matrix, double rounding = kOfDoubles) {
  std::vector<double> room;
  take_polar_factor(rows, columns, rounding, matrix, room);
  return matrix;
}

void expect_entries(const Values& actual, const Values& expected, double room = 1e-14) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], room) << i;
  }
}

TEST(PolarFactor, OfADiagonalHasItsSigns) {
  expect_entries(polar(2, 2, {3, 0, 0, -1e-3}), {1, 0, 0, -1});
  expect_entries(polar(2, 3, {0, 0, 5, 2, 0, 0}), {0, 0, 1, 1, 0, 0});
}

// (2, 1; -1, 2)/sqrt(5) times (2, 1; 1, 3)/sqrt(5) is (1, 1; 0, 1).
TEST(PolarFactor, OfAShearIsARotation) {
  const double unit = 1 / std::sqrt(5.0);
  expect_entries(polar(2, 2, {1, 1, 0, 1}), {2 * unit, unit, -unit, 2 * unit});
  expect_entries(polar(2, 2, {1e300, 1e300, 0, 1e300}), {2 * unit, unit, -unit, 2 * unit});
  expect_entries(polar(2, 2, {1e-300, 1e-300, 0, 1e-300}), {2 * unit, unit, -unit, 2 * unit});
}

TEST(PolarFactor, OfAVectorIsItsUnitVector) {
  expect_entries(polar(2, 1, {3, -4}), {0.6, -0.8});
  expect_entries(polar(1, 2, {3, -4}), {0.6, -0.8});
  expect_entries(polar(1, 1, {-7}), {-1});
}

// (3, 4)^T (1, 2, 2) has the one singular value 15.
TEST(PolarFactor, OfRankOneIsTheProductOfUnitVectors) {
  const double unit = 1 / 15.0;
  Values expected{3, 6, 6, 4, 8, 8};
  for (double& value : expected) {
    value *= unit;
  }
  expect_entries(polar(2, 3, {3, 6, 6, 4, 8, 8}), expected);
}

TEST(PolarFactor, LeavesOutWhatRoundingMakes) {
  expect_entries(polar(2, 2, {1, 0, 0, 1e-8}, 1e-7), {1, 0, 0, 0});
  expect_entries(polar(2, 2, {1, 0, 0, 1e-6}, 1e-7), {1, 0, 0, 1});
  expect_entries(polar(2, 2, {1, 0, 0, 1e-8}), {1, 0, 0, 1});
}

TEST(PolarFactor, OfZeroIsZeroAndOfWhatIsNoNumberNone) {
  expect_entries(polar(2, 3, Values(6)), Values(6));
  expect_entries(polar(0, 0, {}), {});
  for (const double none : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    for (const double value : polar(2, 2, {1, none, 2, 3})) {
      EXPECT_TRUE(std::isnan(value));
    }
  }
}

/// Returns the product of a's transpose and b, which have `rows` rows.
Values transposed_product(std::size_t rows, const Values& a, const Values& b) {
  const std::size_t columns = a.size() / rows;
  Values product(columns * columns);
  for (std::size_t i = 0; i < columns; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t r = 0; r < rows; ++r) {
        product[i * columns + j] += a[r * columns + i] * b[r * columns + j];
      }
    }
  }
  return product;
}

TEST(PolarFactor, OfATallMatrixHasOrthonormalColumnsAndLeavesASymmetricFactor) {
  constexpr std::size_t kRows = 30;
  constexpr std::size_t kColumns = 7;
  Values a = test::normal_vector(kRows * kColumns, 4);
  for (std::size_t r = 0; r < kRows; ++r) {
    a[r * kColumns] *= 1e-5;  // singular values far apart
  }
  const Values u = polar(kRows, kColumns, a);
  const Values gram = transposed_product(kRows, u, u);
  const Values h = transposed_product(kRows, u, a);
  for (std::size_t i = 0; i < kColumns; ++i) {
    for (std::size_t j = 0; j < kColumns; ++j) {
      EXPECT_NEAR(gram[i * kColumns + j], i == j ? 1 : 0, 1e-10);
      EXPECT_NEAR(h[i * kColumns + j], h[j * kColumns + i], 1e-12);
    }
    EXPECT_GT(h[i * kColumns + i], 0);
  }
  // The transposed matrix has the transposed factor.
  Values across(a.size());
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      across[c * kRows + r] = a[r * kColumns + c];
    }
  }
  across = polar(kColumns, kRows, across);
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      EXPECT_NEAR(across[c * kRows + r], u[r * kColumns + c], 1e-13);
    }
  }
}

}  // namespace
}  // namespace residuum
