#include "objectives/spectrum.h"

#include <Eigen/Dense>

#include <Spectra/SymEigsSolver.h>
#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"

namespace residuum {
namespace {

/// v -> A^T (A v), in the form that Spectra asks for.
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

/// Spectra needs room for a few Lanczos vectors, so very small matrices are decomposed whole.
Eigenpair decompose_small(const GramOperator& gram) {
  const Eigen::Index d = gram.rows();
  Eigen::MatrixXd matrix(d, d);
  for (Eigen::Index j = 0; j < d; ++j) {
    const Eigen::VectorXd unit = Eigen::VectorXd::Unit(d, j);
    gram.perform_op(unit.data(), matrix.col(j).data());
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
  return {solver.eigenvalues()(d - 1), solver.eigenvectors().col(d - 1)};
}

Eigenpair iterate(const GramOperator& gram) {
  constexpr Eigen::Index kLanczosVectors = 20;
  constexpr Eigen::Index kRestarts = 2000;
  constexpr double kTolerance = 1e-13;
  GramOperator op(gram);
  Spectra::SymEigsSolver<GramOperator> solver(op, 1, std::min(gram.rows(), kLanczosVectors));
  solver.init();
  solver.compute(Spectra::SortRule::LargestAlge, kRestarts, kTolerance);
  if (solver.info() != Spectra::CompInfo::Successful) {
    resource_error("the largest eigenvalue of the data's Gram matrix was not found in {} restarts",
                   kRestarts);
  }
  return {solver.eigenvalues()(0), solver.eigenvectors().col(0)};
}

}  // namespace

double largest_gram_eigenvalue(const FeatureMatrix& a) {
  if (a.norm_sq() == 0) {
    return 0;
  }
  const GramOperator gram(a);
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

}  // namespace residuum
