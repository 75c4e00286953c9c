// PowerSGD's results are compared with linear algebra that others wrote; workers keep the rest.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/core/aggregators/power_run.h"

namespace residuum {
namespace {

using test::kMixed;
using test::kMixedSize;
using test::Matrix;
using test::matrix_from;
using test::normal_matrix;
using test::numbers_of;
using test::of_rank;
using test::PowerRun;
using test::powersgd;
using test::Rows;

/// The first Q of a run: column c of layer l has a random stream of its own.
Matrix first_q(Eigen::Index columns, Eigen::Index rank, std::uint64_t seed) {
  Matrix q(columns, rank);
  for (Eigen::Index c = 0; c < rank; ++c) {
    RandomStream random(seed, Purpose::low_rank, static_cast<std::uint32_t>(c), 0);
    for (Eigen::Index j = 0; j < columns; ++j) {
      q(j, c) = random.normal();
    }
  }
  return q;
}

TEST(PowerSgd, ProjectsOnTheColumnsOfMQ) {
  for (const std::uint64_t seed : {1U, 7U}) {
    const Matrix m = normal_matrix(9, 7, 11);
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(m * first_q(7, 3, seed));
    const Matrix basis = qr.householderQ() * Eigen::MatrixXd::Identity(9, 3);
    const Matrix expected = basis * basis.transpose() * m;

    PowerRun<double> run(powersgd(3), {{.begin = 0, .rows = 9, .columns = 7}}, seed);
    const Matrix g = matrix_from(run.exchange({numbers_of(m)}).dense_sum, 9);
    EXPECT_LE((g - expected).norm(), 1e-13 * m.norm());
    // Pythagoras: an orthogonal projection and what it leaves are at right angles.
    EXPECT_NEAR((m - g).squaredNorm(), m.squaredNorm() - g.squaredNorm(), 1e-13 * m.squaredNorm());
  }
}

TEST(PowerSgd, OfTheIdentityIsTheProjectionOnTheFirstQ) {
  const Matrix q = first_q(3, 1, 1);
  PowerRun<double> run(powersgd(1), {{.begin = 0, .rows = 3, .columns = 3}});
  const Matrix g = matrix_from(run.exchange({numbers_of(5 * Matrix::Identity(3, 3))}).dense_sum, 3);
  EXPECT_LE((g - 5 * q * q.transpose() / q.squaredNorm()).norm(), 1e-14);
}

TEST(PowerSgd, DeliversASumOfLowRankExactly) {
  for (const std::size_t workers : {1U, 2U, 5U}) {
    Rows<double> rows;
    Matrix sum = Matrix::Zero(12, 8);
    const Matrix left = normal_matrix(12, 2, 3);
    for (std::size_t p = 0; p < workers; ++p) {
      const Matrix m = left * normal_matrix(2, 8, 20 + p);
      sum += m;
      rows.push_back(numbers_of(m));
    }
    for (const bool warm : {true, false}) {
      PowerRun<double> run(powersgd(2, warm), {{.begin = 0, .rows = 12, .columns = 8}});
      for (int time = 0; time < 3; ++time) {
        const Matrix g = matrix_from(run.exchange(rows).dense_sum, 12);
        EXPECT_LE((g - sum).norm(), 1e-12 * sum.norm()) << "P = " << workers << ", time " << time;
      }
    }
  }
}

TEST(PowerSgd, DeliversSumsOfLessThanItsRankExactlyAndOfItsRankAfterwards) {
  PowerRun<double> run(powersgd(3), {{.begin = 0, .rows = 12, .columns = 8}});
  for (int time = 0; time < 5; ++time) {
    const Matrix m = of_rank(time < 4 ? 1 : 3, 12, 8, static_cast<std::uint64_t>(40 + 2 * time));
    const Matrix g = matrix_from(run.exchange({numbers_of(m)}).dense_sum, 12);
    EXPECT_LE((g - m).norm(), 1e-12 * m.norm()) << time;
  }
}

TEST(PowerSgd, FindsTheBestApproximationOfAMatrixThatStays) {
  const Matrix m = normal_matrix(12, 8, 13);
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(m);
  const double best = svd.singularValues().tail(6).squaredNorm();
  PowerRun<double> warm(powersgd(2), {{.begin = 0, .rows = 12, .columns = 8}});
  PowerRun<double> cold(powersgd(2, false), {{.begin = 0, .rows = 12, .columns = 8}});
  double warm_error = 0;
  double cold_error = 0;
  for (int time = 0; time < 500; ++time) {
    warm_error = (matrix_from(warm.exchange({numbers_of(m)}).dense_sum, 12) - m).squaredNorm();
    cold_error = (matrix_from(cold.exchange({numbers_of(m)}).dense_sum, 12) - m).squaredNorm();
    EXPECT_GE(warm_error, best * (1 - 1e-12));
    EXPECT_GE(cold_error, best * (1 - 1e-12));
  }
  EXPECT_NEAR(warm_error, best, 1e-12 * best);
  EXPECT_GE(cold_error, 1.001 * best);
}

TEST(PowerSgd, DrawsAnotherQInEveryIterationOfEveryLayerAndSeedWithoutAWarmStart) {
  const auto m = test::normal_vector(63, 17);
  auto twice = m;
  twice.insert(twice.end(), m.begin(), m.end());
  const std::vector<MatrixPlace> layers{{.begin = 0, .rows = 9, .columns = 7},
                                        {.begin = 63, .rows = 9, .columns = 7}};
  PowerRun<double> run(powersgd(2, false), layers);
  const auto first = run.exchange({twice}).dense_sum;
  const auto second = run.exchange({twice}).dense_sum;
  EXPECT_NE(first, second);
  EXPECT_NE(std::vector<double>(first.begin(), first.begin() + 63),
            std::vector<double>(first.begin() + 63, first.end()));
  EXPECT_EQ(PowerRun<double>(powersgd(2, false), layers).exchange({twice}).dense_sum, first);
  EXPECT_NE(PowerRun<double>(powersgd(2, false), layers, 2).exchange({twice}).dense_sum, first);
}

TEST(PowerSgd, GoesOnAfterAMatrixOfZeros) {
  PowerRun<float> run(powersgd(2), {{.begin = 0, .rows = 12, .columns = 8}});
  EXPECT_EQ(run.exchange({std::vector<float>(96)}).dense_sum, std::vector<float>(96));
  const auto m = numbers_of(of_rank(2, 12, 8, 19));
  const std::vector<float> row(m.begin(), m.end());
  const auto& g = run.exchange({row}).dense_sum;
  for (std::size_t i = 0; i < row.size(); ++i) {
    EXPECT_NEAR(g[i], row[i], 1e-5);
  }
}

TEST(PowerSgd, KeepsItsDirectionsWhateverTheScaleOfAFloatIs) {
  for (const float scale : {1e-25F, 1e-10F, 1e10F, 1e25F}) {
    PowerRun<float> run(powersgd(2), {{.begin = 0, .rows = 12, .columns = 8}});
    const auto m = numbers_of(of_rank(2, 12, 8, 19));
    std::vector<float> row(m.size());
    std::transform(m.begin(), m.end(), row.begin(), [&](double value) {
      return scale * static_cast<float>(value);
    });
    for (int time = 0; time < 4; ++time) {
      const auto& g = run.exchange({row}).dense_sum;
      for (std::size_t i = 0; i < row.size(); ++i) {
        EXPECT_NEAR(g[i] / scale, row[i] / scale, 1e-5) << scale << " at " << time;
      }
    }
  }
}

TEST(PowerSgd, SumsVectorsAndSmallMatricesAsTheyAre) {
  const auto rows = test::whole_rows(3, kMixedSize, 1);
  PowerRun<double> run(powersgd(2), kMixed);
  const auto& g = run.exchange(rows).dense_sum;
  for (std::size_t i = 0; i < kMixedSize; ++i) {
    if (i < 3 || i >= 66) {
      EXPECT_EQ(g[i], rows[0][i] + rows[1][i] + rows[2][i]) << i;
    }
  }
}

TEST(PowerSgd, SumsAModelWithoutLayersAndOneOfHigherRankThanItsMatricesAsTheyAre) {
  const auto rows = test::whole_rows(3, kMixedSize, 1);
  std::vector<double> sum(kMixedSize);
  for (std::size_t i = 0; i < kMixedSize; ++i) {
    sum[i] = rows[0][i] + rows[1][i] + rows[2][i];
  }
  EXPECT_EQ(PowerRun<double>(powersgd(2), {}).exchange(rows).dense_sum, sum);
  EXPECT_EQ(PowerRun<double>(powersgd(7), kMixed).exchange(rows).dense_sum, sum);
  EXPECT_EQ(PowerRun<double>(powersgd(1000000), kMixed).exchange(rows).dense_sum, sum);
}

TEST(PowerSgd, LeavesEveryWorkerItsAccumulatorLessTheCommonMean) {
  const auto rows = test::normal_rows(3, kMixedSize, 5);
  PowerRun<double> run(powersgd(2), kMixed);
  const auto g = run.exchange(rows).dense_sum;
  for (const char* rule : {"captured", "published", "discard"}) {
    const auto feedback = test::feedback({{"kind", "ef14"}, {"putback", rule}});
    for (std::size_t p = 0; p < rows.size(); ++p) {
      auto residual = rows[p];
      ResidualUpdate<double> residual_update;
      feedback->update_residual(std::span<double>(residual), run.outcome(p), residual_update);
      EXPECT_TRUE(residual_update.removed_is_dense());
      EXPECT_TRUE(residual_update.removed().empty());
      for (std::size_t i = 0; i < kMixedSize; ++i) {
        const bool is_low_rank = i >= 3 && i < 66 && rule[0] != 'd';
        EXPECT_EQ(residual[i], is_low_rank ? rows[p][i] - g[i] / 3 : 0) << rule << " at " << i;
      }
    }
  }
}

template <class Real>
void expect_conserved_over_steps(const char* kind, std::size_t workers) {
  const auto feedback = test::feedback({{"kind", kind}, {"units", "gradient"}});
  PowerRun<Real> run(powersgd(2), kMixed);
  Rows<Real> memories(workers, std::vector<Real>(kMixedSize));
  std::vector<double> balance(kMixedSize);  // gradients less what was applied
  for (std::uint64_t t = 0; t < 30; ++t) {
    for (std::size_t p = 0; p < workers; ++p) {
      const auto gradient = test::normal_vector<Real>(kMixedSize, 100 * t + p);
      test::WholePass pass(kMixedSize);
      feedback->accumulate(std::span<Real>(memories[p]), std::span<const Real>(gradient), 1, pass);
      for (std::size_t i = 0; i < kMixedSize; ++i) {
        balance[i] += static_cast<double>(gradient[i]);
      }
    }
    const auto& g = run.exchange(memories).dense_sum;
    for (std::size_t p = 0; p < workers; ++p) {
      ResidualUpdate<Real> residual_update;
      feedback->update_residual(std::span<Real>(memories[p]), run.outcome(p), residual_update);
    }
    for (std::size_t i = 0; i < kMixedSize; ++i) {
      balance[i] -= static_cast<double>(g[i]);
      double residual = 0;
      for (const auto& memory : memories) {
        residual += static_cast<double>(memory[i]);
      }
      // Each of 31 P sums and differences of numbers below 100 is rounded once.
      const double rounding = 100 * 31 * static_cast<double>(workers) *
                              static_cast<double>(std::numeric_limits<Real>::epsilon());
      ASSERT_NEAR(residual, balance[i], rounding) << "P = " << workers << ", t = " << t;
      ASSERT_LT(std::abs(balance[i]), 100 * static_cast<double>(workers));
    }
  }
}

TEST(PowerSgd, LosesNothingOverManySteps) {
  for (const std::size_t workers : {1U, 3U, 4U}) {
    expect_conserved_over_steps<double>("ef14", workers);
    expect_conserved_over_steps<float>("ef14", workers);
  }
}

TEST(PowerSgd, GivesEstimatesWhatItTakesFromAccumulators) {
  const auto rows = test::normal_rows(3, kMixedSize, 5);
  PowerRun<double> run(powersgd(2), kMixed);
  const auto g = run.exchange(rows).dense_sum;
  const auto feedback = test::feedback({{"kind", "ef21"}});
  std::vector<double> estimates(kMixedSize);
  for (std::size_t p = 0; p < rows.size(); ++p) {
    auto memory = rows[p];
    memory.resize(2 * kMixedSize, 0);
    ResidualUpdate<double> residual_update;
    feedback->update_residual(std::span<double>(memory), run.outcome(p), residual_update);
    for (std::size_t i = 0; i < kMixedSize; ++i) {
      EXPECT_NEAR(memory[i] + memory[kMixedSize + i], rows[p][i], 1e-14);
      estimates[i] += memory[kMixedSize + i];
    }
  }
  for (std::size_t i = 0; i < kMixedSize; ++i) {
    EXPECT_NEAR(estimates[i], g[i], 1e-13);
  }
}

}  // namespace
}  // namespace residuum
