#pragma once
// Intersection finds the entries of many sparse vectors that lie on one support. It handles one
// range of coordinates after the other for all vectors, with a bit for each coordinate of the
// range: these bits stay in the nearest caches however long the vectors are.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/vectors/list_kernels.h"
#include "core/vectors/sparse_vector.h"

namespace residuum {

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
