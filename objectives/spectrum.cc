#include "objectives/spectrum.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "core/random/random.h"
#include "core/stop.h"

namespace residuum {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kBlock = 256;  // rows or columns that are copied at a time

/// ChosenRows are some rows of A. They are "wide" if there are no more of them than columns: then
/// A A^T is the smaller Gram matrix.
class ChosenRows {
 public:
  ChosenRows(const FeatureMatrix& a, std::span<const std::uint32_t> rows)
      : view_(a.view<double>()), is_dense_(a.is_dense()), rows_(rows) {}

  std::size_t columns() const { return view_.columns; }
  bool is_wide() const { return rows_.size() <= columns(); }
  std::size_t order() const { return std::min(rows_.size(), columns()); }

  /// Returns the sum of squares of all entries. A row's squared norm is its product with itself.
  double norm_sq() const {
    std::vector<double> copy(columns());
    double sum = 0;
    for (const std::uint32_t row : rows_) {
      view_.add(row, 1, copy.data());
      sum += view_.dot(row, copy.data());
      view_.add(row, -1, copy.data());
    }
    return sum;
  }

  /// Returns the product of the smaller Gram matrix and v.
  VectorXd times_gram(const VectorXd& v) const {
    stop_if_requested();
    return is_wide() ? times(transposed_times(v)) : transposed_times(times(v));
  }

  /// Returns A A^T, in the lower triangle alone.
  MatrixXd outer_gram() const { return is_dense_ ? dense_outer_gram() : sparse_outer_gram(); }

 private:
  VectorXd times(const VectorXd& w) const {
    VectorXd product(static_cast<Index>(rows_.size()));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      product[static_cast<Index>(i)] = view_.dot(rows_[i], w.data());
    }
    return product;
  }

  VectorXd transposed_times(const VectorXd& c) const {
    VectorXd sum = VectorXd::Zero(static_cast<Index>(columns()));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      view_.add(rows_[i], c[static_cast<Index>(i)], sum.data());
    }
    return sum;
  }

  MatrixXd dense_outer_gram() const {
    const auto n = static_cast<Index>(rows_.size());
    MatrixXd gram = MatrixXd::Zero(n, n);
    for (std::size_t first = 0; first < columns(); first += kBlock) {
      const std::size_t count = std::min(kBlock, columns() - first);
      MatrixXd block(n, static_cast<Index>(count));
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        const double* const x = view_.value + rows_[i] * columns() + first;
        for (std::size_t j = 0; j < count; ++j) {
          block(static_cast<Index>(i), static_cast<Index>(j)) = x[j];
        }
      }
      gram.selfadjointView<Eigen::Lower>().rankUpdate(block);
    }
    return gram;
  }

  MatrixXd sparse_outer_gram() const {
    const auto n = static_cast<Index>(rows_.size());
    MatrixXd gram = MatrixXd::Zero(n, n);
    std::vector<double> copy(columns());
    for (Index i = 0; i < n; ++i) {
      const std::uint32_t row = rows_[static_cast<std::size_t>(i)];
      view_.add(row, 1, copy.data());
      for (Index j = 0; j <= i; ++j) {
        gram(i, j) = view_.dot(rows_[static_cast<std::size_t>(j)], copy.data());
      }
      view_.add(row, -1, copy.data());
    }
    return gram;
  }

  RowsView<double> view_;
  bool is_dense_;
  std::span<const std::uint32_t> rows_;
};

/// Returns the largest eigenvalue of a symmetric matrix, of which the lower triangle is read;
/// nothing if Eigen's iteration does not end.
std::optional<double> decompose(const MatrixXd& gram) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(gram, Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) {
    return std::nullopt;
  }
  return solver.eigenvalues()(gram.rows() - 1);
}

VectorXd random_start(Index order) {
  VectorXd start(order);
  RandomStream random(1, Purpose::initial_point, 0, 0);
  for (double& entry : start) {
    entry = random.normal();
  }
  return start;
}

/// Returns the size of an off-diagonal entry of a tridiagonal matrix that may be all rounding.
double rounding(const std::vector<double>& diagonal) {
  constexpr double kFactor = 16;
  return kFactor * std::numeric_limits<double>::epsilon() *
         *std::max_element(diagonal.begin(), diagonal.end());
}

