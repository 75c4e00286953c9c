#pragma once
// Low rank is the arithmetic of matrices M ~ P Q^T. M lies row after row; the few columns of P and
// of Q lie one after the other. Every sum has an order of its own that neither addresses nor the
// machine's vectors change.

#include <cstddef>
#include <span>

namespace residuum::low_rank {

/// The columns of `left` := M times those of `right`, `rank` of each.
template <class Real>
void multiply(std::span<const Real> matrix,
              std::size_t rank,
              std::span<const Real> right,
              std::span<Real> left);

/// The columns of `right` := M^T times those of `left`.
template <class Real>
void multiply_transposed(std::span<const Real> matrix,
                         std::size_t rank,
                         std::span<const Real> left,
                         std::span<Real> right);

/// M := left right^T.
template <class Real>
void compose(std::size_t rank,
             std::span<const Real> left,
             std::span<const Real> right,
             std::span<Real> matrix);

/// Makes the columns orthonormal, by Gram-Schmidt as in the paper of PowerSGD, but each twice: one
/// pass leaves columns that nearly depend on each other far from orthogonal, two do not (Giraud,
/// Langou, Rozloznik, 2005). A column of which nothing but rounding is left becomes 0, so that
/// P P^T projects on what the columns span, whatever their rank is. Others add an epsilon to the
/// norms (PyTorch's hook 1e-8): then P P^T is no projection where columns are short.
template <class Real>
void orthonormalise(std::size_t rank, std::span<Real> columns);

/// Multiplies a column by a power of two, after which its largest entry lies in [1, 2): products of
/// products neither vanish nor overflow, and no bit of a digit changes. Returns false for 0.
template <class Real>
bool rescale(std::span<Real> column);

}  // namespace residuum::low_rank
