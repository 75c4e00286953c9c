#pragma once
// Symmetric matrices with eigenvalues from mu to 1 by numbers without constraints, for searches
// over quadratics.

#include <cstddef>
#include <span>

namespace residuum {

/// Returns how many numbers a matrix of d rows takes: d eigenvalues and d(d - 1)/2 angles.
std::size_t numbers_of_curvature(std::size_t dimension);

/// Sets the d d entries of a matrix to Q diag(lambda) Q^T, where Q is a product of rotations in the
/// planes of two axes. The numbers are the lambda, from -1 for `least` to 1 for 1, and the angles;
/// a lambda beyond -1 or 1 stands for the end.
void set_curvature(std::span<const double> numbers,
                   double least,
                   std::size_t dimension,
                   std::span<double> entries);

}  // namespace residuum