/// Lanczos looks for the largest eigenvalue of G = A A^T or A^T A. From q_1 it makes orthonormal
/// q_1, ..., q_m that span q_1, G q_1, ..., G^(m-1) q_1. In them G is the tridiagonal matrix
///
///     | alpha_1 beta_1                |
///     | beta_1  alpha_2 beta_2        |     G Q = Q T + beta_m q_(m+1) e_m^T.
///     |         beta_2  ...           |
///
/// The largest eigenpair (theta, s) of T gives the Ritz pair (theta, Q s), whose residual is
/// |beta_m s_m|. If that is too large, the next round begins with Q s. Every q is made orthogonal
/// to all before it, twice, so that no copy of an eigenvalue comes in by rounding. If beta is as
/// small as rounding, the space is invariant and the round ends: ranks below m end there.
class Lanczos {
 public:
  Lanczos(const ChosenRows& rows, const EigenvalueLimits& limits)
      : rows_(rows),
        limits_(limits),
        basis_(static_cast<Index>(rows.order()),
               std::min<Index>(limits.vectors, static_cast<Index>(rows.order()))) {}

  /// Returns the eigenvalue; nothing if the residual stays too large.
  std::optional<double> find() {
    VectorXd start = random_start(basis_.rows());
    for (int round = 0; round <= limits_.restarts; ++round) {
      span_from(start);
      constexpr double kRelativeResidual = 1e-8;
      if (set_ritz_pair() <= kRelativeResidual * theta_) {
        return theta_;
      }
      start = basis_.leftCols(size()) * s_;
    }
    return std::nullopt;
  }

 private:
  Index size() const { return static_cast<Index>(alpha_.size()); }

  void span_from(const VectorXd& start) {
    alpha_.clear();
    beta_.clear();
    VectorXd q = start.normalized();
    for (Index m = 0; m < basis_.cols(); ++m) {
      basis_.col(m) = q;
      q = rows_.times_gram(q);
      alpha_.push_back(basis_.col(m).dot(q));
      for (int pass = 0; pass < 2; ++pass) {
        q -= basis_.leftCols(m + 1) * (basis_.leftCols(m + 1).transpose() * q);
      }
      beta_.push_back(q.norm());
      if (beta_.back() <= rounding(alpha_)) {
        return;
      }
      q /= beta_.back();
    }
  }

  /// Sets theta and s; returns the residual of their Ritz pair.
  double set_ritz_pair() {
    const Eigen::Map<const VectorXd> alpha(alpha_.data(), size());
    const Eigen::Map<const VectorXd> beta(beta_.data(), size());
    MatrixXd t = alpha.asDiagonal();
    t.diagonal(-1) = beta.head(size() - 1);
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(t);
    if (solver.info() != Eigen::Success) {
      s_ = VectorXd::Unit(size(), 0);
      theta_ = alpha_.front();
      return std::numeric_limits<double>::infinity();
    }
    theta_ = solver.eigenvalues()(size() - 1);
    s_ = solver.eigenvectors().col(size() - 1);
    return std::abs(beta_.back() * s_(size() - 1));
  }

  const ChosenRows& rows_;
  EigenvalueLimits limits_;
  MatrixXd basis_;  // q_1, q_2, ... in its columns
  std::vector<double> alpha_;
  std::vector<double> beta_;
  double theta_ = 0;
  VectorXd s_;
};

