#pragma once
// A split separates the k entries of largest magnitude of a sparse vector from the others: a merge
// of two lists keeps the former and drops the latter. Total order: (|x_i| descending, i ascending),
// as in select.h.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/vectors/list_kernels.h"
#include "core/vectors/sparse_vector.h"

namespace residuum {

/// Holds the buffers that splitting reuses from call to call.
template <class Real>
struct SplitWorkspace {
  SparseVector<Real> merged;
  std::vector<list_kernels::Bits<Real>> magnitudes;
  std::vector<std::uint32_t> histogram;
};

/// kept := the k first entries of `vector` in the total order, dropped := the others, both by
/// index.
template <class Real>
void split_top_k(const SparseVector<Real>& vector,
                 std::size_t k,
                 SplitWorkspace<Real>& workspace,
                 SparseVector<Real>& kept,
                 SparseVector<Real>& dropped);

/// kept := the entries whose magnitude is at least the threshold, dropped := the others, both by
/// index.
template <class Real>
void split_above(const SparseVector<Real>& vector,
                 Real threshold,
                 SparseVector<Real>& kept,
                 SparseVector<Real>& dropped);

/// Splits a + b; `kept` may be one of the two.
template <class Real>
void merge_top_k(const SparseVector<Real>& a,
                 const SparseVector<Real>& b,
                 std::size_t k,
                 SplitWorkspace<Real>& workspace,
                 SparseVector<Real>& kept,
                 SparseVector<Real>& dropped) {
  add(a, b, workspace.merged);
  split_top_k(workspace.merged, k, workspace, kept, dropped);
}

// Intersection finds the entries of many sparse vectors that lie on one support. It handles one
// range of coordinates after the other for all vectors, with a bit for each coordinate of the
// range: these bits stay in the nearest caches however long the vectors are.

/// Holds the buffers that intersecting reuses from call to call.
template <class Real>
struct IntersectWorkspace {
  std::vector<list_kernels::Bits<Real>> marks;
  std::vector<std::size_t> cursors;
  SparseVector<Real> found;
};

/// inside[i] := the entries of *vectors[i] whose index is in `support` (increasing).
template <class Real>
void intersect(std::span<const SparseVector<Real>* const> vectors,
               std::span<const std::uint32_t> support,
               IntersectWorkspace<Real>& workspace,
               std::span<SparseVector<Real>> inside);

}  // namespace residuum
