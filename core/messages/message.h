#pragma once
// What a worker sends of its accumulator.

#include "core/vectors/sparse_vector.h"

namespace residuum {

/// Some entries of the accumulator, or all of it.
template <class Real>
struct Message {
  bool everything = false;  // the whole accumulator; `entries` is then unused
  SparseVector<Real> entries;
};

}  // namespace residuum
