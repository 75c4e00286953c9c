#pragma once
// An index form says how the indices of a message travel. The indices of a sparsifier that selects
// by blocks of consecutive entries take fewer than the 32 bits of a listed one.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/vectors/candidates.h"

namespace residuum {

/// A vector of `dimension` numbers is cut into blocks of `block` entries; the last may be shorter.
struct BlockCut {
  std::size_t dimension = 0;
  std::size_t block = 1;

  std::size_t count() const { return (dimension + block - 1) / block; }
  Segment segment(std::size_t number) const {
    const std::size_t begin = number * block;
    return {.begin = begin, .size = std::min(block, dimension - begin)};
  }
  /// Returns how many entries the blocks of these rising numbers have together.
  std::size_t entries(std::span<const std::uint32_t> numbers) const;
};

struct IndexForm {
  enum class Kind : std::uint8_t {
    listed,  // 32 bits for each index
    local,   // for every block how many entries it has, then the place of each in its block
    blocks,  // 32 bits for the number of each block, which is sent whole
    agreed,  // nothing: the receivers know which blocks are sent whole
  };
  Kind kind = Kind::listed;
  std::uint32_t block = 1;

  bool has_whole_blocks() const { return kind == Kind::blocks || kind == Kind::agreed; }
  BlockCut cut(std::size_t dimension) const { return {.dimension = dimension, .block = block}; }
  friend bool operator==(const IndexForm&, const IndexForm&) = default;
};

/// Returns the bytes of the indices of n values that a message has of `dimension` numbers: none
/// where it has all of them. Counts
/// and places are codes of as many bits as the largest of them needs, and each fill whole bytes.
std::size_t index_bytes(const IndexForm& form, std::size_t n, std::size_t dimension);

/// Holds the rising indices of a message and, where blocks are sent whole, their rising numbers.
struct IndexLists {
  std::span<const std::uint32_t> indices;
  std::span<const std::uint32_t> blocks;
};

/// Writes the indices to `target`, which has index_bytes() of them.
void write_indices(const IndexForm& form,
                   std::size_t dimension,
                   const IndexLists& lists,
                   std::span<std::byte> target);

/// Reads as many indices as `indices` has room for from bytes that may come from anywhere, and the
/// numbers of blocks that are sent whole; where these are agreed, `blocks` has them before. Throws
/// an Error if they are not such indices of a vector of `dimension` numbers.
void read_indices(const IndexForm& form,
                  std::size_t dimension,
                  std::span<const std::byte> bytes,
                  std::span<std::uint32_t> indices,
                  std::vector<std::uint32_t>& blocks);

/// Throws an Error which says that a message is damaged, unless it is sound.
void check_message(bool is_sound);

}  // namespace residuum
