#pragma once
// The smoothness of every loss of A w depends on the largest eigenvalue of A^T A.

#include <Eigen/Dense>

#include <cstddef>
#include <cstdint>
#include <span>

#include "objectives/feature_matrix.h"

namespace residuum {

/// The value is the largest eigenvalue, or an upper bound close to it.
struct LargestEigenvalue {
  double value = 0;
  bool is_bound = false;
};

/// These limits say how much work the search may be.
struct EigenvalueLimits {
  std::size_t dense = 1000;  // the order up to which a Gram matrix is formed and decomposed
  int vectors = 60;          // of a Krylov space, at least 2
  int restarts = 40;         // of Lanczos' method
};

/// Returns lambda_max(A^T A) of some rows of A, which is that of A A^T too. The smaller of the two
/// matrices is decomposed where it is small. Otherwise Lanczos' method with restarts looks for an
/// eigenvalue to a relative residual of 1e-8, and reaches it after a few steps where the rank is
/// small. If it does not, because many eigenvalues lie close to the largest, the result is an upper
/// bound at most 1e-4 of the eigenvalue above it: a Ritz value plus its residual would be none.
/// Throws what `stop_if_requested` (core/stop.h) does.
LargestEigenvalue largest_gram_eigenvalue(const FeatureMatrix& a,
                                          std::span<const std::uint32_t> rows,
                                          const EigenvalueLimits& limits = {});

/// Returns sum_i weights[i] x_i x_i^T over some rows x_i of A, in the lower triangle alone. The
/// weights, one for each of `rows`, are not negative.
Eigen::MatrixXd weighted_gram(const FeatureMatrix& a,
                              std::span<const std::uint32_t> rows,
                              std::span<const double> weights);

}  // namespace residuum
