// The transform is the formula of the orthonormal DCT-II, block by block, and nothing else.

#include "core/vectors/block_dct.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "core/vectors/dense.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using Matrix = BlockDct::Matrix;
using Values = std::vector<double>;

/// s_u cos(pi (2i + 1) u / (2n)).
double cosine(std::size_t n, std::size_t u, std::size_t i) {
  const auto size = static_cast<double>(n);
  const double scale = std::sqrt((u == 0 ? 1 : 2) / size);
  return scale * std::cos(std::numbers::pi * static_cast<double>((2 * i + 1) * u) / (2 * size));
}

/// The coefficients of one matrix of blocks of h rows and w columns, each as a sum over its block.
Values coefficients(
    const Values& x, std::size_t rows, std::size_t columns, std::size_t h, std::size_t w) {
  Values all;
  for (std::size_t block_row = 0; block_row < rows / h; ++block_row) {
    for (std::size_t block_column = 0; block_column < columns / w; ++block_column) {
      for (std::size_t u = 0; u < h; ++u) {
        for (std::size_t v = 0; v < w; ++v) {
          double sum = 0;
          for (std::size_t i = 0; i < h; ++i) {
            for (std::size_t j = 0; j < w; ++j) {
              sum += cosine(h, u, i) * cosine(w, v, j) *
                     x[(block_row * h + i) * columns + block_column * w + j];
            }
          }
          all.push_back(sum);
        }
      }
    }
  }
  return all;
}

struct Shape {
  std::size_t rows, columns;
  std::size_t height, width;  // of a block, by hand
};

/// Whole blocks, several, sides that are prime, sides of one.
const std::vector<Shape> kShapes{{1, 1, 1, 1},
                                 {1, 5, 1, 5},
                                 {5, 1, 5, 1},
                                 {3, 4, 3, 4},
                                 {1, 200, 1, 50},
                                 {64, 64, 64, 64},
                                 {6, 128, 6, 64},
                                 {70, 66, 35, 33},
                                 {67, 3, 1, 3},
                                 {2, 127, 2, 1},
                                 {10, 84, 10, 42}};

std::string name_of(const Shape& shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.columns);
}

Values forward(const BlockDct& dct, const Values& x) {
  Values c(x.size(), NAN);
  dct.forward(std::span<const double>(x), c);
  return c;
}

Values inverse(const BlockDct& dct, const Values& c) {
  Values x(c.size(), NAN);
  dct.inverse(std::span<const double>(c), x);
  return x;
}

void expect_near(const Values& a, const Values& b, double room) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], room) << i;
  }
}

TEST(BlockDct, CutsSidesIntoTheirLargestDivisorsUpTo64) {
  for (std::size_t n = 1; n <= 300; ++n) {
    std::size_t largest = 1;
    for (std::size_t side = 1; side <= 64; ++side) {
      largest = n % side == 0 ? side : largest;
    }
    EXPECT_EQ(BlockDct::side_of(n), largest) << n;
  }
  EXPECT_EQ(BlockDct::side_of(0), 0U);
}

TEST(BlockDct, IsTheFormulaBlockByBlock) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(name_of(shape));
    const std::size_t d = shape.rows * shape.columns;
    const Matrix matrix{.begin = 0, .rows = shape.rows, .columns = shape.columns};
    const Values x = test::normal_vector(d, 1);
    // Sums of at most 4096 products, each at most |x_i|.
    expect_near(forward(BlockDct({&matrix, 1}), x),
                coefficients(x, shape.rows, shape.columns, shape.height, shape.width),
                1e-12);
  }
}

/// By hand: (a + b)/sqrt(2) and (a - b)/sqrt(2) along each side of [[1, 2], [3, 8]].
TEST(BlockDct, OfFourNumbersIsThatByHand) {
  const Matrix matrix{.begin = 0, .rows = 2, .columns = 2};
  expect_near(forward(BlockDct({&matrix, 1}), {1, 2, 3, 8}), {7, -3, -4, 2}, 1e-15);
}

TEST(BlockDct, PutsTheCoefficientsOfABlockBesideEachOther) {
  // Two blocks of 2 x 64, of which the second is constant: it has one coefficient.
  const Matrix matrix{.begin = 0, .rows = 2, .columns = 128};
  Values x(256);
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t column = 64; column < 128; ++column) {
      x[row * 128 + column] = 3;
    }
  }
  Values expected(256);
  expected[128] = 3 * std::sqrt(128.0);
  expect_near(forward(BlockDct({&matrix, 1}), x), expected, 1e-13);
}

TEST(BlockDct, KeepsEveryMatrixInItsPlace) {
  const std::vector<Matrix> matrices{{.begin = 0, .rows = 6, .columns = 4},
                                     {.begin = 24, .rows = 1, .columns = 3}};
  const Values x = test::normal_vector(27, 2);
  Values expected = coefficients({x.begin(), x.begin() + 24}, 6, 4, 6, 4);
  const Values last = coefficients({x.begin() + 24, x.end()}, 1, 3, 1, 3);
  expected.insert(expected.end(), last.begin(), last.end());
  expect_near(forward(BlockDct(matrices), x), expected, 1e-14);
}

TEST(BlockDct, IsUndoneByItsInverseAndKeepsNormsAndProducts) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(name_of(shape));
    const std::size_t d = shape.rows * shape.columns;
    const Matrix matrix{.begin = 0, .rows = shape.rows, .columns = shape.columns};
    const BlockDct dct({&matrix, 1});
    const Values x = test::normal_vector(d, 3);
    const Values y = test::normal_vector(d, 4);
    const Values c = forward(dct, x);
    expect_near(inverse(dct, c), x, 1e-12);
    expect_near(forward(dct, inverse(dct, x)), x, 1e-12);
    EXPECT_NEAR(norm_sq<double>(c), norm_sq<double>(x), 1e-12 * norm_sq<double>(x));
    EXPECT_NEAR(distance_sq(c, forward(dct, y)), distance_sq(x, y), 1e-12 * distance_sq(x, y));
  }
}

/// Sums are taken in float64, so that a coefficient is off by its own rounding alone.
TEST(BlockDct, OfFloatsIsThatOfDoublesRoundedOnce) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(name_of(shape));
    const Matrix matrix{.begin = 0, .rows = shape.rows, .columns = shape.columns};
    const BlockDct dct({&matrix, 1});
    const auto x = test::normal_vector<float>(shape.rows * shape.columns, 5);
    const Values wide(x.begin(), x.end());
    std::vector<float> c(x.size());
    const auto rounded = [](const Values& exact) {
      std::vector<float> floats;
      for (const double value : exact) {
        floats.push_back(static_cast<float>(value));
      }
      return floats;
    };
    dct.forward(std::span<const float>(x), c);
    EXPECT_EQ(c, rounded(forward(dct, wide)));
    dct.inverse(std::span<const float>(x), c);
    EXPECT_EQ(c, rounded(inverse(dct, wide)));
  }
}

TEST(BlockDct, OfEmptyMatricesTouchesNothing) {
  const Matrix matrix{.begin = 0, .rows = 0, .columns = 4};
  EXPECT_TRUE(forward(BlockDct({&matrix, 1}), {}).empty());
}

}  // namespace
}  // namespace residuum
