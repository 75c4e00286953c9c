#pragma once
// A list is sent as its indices (32-bit numbers) followed by its values. Traffic counts the bytes
// of this form.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/vectors/sparse_vector.h"

namespace residuum {

/// Returns the bytes that one entry of a vector of `dimension` numbers takes on the wire: 8 for
/// float, 12 for double, and 16 where an index takes more than 32 bits.
template <class Real>
constexpr std::size_t entry_bytes(std::size_t dimension) {
  const bool is_wide = dimension >= std::size_t{1} << 32;
  return is_wide ? 16 : sizeof(std::uint32_t) + sizeof(Real);
}

/// ListBytes counts lists of some of `room` consecutive indices of a vector. If lists can have
/// every entry, a list with all of them is a vector, and its values alone travel.
struct ListBytes {
  std::size_t of_entry = 0;
  std::size_t of_value = 0;
  bool can_be_full = false;
  bool are_vectors = false;  // what is listed stands for vectors, whose zeros are sent

  std::size_t of(std::size_t entries, std::size_t room) const {
    const bool is_vector = are_vectors || (can_be_full && entries == room);
    return is_vector ? room * of_value : entries * of_entry;
  }
};

/// Returns the counts for lists of at most `most_entries` of `dimension` numbers.
template <class Real>
constexpr ListBytes list_bytes(std::size_t dimension,
                               std::size_t most_entries,
                               bool are_vectors = false) {
  return {.of_entry = entry_bytes<Real>(dimension),
          .of_value = sizeof(Real),
          .can_be_full = most_entries >= dimension,
          .are_vectors = are_vectors};
}

/// Returns the bytes of the packed list. Indices have 32 bits: a training that would need more is
/// refused at its start.
template <class Real>
std::size_t packed_bytes(std::size_t entries) {
  return entries * entry_bytes<Real>(0);
}

/// Packs the list to `target`, which has room, and returns where it ended.
template <class Real>
std::byte* pack(const SparseVector<Real>& list, std::byte* target);

/// Unpacks a list that fills `bytes`: the number of entries follows from their number.
template <class Real>
void unpack(std::span<const std::byte> bytes, SparseVector<Real>& list);

/// Lists that follow one another are packed with their length in front.
inline constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
template <class Real>
std::byte* pack_with_length(const SparseVector<Real>& list, std::byte* target);
/// Unpacks the first list and returns the bytes that follow it.
template <class Real>
std::span<const std::byte> unpack_with_length(std::span<const std::byte> bytes,
                                              SparseVector<Real>& list);

}  // namespace residuum
