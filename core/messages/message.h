#pragma once
// A message is the part of its accumulator that a worker sends.

#include <cstddef>
#include <vector>

#include "core/messages/wire.h"
#include "core/vectors/sparse_vector.h"

namespace residuum {

/// Holds some entries of the accumulator, or stands for all of it. Where a quantiser wrote it, the
/// entries are what was read from the bytes that travel, without zeros.
template <class Real>
struct Message {
  bool everything = false;  // the whole accumulator; `entries` is then unused
  SparseVector<Real> entries = {};
  std::vector<std::byte> coded = {};  // what travels, where a quantiser wrote it
  std::size_t coded_values = 0;       // the number of values in `coded`, zeros included

  /// Returns how many values the worker sends, of an accumulator of `dimension` numbers.
  std::size_t values_sent(std::size_t dimension) const {
    return everything ? dimension : coded.empty() ? entries.size() : coded_values;
  }
  /// Returns the bytes that the message takes on its way from one worker to another.
  std::size_t bytes(std::size_t dimension) const {
    return everything      ? dimension * sizeof(Real)
           : coded.empty() ? packed_bytes<Real>(entries.size())
                           : coded.size();
  }
};

}  // namespace residuum
