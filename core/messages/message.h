#pragma once
// A message is the part of its accumulator that a worker sends.

#include "core/vectors/sparse_vector.h"

namespace residuum {

/// Holds some entries of the accumulator, or stands for all of it.
template <class Real>
struct Message {
  bool everything = false;  // the whole accumulator; `entries` is then unused
  SparseVector<Real> entries;
};

}  // namespace residuum
