// The arithmetic of low rank against examples by hand and against Eigen.

#include "core/aggregators/low_rank.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/aggregators/power_run.h"

namespace residuum {
namespace {

using test::Matrix;
using test::matrix_from;
using test::normal_matrix;
using test::numbers_of;

TEST(LowRank, OfASmallMatrixIsWhatOneComputesByHand) {
  // M = (1 2; 3 4) and Q = (1, 1): P = (3, 7) / sqrt(58), M^T P = (24, 34) / sqrt(58).
  const std::vector<double> m{1, 2, 3, 4};
  std::vector<double> q{1, 1};
  std::vector<double> p(2);
  low_rank::multiply<double>(m, 1, q, p);
  EXPECT_EQ(p, (std::vector<double>{3, 7}));
  low_rank::orthonormalise<double>(1, p);
  EXPECT_NEAR(p[0], 3 / std::sqrt(58.0), 1e-15);
  EXPECT_NEAR(p[1], 7 / std::sqrt(58.0), 1e-15);
  low_rank::multiply_transposed<double>(m, 1, p, q);
  EXPECT_NEAR(q[0], 24 / std::sqrt(58.0), 1e-14);
  EXPECT_NEAR(q[1], 34 / std::sqrt(58.0), 1e-14);
  std::vector<double> g(4);
  low_rank::compose<double>(1, p, q, g);
  const std::vector<double> by_hand{72 / 58.0, 102 / 58.0, 168 / 58.0, 238 / 58.0};
  for (std::size_t i = 0; i < g.size(); ++i) {
    EXPECT_NEAR(g[i], by_hand[i], 1e-14);
  }
}

TEST(LowRank, MultipliesMatricesOfAnySizeAsEigenDoes) {
  for (const Eigen::Index columns : {1, 2, 15, 16, 17, 33, 100}) {
    const Matrix m = normal_matrix(5, columns, 3);
    const Matrix q = normal_matrix(columns, 3, 4);
    const auto right = numbers_of(q.transpose());
    std::vector<double> left(15);
    low_rank::multiply<double>(numbers_of(m), 3, right, left);
    EXPECT_LE((matrix_from(left, 3).transpose() - m * q).norm(), 1e-13);
    std::vector<double> back(right.size());
    low_rank::multiply_transposed<double>(numbers_of(m), 3, left, back);
    const Matrix expected = (m.transpose() * (m * q)).transpose();
    EXPECT_LE((matrix_from(back, 3) - expected).norm(), 1e-12 * expected.norm());
    std::vector<double> whole(static_cast<std::size_t>(m.size()));
    low_rank::compose<double>(3, left, right, whole);
    const Matrix composed = m * q * q.transpose();
    EXPECT_LE((matrix_from(whole, 5) - composed).norm(), 1e-13 * composed.norm());
  }
}

TEST(LowRank, MakesColumnsOrthonormalThatNearlyDependOnEachOther) {
  Matrix columns = normal_matrix(3, 40, 5);
  columns.row(1) = columns.row(0) + 1e-9 * columns.row(1);
  columns.row(2) = columns.row(0) + 1e-9 * columns.row(2);
  auto numbers = numbers_of(columns);
  low_rank::orthonormalise<double>(3, numbers);
  const Matrix made = matrix_from(numbers, 3);
  EXPECT_LE((made * made.transpose() - Matrix::Identity(3, 3)).norm(), 1e-14);
}

TEST(LowRank, DropsColumnsThatDependOnOthers) {
  Matrix columns = normal_matrix(4, 40, 5);
  columns.row(1).setZero();
  columns.row(2) = 3 * columns.row(0);
  auto numbers = numbers_of(columns);
  low_rank::orthonormalise<double>(4, numbers);
  const Matrix made = matrix_from(numbers, 4);
  EXPECT_EQ(made.row(1).norm(), 0);
  EXPECT_EQ(made.row(2).norm(), 0);
  EXPECT_NEAR(made.row(3).norm(), 1, 1e-15);
  EXPECT_NEAR(made.row(0).dot(made.row(3)), 0, 1e-15);
}

TEST(LowRank, ScalesColumnsByPowersOfTwo) {
  std::vector<float> column{-3e-30F, 1e-30F, 0};
  const std::vector<float> before = column;
  EXPECT_TRUE(low_rank::rescale<float>(column));
  const float factor = column[1] / before[1];
  EXPECT_EQ(std::exp2(std::round(std::log2(factor))), factor);
  EXPECT_EQ(column[0], before[0] * factor);
  EXPECT_GE(-column[0], 1);
  EXPECT_LT(-column[0], 2);
  std::vector<float> zeros(3);
  EXPECT_FALSE(low_rank::rescale<float>(zeros));
}

}  // namespace
}  // namespace residuum
