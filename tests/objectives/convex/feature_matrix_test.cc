// Sparse and dense rows are two ways to hold the same matrix.

#include "objectives/feature_matrix.h"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random/random.h"
#include "objectives/spectrum.h"

namespace residuum {
namespace {

/// rows x features, an entry present with probability `density`.
SparseDataset random_data(std::size_t rows,
                          std::size_t features,
                          double density,
                          bool has_ones = false) {
  SparseDataset data;
  data.features = features;
  RandomStream random(3, Purpose::test, 0, 0);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < features; ++j) {
      if (random.uniform() < density) {
        data.columns.push_back(static_cast<std::uint32_t>(j));
        data.values.push_back(has_ones ? 1.0 : random.normal());
      }
    }
    data.row_begin.push_back(data.columns.size());
    data.labels.push_back(1);
  }
  return data;
}

Eigen::MatrixXd plain_matrix(const SparseDataset& data) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(data.rows()),
                                            static_cast<Eigen::Index>(data.features));
  for (std::size_t i = 0; i < data.rows(); ++i) {
    for (auto entry = data.row_begin[i]; entry < data.row_begin[i + 1]; ++entry) {
      a(static_cast<Eigen::Index>(i), data.columns[entry]) = data.values[entry];
    }
  }
  return a;
}

class Rows : public testing::TestWithParam<double> {};

struct Shape {
  std::size_t features;
  bool has_ones;
};

TEST_P(Rows, MultiplyLikeThePlainMatrix) {
  for (const auto [features, has_ones] : {Shape{1, false},
                                          Shape{15, false},
                                          Shape{16, false},
                                          Shape{37, false},
                                          Shape{1, true},
                                          Shape{37, true}}) {
    const auto data = random_data(23, features, GetParam(), has_ones);
    const Eigen::MatrixXd a = plain_matrix(data);
    const FeatureMatrix matrix{SparseDataset(data)};
    const Eigen::VectorXd w = Eigen::VectorXd::LinSpaced(a.cols(), -1, 2);
    const Eigen::VectorXd c = Eigen::VectorXd::LinSpaced(a.rows(), 1, 3);
    std::vector<double> product(23);
    matrix.multiply({w.data(), features}, product);
    std::vector<double> sum(features, 10.0);
    matrix.add_transposed({c.data(), 23}, sum);
    const Eigen::VectorXd expected = a * w;
    const Eigen::VectorXd expected_sum = a.transpose() * c;
    for (std::size_t i = 0; i < 23; ++i) {
      EXPECT_NEAR(product[i], expected(static_cast<Eigen::Index>(i)), 1e-13);
    }
    for (std::size_t j = 0; j < features; ++j) {
      EXPECT_NEAR(sum[j], 10 + expected_sum(static_cast<Eigen::Index>(j)), 1e-13);
    }
    EXPECT_NEAR(matrix.norm_sq(), a.squaredNorm(), 1e-12);
  }
}

TEST_P(Rows, GramEigenvalueIsThatOfADenseDecomposition) {
  for (const std::size_t features : {1U, 2U, 3U, 4U, 5U, 19U, 21U, 60U}) {
    const auto data = random_data(40, features, GetParam());
    const Eigen::MatrixXd a = plain_matrix(data);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(a.transpose() * a);
    const double largest = solver.eigenvalues().maxCoeff();
    EXPECT_NEAR(
        largest_gram_eigenvalue(FeatureMatrix{SparseDataset(data)}), largest, 1e-12 * largest)
        << features << " features";
  }
}

INSTANTIATE_TEST_SUITE_P(SparseAndDense, Rows, testing::Values(0.0, 0.1, 0.3, 0.9, 1.0));

TEST(FeatureMatrix, IsDenseWhenMoreThanHalfIsNotZero) {
  EXPECT_FALSE(FeatureMatrix(random_data(50, 20, 0.3)).is_dense());
  EXPECT_TRUE(FeatureMatrix(random_data(50, 20, 0.8)).is_dense());
  auto zeros = random_data(50, 20, 0.8);
  std::fill(zeros.values.begin(), zeros.values.end(), 0.0);  // stored zeros do not count
  EXPECT_FALSE(FeatureMatrix(std::move(zeros)).is_dense());
}

// A batch of one-hot rows reads columns alone.
TEST(FeatureMatrix, HoldsNoValuesWhereSparseRowsHaveOnesAlone) {
  const FeatureMatrix ones(random_data(50, 20, 0.2, true));
  ASSERT_FALSE(ones.is_dense());
  EXPECT_EQ(ones.view<double>().value, nullptr);
  EXPECT_EQ(ones.view<float>().value, nullptr);
  const FeatureMatrix others(random_data(50, 20, 0.2));
  EXPECT_NE(others.view<float>().value, nullptr);
  const FeatureMatrix dense(random_data(50, 20, 1, true));
  EXPECT_NE(dense.view<double>().value, nullptr);
}

TEST(FeatureMatrix, FloatRowsAreTheRoundedRows) {
  for (const double density : {0.3, 0.8}) {
    const auto data = random_data(10, 20, density);
    const FeatureMatrix matrix{SparseDataset(data)};
    const auto wide = matrix.view<double>();
    const auto narrow = matrix.view<float>();
    const std::size_t stored = matrix.is_dense() ? 200 : data.values.size();
    for (std::size_t i = 0; i < stored; ++i) {
      EXPECT_EQ(narrow.value[i], static_cast<float>(wide.value[i]));
    }
  }
}

TEST(Spectrum, OfEqualLargestEigenvaluesIsTheirValue) {
  SparseDataset identity;
  identity.features = 30;
  for (std::uint32_t i = 0; i < 30; ++i) {
    identity.columns.push_back(i);
    identity.values.push_back(i < 10 ? 3.0 : 1.0);
    identity.row_begin.push_back(i + 1);
    identity.labels.push_back(1);
  }
  EXPECT_NEAR(largest_gram_eigenvalue(FeatureMatrix(std::move(identity))), 9, 1e-12);
}

}  // namespace
}  // namespace residuum
