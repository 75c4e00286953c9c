#pragma once
// How lists travel: the indices as 32-bit numbers, then the values. What is counted as traffic is
// the size of this form.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/vectors/sparse_vector.h"

namespace residuum {

/// Bytes of one entry of a vector of `dimension` numbers on the wire: 8 for float, 12 for double,
/// and 16 where an index takes more than 32 bits.
template <class Real>
constexpr std::size_t entry_bytes(std::size_t dimension) {
  const bool is_wide = dimension >= std::size_t{1} << 32;
  return is_wide ? 16 : sizeof(std::uint32_t) + sizeof(Real);
}

/// The bytes of the packed list; a training with wider indices does not begin.
template <class Real>
std::size_t packed_bytes(std::size_t entries) {
  return entries * entry_bytes<Real>(0);
}

/// Packs the list to `target`, which has room, and returns where it ended.
template <class Real>
std::byte* pack(const SparseVector<Real>& list, std::byte* target);

/// The number of entries follows from the number of bytes.
template <class Real>
void unpack(std::span<const std::byte> bytes, SparseVector<Real>& list);

/// The same with the length in front, for lists that follow one another.
inline constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
template <class Real>
std::byte* pack_with_length(const SparseVector<Real>& list, std::byte* target);
/// Returns what follows the list.
template <class Real>
std::span<const std::byte> unpack_with_length(std::span<const std::byte> bytes,
                                              SparseVector<Real>& list);

}  // namespace residuum
