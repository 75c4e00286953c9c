#pragma once
// The smoothness of every loss of A w depends on the largest eigenvalue of A^T A.

#include <cstdint>
#include <span>

#include "objectives/feature_matrix.h"

namespace residuum {

/// Returns lambda_max(A^T A) to a relative residual of 1e-10, by Lanczos' method with restarts
/// (Spectra), without forming the product. An eigenpair that does not pass that check is a resource
/// error.
double largest_gram_eigenvalue(const FeatureMatrix& a);
/// Returns the same for some rows of A.
double largest_gram_eigenvalue(const FeatureMatrix& a, std::span<const std::uint32_t> rows);

}  // namespace residuum
