// Sparse and dense rows are two ways to hold the same matrix.

#include "objectives/feature_matrix.h"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/random/random.h"
#include "core/stop.h"
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

/// Limits under which every matrix is given to Lanczos' method.
constexpr EigenvalueLimits kLanczosAlone{.dense = 0};

/// The largest eigenvalue of all rows, which must not be a bound.
double eigenvalue_of(SparseDataset data, const EigenvalueLimits& limits = {}) {
  std::vector<std::uint32_t> rows(data.rows());
  std::iota(rows.begin(), rows.end(), 0U);
  const LargestEigenvalue largest =
      largest_gram_eigenvalue(FeatureMatrix(std::move(data)), rows, limits);
  EXPECT_FALSE(largest.is_bound);
  return largest.value;
}

TEST_P(Rows, GramEigenvalueIsThatOfADenseDecomposition) {
  for (const std::size_t features : {1U, 2U, 3U, 4U, 5U, 19U, 21U, 39U, 40U, 41U, 60U}) {
    const auto data = random_data(40, features, GetParam());
    const Eigen::MatrixXd a = plain_matrix(data);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(a.transpose() * a);
    const double largest = solver.eigenvalues().maxCoeff();
    EXPECT_NEAR(eigenvalue_of(data), largest, 1e-12 * largest) << features << " features";
    EXPECT_NEAR(eigenvalue_of(data, kLanczosAlone), largest, 1e-12 * largest)
        << features << " features";
  }
}

TEST_P(Rows, WeightedGramIsTheProductOfThePlainMatrices) {
  const auto data = random_data(300, 7, GetParam());  // more rows than are copied at a time
  const Eigen::MatrixXd a = plain_matrix(data)(Eigen::seq(0, 299, 2), Eigen::all);
  const Eigen::VectorXd weights = Eigen::VectorXd::LinSpaced(150, 0, 2);
  std::vector<std::uint32_t> even(150);
  for (std::uint32_t i = 0; i < 150; ++i) {
    even[i] = 2 * i;
  }
  const Eigen::MatrixXd gram =
      weighted_gram(FeatureMatrix{SparseDataset(data)}, even, {weights.data(), 150});
  const Eigen::MatrixXd expected = a.transpose() * weights.asDiagonal() * a;
  for (Eigen::Index j = 0; j < 7; ++j) {
    for (Eigen::Index i = j; i < 7; ++i) {
      EXPECT_NEAR(gram(i, j), expected(i, j), 1e-11);
    }
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

// Wide rows come in smaller parts, which fit a cache. The parts are the batch all the same.
TEST(FeatureMatrix, GivesTheProductsOfABatchInPartsOfAnySize) {
  for (const std::size_t columns : {1U, 123U, 300U, 5000U}) {
    SCOPED_TRACE(columns);
    const FeatureMatrix matrix(random_data(50, columns, 1));
    const auto rows = matrix.view<double>();
    const std::vector<double> w(columns, 0.5);
    std::vector<std::uint32_t> batch(41);
    std::iota(batch.rbegin(), batch.rend(), 3U);
    std::vector<std::uint32_t> seen;
    rows.for_products(batch, w.data(), [&](auto part, std::span<const double> products) {
      ASSERT_LE(part.size(), kRowsAtOnce);
      ASSERT_EQ(part.size(), products.size());
      for (std::size_t i = 0; i < part.size(); ++i) {
        EXPECT_EQ(products[i], rows.dot(part[i], w.data()));
      }
      seen.insert(seen.end(), part.begin(), part.end());
    });
    EXPECT_EQ(seen, batch);
  }
}

SparseDataset dataset_of(const Eigen::MatrixXd& a) {
  SparseDataset data;
  data.features = static_cast<std::size_t>(a.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < a.cols(); ++j) {
      if (a(i, j) != 0) {
        data.columns.push_back(static_cast<std::uint32_t>(j));
        data.values.push_back(a(i, j));
      }
    }
    data.row_begin.push_back(data.columns.size());
    data.labels.push_back(1);
  }
  return data;
}

Eigen::MatrixXd normal_matrix(Eigen::Index rows, Eigen::Index columns, RandomStream& random) {
  Eigen::MatrixXd a(rows, columns);
  for (double& entry : a.reshaped()) {
    entry = random.normal();
  }
  return a;
}

/// Orthonormal columns.
Eigen::MatrixXd orthonormal(Eigen::Index rows, Eigen::Index columns, RandomStream& random) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> factors(normal_matrix(rows, columns, random));
  return factors.householderQ() * Eigen::MatrixXd::Identity(rows, columns);
}

// A = U diag(s) V^T has the largest eigenvalue s_1^2, whatever the rank and the scale.
TEST(Spectrum, OfAThousandMatricesOfKnownSingularValuesIsTheSquareOfTheFirst) {
  RandomStream random(1, Purpose::test, 0, 0);
  for (int matrix = 0; matrix < 1000; ++matrix) {
    const auto n = static_cast<Eigen::Index>(1 + random.below(40));
    const auto d = static_cast<Eigen::Index>(1 + random.below(40));
    const auto most = static_cast<std::uint32_t>(std::min(n, d));
    const std::uint32_t rank = matrix % 4 == 0 ? 1 : random.below(most + 1);
    const double scale = std::pow(10.0, -6.0 + matrix % 13);
    const double decay = std::pow(10.0, -1.0 * random.below(9));  // of s_(i+1) / s_i
    Eigen::VectorXd s(rank);
    for (Eigen::Index i = 0; i < s.size(); ++i) {
      s[i] = scale * std::pow(decay, static_cast<double>(i));
    }
    const Eigen::MatrixXd left = orthonormal(n, rank, random);
    const Eigen::MatrixXd right = orthonormal(d, rank, random);
    const Eigen::MatrixXd a = left * s.asDiagonal() * right.transpose();
    const double expected = rank == 0 ? 0 : scale * scale;
    EXPECT_NEAR(eigenvalue_of(dataset_of(a)), expected, 1e-13 * expected) << n << " " << d;
    EXPECT_NEAR(eigenvalue_of(dataset_of(a), kLanczosAlone), expected, 1e-13 * expected)
        << n << " " << d << " rank " << rank << " decay " << decay;
  }
}

