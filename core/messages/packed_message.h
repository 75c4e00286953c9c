#pragma once
// A message that no quantiser wrote is packed as its indices, in their form, and its values.

#include <cstddef>
#include <span>
#include <vector>

#include "core/messages/message.h"

namespace residuum {

/// Appends the packed form of a message of some entries of `dimension` numbers: bytes() of it.
template <class Real>
void pack_message(const Message<Real>& message,
                  std::size_t dimension,
                  std::vector<std::byte>& bytes);

/// Reads a message of n values that fills `bytes`, which may come from anywhere. The message tells
/// the form of its indices and, where they are agreed, the blocks. Throws an Error if the bytes are
/// no such message of `dimension` numbers.
template <class Real>
void unpack_message(std::span<const std::byte> bytes,
                    std::size_t n,
                    std::size_t dimension,
                    Message<Real>& message);

/// Gives the blocks of a message that are sent whole an entry at every index, zeros included.
template <class Real>
void fill_blocks(Message<Real>& message, std::size_t dimension);

}  // namespace residuum
