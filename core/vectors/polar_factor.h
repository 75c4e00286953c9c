#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace residuum {

/// matrix := U V^T, the polar factor of U S V^T: of all matrices with orthonormal rows or columns
/// the nearest one. The matrix has rows * columns numbers, row after row; that of one row or column
/// becomes a unit vector. Directions whose singular value is at most rounding max(rows, columns)
/// times the largest are left out, as in the rank of a matrix by numpy: `rounding` is the relative
/// precision of the numbers. Zero stays zero, and a matrix with a number that is not finite becomes
/// NaN. It takes the rotations of Hestenes (one-sided Jacobi), 10 (rows + columns) min(rows,
/// columns)^2 operations for each of some 10 sweeps. `room` is scratch memory, which grows as
/// needed.
void take_polar_factor(std::size_t rows,
                       std::size_t columns,
                       double rounding,
                       std::span<double> matrix,
                       std::vector<double>& room);

}  // namespace residuum
