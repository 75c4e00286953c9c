#include "objectives/spectrum.h"

#include <Eigen/Dense>

#include <Spectra/SymEigsSolver.h>
#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"

namespace residuum {
namespace {

/// Computes v -> A^T (A v), in the form that Spectra asks for.
class GramOperator {
 public:
  using Scalar = double;

  explicit GramOperator(const FeatureMatrix& a) : a_(a), product_(a.rows()) {}

  Eigen::Index rows() const { return static_cast<Eigen::Index>(a_.columns()); }
  Eigen::Index cols() const { return rows(); }

  // NOLINTNEXTLINE(readability-identifier-naming)
  void perform_op(const double* v, double* result) const {
    const std::span<double> out(result, a_.columns());
    std::fill(out.begin(), out.end(), 0.0);
    a_.multiply({v, a_.columns()}, product_);
    a_.add_transposed(product_, out);
  }

 private:
  const FeatureMatrix& a_;
  mutable std::vector<double> product_;
};

struct Eigenpair {
  double value = 0;
  Eigen::VectorXd vector;
};

/// Computes v -> A_S^T (A_S v) of the rows S.
class RowsGramOperator {
 public:
  using Scalar = double;

  RowsGramOperator(const FeatureMatrix& a, std::span<const std::uint32_t> rows)
      : view_(a.view<double>()), rows_(rows) {}

  Eigen::Index rows() const { return static_cast<Eigen::Index>(view_.columns); }
  Eigen::Index cols() const { return rows(); }

  // NOLINTNEXTLINE(readability-identifier-naming)
  void perform_op(const double* v, double* result) const {
    std::fill_n(result, view_.columns, 0.0);
    for (const std::uint32_t row : rows_) {
      view_.add(row, view_.dot(row, v), result);
    }
  }

 private:
  RowsView<double> view_;
  std::span<const std::uint32_t> rows_;
};

/// Spectra needs room for a few Lanczos vectors, so very small matrices are decomposed directly.
template <class Gram>
Eigenpair decompose_small(const Gram& gram) {
  const Eigen::Index d = gram.rows();
  Eigen::MatrixXd matrix(d, d);
  for (Eigen::Index j = 0; j < d; ++j) {
    const Eigen::VectorXd unit = Eigen::VectorXd::Unit(d, j);
    gram.perform_op(unit.data(), matrix.col(j).data());
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
  return {solver.eigenvalues()(d - 1), solver.eigenvectors().col(d - 1)};
}

template <class Gram>
Eigenpair iterate(const Gram& gram) {
  constexpr Eigen::Index kLanczosVectors = 20;
  constexpr Eigen::Index kRestarts = 2000;
  constexpr double kTolerance = 1e-13;
  Gram op(gram);
  Spectra::SymEigsSolver<Gram> solver(op, 1, std::min(gram.rows(), kLanczosVectors));
  solver.init();
  solver.compute(Spectra::SortRule::LargestAlge, kRestarts, kTolerance);
  if (solver.info() != Spectra::CompInfo::Successful) {
    resource_error("the largest eigenvalue of the data's Gram matrix was not found in {} restarts",
                   kRestarts);
  }
  return {solver.eigenvalues()(0), solver.eigenvectors().col(0)};
}

/// Returns the largest eigenvalue of a product that is not zero.
template <class Gram>
double largest_eigenvalue(const Gram& gram) {
  const Eigenpair pair = gram.rows() <= 3 ? decompose_small(gram) : iterate(gram);
  Eigen::VectorXd image(gram.rows());
  gram.perform_op(pair.vector.data(), image.data());
  constexpr double kRelativeResidual = 1e-10;
  const double residual = (image - pair.value * pair.vector).norm();
  if (!(residual <= kRelativeResidual * pair.value)) {
    resource_error("the largest eigenvalue of the data's Gram matrix is not accurate: {} +- {}",
                   pair.value,
                   residual);
  }
  return pair.value;
}

/// True if all of these rows are zero; a row's squared norm is its product with itself.
bool are_zero(const FeatureMatrix& a, std::span<const std::uint32_t> rows) {
  const auto view = a.view<double>();
  std::vector<double> copy(a.columns());
  return std::all_of(rows.begin(), rows.end(), [&](std::uint32_t row) {
    view.add(row, 1, copy.data());
    const double norm_sq = view.dot(row, copy.data());
    view.add(row, -1, copy.data());
    return norm_sq == 0;
  });
}

}  // namespace

double largest_gram_eigenvalue(const FeatureMatrix& a) {
  return a.norm_sq() == 0 ? 0 : largest_eigenvalue(GramOperator(a));
}

double largest_gram_eigenvalue(const FeatureMatrix& a, std::span<const std::uint32_t> rows) {
  return are_zero(a, rows) ? 0 : largest_eigenvalue(RowsGramOperator(a, rows));
}

}  // namespace residuum
