#pragma once
// A message is the part of its accumulator that a worker sends.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/messages/index_form.h"
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

  /// The sparsifier chose these entries, before a quantiser wrote them. They are kept for a
  /// feedback that asks for them (Feedback::clears_selection), and stay with the worker.
  SparseVector<Real> chosen = {};
  bool chose_everything = false;

  IndexForm form = {};                     // how the indices travel
  std::vector<std::uint32_t> blocks = {};  // the numbers of the blocks that are sent whole

  /// Returns how many values the worker sends, of an accumulator of `dimension` numbers. A block
  /// that is sent whole has its zeros among them.
  std::size_t values_sent(std::size_t dimension) const {
    return everything                ? dimension
           : !coded.empty()          ? coded_values
           : form.has_whole_blocks() ? form.cut(dimension).entries(blocks)
                                     : entries.size();
  }
  /// Returns the bytes that the message takes on its way from one worker to another.
  std::size_t bytes(std::size_t dimension) const {
    if (everything) {
      return dimension * sizeof(Real);
    }
    const std::size_t values = values_sent(dimension);
    return coded.empty() ? index_bytes(form, values, dimension) + values * sizeof(Real)
                         : coded.size();
  }
};

}  // namespace residuum
