#pragma once
// What of many sparse vectors lies on one support. The vectors are looked through side by side, one
// range of coordinates after the other, with a bit for each coordinate of the range: these stay in
// the nearest caches however long the vectors are.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/vectors/list_kernels.h"
#include "core/vectors/sparse_vector.h"

namespace residuum {

/// What intersecting reuses from call to call.
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