// All n x d entries are c: the only eigenvalue that is not zero is n d c^2.
TEST(Spectrum, OfEqualRowsIsTheirNumberTimesTheirSquaredNorm) {
  for (const auto& [n, d] : {std::pair(25, 161), {161, 25}, {1, 1}, {1, 90}, {90, 1}}) {
    for (const double c : {1e-6, 1.0, 1e6}) {
      const auto data = dataset_of(Eigen::MatrixXd::Constant(n, d, c));
      const double expected = n * d * c * c;
      EXPECT_NEAR(eigenvalue_of(data), expected, 1e-13 * expected);
      EXPECT_NEAR(eigenvalue_of(data, kLanczosAlone), expected, 1e-13 * expected);
    }
  }
}

// A column of c and m one-hot columns, each in two rows: with 1 = (1, ..., 1) of length m,
// A^T A = 2 [[m c^2, c 1^T], [c 1, I]] has the eigenvalues 2 (m c^2 + 1), 2 and 0.
TEST(Spectrum, OfAColumnOfAnotherUnitBesideBinariesIsFoundBeyondTheDenseLimit) {
  constexpr std::uint32_t kColumns = 1100;
  for (const double c : {1e-3, 1.0, 1e3, 1e6}) {
    SparseDataset data;
    data.features = kColumns + 1;
    for (std::uint32_t row = 0; row < 2 * kColumns; ++row) {
      data.columns.insert(data.columns.end(), {0, 1 + row / 2});
      data.values.insert(data.values.end(), {c, 1.0});
      data.row_begin.push_back(data.columns.size());
      data.labels.push_back(1);
    }
    const double expected = 2 * (kColumns * c * c + 1);
    EXPECT_NEAR(eigenvalue_of(std::move(data)), expected, 1e-12 * expected) << c;
  }
}

/// The diagonal matrix of 1, ..., d.
SparseDataset diagonal(int d) {
  return dataset_of(Eigen::VectorXd::LinSpaced(d, 1, d).asDiagonal().toDenseMatrix());
}

TEST(Spectrum, IsFoundByRestartsFromAFewVectors) {
  EXPECT_NEAR(eigenvalue_of(diagonal(60), {.dense = 0, .vectors = 5}), 3600, 1e-9);
}

LargestEigenvalue largest_of(SparseDataset data, const EigenvalueLimits& limits) {
  std::vector<std::uint32_t> rows(data.rows());
  std::iota(rows.begin(), rows.end(), 0U);
  return largest_gram_eigenvalue(FeatureMatrix(std::move(data)), rows, limits);
}

TEST(Spectrum, IsCalledABoundWhereTheSearchWasCutShort) {
  const auto largest = largest_of(diagonal(60), {.dense = 0, .vectors = 5, .restarts = 0});
  EXPECT_TRUE(largest.is_bound);
  EXPECT_GE(largest.value, 3600);
  EXPECT_LE(largest.value, 3600 * (1 + 1.01e-4));
}

// The largest eigenvalue is 1, and the next are 1 - 4e-7, 1 - 1.6e-6, ...: no step of Lanczos'
// method tells them apart.
TEST(Spectrum, ThatIsDenseAtItsEndIsBoundedClosely) {
  constexpr int kOrder = 1600;
  Eigen::VectorXd entries(kOrder);
  for (int i = 0; i < kOrder; ++i) {
    entries[i] = 1 - 0.5 * std::pow(static_cast<double>(i) / kOrder, 2);
  }
  const auto largest =
      largest_of(dataset_of(entries.asDiagonal().toDenseMatrix()), {.restarts = 2});
  EXPECT_TRUE(largest.is_bound);
  EXPECT_GE(largest.value, 1);
  EXPECT_LE(largest.value, 1 + 1.01e-4);
}

TEST(Spectrum, IsNotLookedForFurtherOnceTheProgramIsToStop) {
  std::atomic<bool> stop{true};
  set_stop_flag(&stop);
  const auto code = [] {
    try {
      largest_of(diagonal(60), {.dense = 0});
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::done;
  };
  EXPECT_EQ(code(), ExitCode::stopped);
  stop = false;
  EXPECT_EQ(code(), ExitCode::done);
  set_stop_flag(nullptr);
}

TEST(Spectrum, OfEqualLargestEigenvaluesIsTheirValue) {
  Eigen::VectorXd entries = Eigen::VectorXd::Ones(30);
  entries.head(10).setConstant(3);
  const auto data = dataset_of(entries.asDiagonal().toDenseMatrix());
  EXPECT_NEAR(eigenvalue_of(data), 9, 1e-12);
  EXPECT_NEAR(eigenvalue_of(data, kLanczosAlone), 9, 1e-12);
}

}  // namespace
}  // namespace residuum
