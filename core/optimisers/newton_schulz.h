#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace residuum {

/// matrix := about U V^T of its singular value decomposition U S V^T, by the five steps of Newton
/// and Schulz that Muon takes (Jordan et al., "Muon: an optimizer for hidden layers in neural
/// networks", 2024): X = M/(|M|_F + 1e-7), and five times
///   X <- a X + (b A + c A^2) X,  A = X X^T,  (a, b, c) = (3.4445, -4.7750, 2.0315).
/// Singular values above 0.01 |M|_F end between 0.68 and 1.14; 0 stays 0. The matrix has rows
/// * columns numbers, row after row. The source computes in bfloat16, this in Real. `room` is
/// scratch memory, which grows as needed.
template <class Real>
void orthogonalise_by_newton_schulz(std::size_t rows,
                                    std::size_t columns,
                                    std::span<Real> matrix,
                                    std::vector<Real>& room);

}  // namespace residuum
