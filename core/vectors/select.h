#pragma once
// Exact selection of the entries of largest magnitude. Ties go to the lower index; zeros are never
// selected. Total order: (|x_i| descending, i ascending).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/vectors/sparse_vector.h"

namespace residuum {

/// Buffers that selection reuses from call to call.
struct SelectWorkspace {
  std::vector<std::uint32_t> histogram;
  std::vector<std::uint32_t> candidates;
  std::vector<std::uint64_t> keys;
};

/// selected := Top_k(x): the min(k, nnz(x)) entries that come first in the total order, by index.
/// x must be finite and shorter than 2^32.
template <class Real>
void select_top_k(std::span<const Real> x,
                  std::size_t k,
                  SelectWorkspace& workspace,
                  SparseVector<Real>& selected);

/// Truncates a sparse vector in place to its k first entries in the total order; what was cut goes
/// to `truncated` (by index) if it is not null.
template <class Real>
void truncate_to_top_k(SparseVector<Real>& vector,
                       std::size_t k,
                       SelectWorkspace& workspace,
                       SparseVector<Real>* truncated);

/// selected := {(i, x_i) : |x_i| >= threshold, x_i != 0}.
template <class Real>
void select_above(std::span<const Real> x, Real threshold, SparseVector<Real>& selected);

/// The threshold that Top_k uses: |x| of the last entry it keeps, or 0 where nnz(x) <= k.
template <class Real>
Real top_k_threshold(std::span<const Real> x, std::size_t k, SelectWorkspace& workspace);

}  // namespace residuum
