#pragma once
// A quantised message travels as the indices of its values, in the form that its sparsifier gave
// them, followed by the packed form of the values. A message with a value for every index travels
// without the indices. A block that is sent whole has its zeros among the values. If layers are
// quantised separately, the values of each layer have a packed form of their own, with its own
// scale or table. The indices tell how many values a layer has.

#include <cstddef>
#include <span>

#include "core/messages/message.h"
#include "core/quantisers/quantiser.h"

namespace residuum {

/// A coding is the quantiser of a run, and the layers that it writes separately, which follow one
/// another and cover the accumulator; none if it writes a message as a whole.
struct Coding {
  const Quantiser* quantiser = nullptr;
  std::span<const Segment> layers = {};
};

/// Returns the most bytes of a quantised message of n values of an accumulator of `dimension`
/// numbers. Without layers every message of n values has as many bytes.
template <class Real>
std::size_t most_coded_bytes(const IndexForm& form,
                             const Coding& coding,
                             std::size_t n,
                             std::size_t dimension);

/// Writes the values of the message, which a sparsifier chose of the accumulator, to `coded` and
/// replaces its entries by the values decoded from there.
template <class Real>
void quantise(const Coding& coding,
              std::span<const Real> accumulator,
              RandomStream& random,
              Message<Real>& message);

/// Does the same where the message has entries, of an accumulator of `dimension` numbers that need
/// not be here.
template <class Real>
void quantise_entries(const Coding& coding,
                      std::size_t dimension,
                      RandomStream& random,
                      Message<Real>& message);

/// Makes the entries of a message of an accumulator of `dimension` numbers from its `coded` and
/// `coded_values`, which may come from another process, and its `form`; where blocks are agreed, it
/// has their numbers. Throws an Error if what came is damaged.
template <class Real>
void read_coded(const Coding& coding, std::size_t dimension, Message<Real>& message);

}  // namespace residuum