/// Returns an upper bound of the largest eigenvalue of G that is at most the share kExcess above
/// it, whatever the spectrum: theta / (1 - kExcess), where theta is the largest Ritz value of k
/// steps of Lanczos' method from a start that is uniform on the sphere. It fails to be a bound with
/// a probability of at most 1.648 sqrt(n) exp(-sqrt(kExcess) (2 k - 1)) <= kFailure (Kuczynski and
/// Wozniakowski, SIAM J. Matrix Anal. Appl. 13, 1992, Theorem 4.2). The steps keep three vectors
/// alone: rounding then repeats eigenvalues and invents none above the largest.
std::optional<double> eigenvalue_bound(const ChosenRows& rows) {
  constexpr double kExcess = 1e-4;
  constexpr double kFailure = 1e-12;
  const auto order = static_cast<double>(rows.order());
  const double exponent = std::log(1.648 * std::sqrt(order) / kFailure);
  const auto steps = static_cast<std::size_t>(std::ceil((exponent / std::sqrt(kExcess) + 1) / 2));
  std::vector<double> alpha;
  std::vector<double> beta;
  VectorXd before = VectorXd::Zero(static_cast<Index>(rows.order()));
  VectorXd q = random_start(before.size()).normalized();
  double norm = 0;  // beta of the step before
  while (alpha.size() < steps) {
    VectorXd next = rows.times_gram(q) - norm * before;
    alpha.push_back(q.dot(next));
    next -= alpha.back() * q;
    norm = next.norm();
    if (norm <= rounding(alpha)) {
      break;
    }
    beta.push_back(norm);
    before.swap(q);
    q = next / norm;
  }
  const auto size = static_cast<Index>(alpha.size());
  // Eigen tells a small off-diagonal entry by its size alone, so that the matrix is scaled to 1.
  const double scale = *std::max_element(alpha.begin(), alpha.end());
  Eigen::SelfAdjointEigenSolver<MatrixXd> solver;
  solver.computeFromTridiagonal(Eigen::Map<const VectorXd>(alpha.data(), size) / scale,
                                Eigen::Map<const VectorXd>(beta.data(), size - 1) / scale,
                                Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) {
    return std::nullopt;
  }
  return scale * solver.eigenvalues()(size - 1) / (1 - kExcess);
}

MatrixXd dense_weighted_gram(const RowsView<double>& view,
                             std::span<const std::uint32_t> rows,
                             std::span<const double> weights) {
  const auto d = static_cast<Index>(view.columns);
  MatrixXd gram = MatrixXd::Zero(d, d);
  for (std::size_t first = 0; first < rows.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, rows.size() - first);
    MatrixXd scaled(d, static_cast<Index>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const Eigen::Map<const VectorXd> x(view.value + rows[first + i] * view.columns, d);
      scaled.col(static_cast<Index>(i)) = std::sqrt(weights[first + i]) * x;
    }
    gram.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
  }
  return gram;
}

MatrixXd sparse_weighted_gram(const RowsView<double>& view,
                              std::span<const std::uint32_t> rows,
                              std::span<const double> weights) {
  const auto d = static_cast<Index>(view.columns);
  MatrixXd gram = MatrixXd::Zero(d, d);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t end = view.row_begin[rows[i] + 1];
    for (std::uint64_t entry = view.row_begin[rows[i]]; entry < end; ++entry) {
      // Columns increase along a row, so row entry >= column entry: the lower triangle.
      const Index column = view.column[entry];
      for (std::uint64_t other = entry; other < end; ++other) {
        gram(view.column[other], column) +=
            weights[i] * view.value_of(entry) * view.value_of(other);
      }
    }
  }
  return gram;
}

}  // namespace

LargestEigenvalue largest_gram_eigenvalue(const FeatureMatrix& a,
                                          std::span<const std::uint32_t> rows,
                                          const EigenvalueLimits& limits) {
  const ChosenRows chosen(a, rows);
  const double trace = chosen.norm_sq();
  if (trace == 0) {
    return {};
  }
  const std::optional<double> found =
      chosen.order() > limits.dense
          ? Lanczos(chosen, limits).find()
          : decompose(chosen.is_wide()
                          ? chosen.outer_gram()
                          : weighted_gram(a, rows, std::vector<double>(rows.size(), 1.0)));
  return found ? LargestEigenvalue{*found, false}
               : LargestEigenvalue{eigenvalue_bound(chosen).value_or(trace), true};
}

MatrixXd weighted_gram(const FeatureMatrix& a,
                       std::span<const std::uint32_t> rows,
                       std::span<const double> weights) {
  assert(rows.size() == weights.size());
  const auto view = a.view<double>();
  return a.is_dense() ? dense_weighted_gram(view, rows, weights)
                      : sparse_weighted_gram(view, rows, weights);
}

}  // namespace residuum
