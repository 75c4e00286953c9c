#pragma once
// A quantised message travels as the indices of its values, in the form that its sparsifier gave
// them, followed by the packed form of the values. A message with a value for every index travels
// without the indices. A block that is sent whole has its zeros among the values.

#include <cstddef>
#include <span>

#include "core/messages/message.h"
#include "core/quantisers/quantiser.h"

namespace residuum {

/// Returns the bytes of a quantised message of n values of an accumulator of `dimension` numbers.
template <class Real>
std::size_t coded_bytes(const IndexForm& form,
                        const Quantiser& quantiser,
                        std::size_t n,
                        std::size_t dimension);

/// Writes the values of the message, which a sparsifier chose of the accumulator, to `coded` and
/// replaces its entries by what is read from there.
template <class Real>
void quantise(const Quantiser& quantiser,
              std::span<const Real> accumulator,
              RandomStream& random,
              Message<Real>& message);

/// Makes the entries of a message of an accumulator of `dimension` numbers from its `coded` and
/// `coded_values`, which may come from another process, and its `form`; where blocks are agreed, it
/// has their numbers. Throws an Error if what came is damaged.
template <class Real>
void read_coded(const Quantiser& quantiser, std::size_t dimension, Message<Real>& message);

}  // namespace residuum
