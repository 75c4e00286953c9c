#pragma once
// A message is the part of its accumulator that a worker sends, and the form in which it travels.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/vectors/candidates.h"
#include "core/vectors/sparse_vector.h"

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

/// An index form says how the indices of a message travel. The indices of a sparsifier that selects
/// by blocks of consecutive entries take fewer than the 32 bits of a listed one.
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

/// Holds some entries of the accumulator, or stands for all of it. If a quantiser wrote it, the
/// entries are decoded from the bytes that travel, without zeros.
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

// A message that no quantiser wrote is packed as its indices, in their form, and its values.

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
