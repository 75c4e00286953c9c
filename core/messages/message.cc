#include "core/messages/message.h"

#include <bit>
#include <functional>
#include <numeric>

#include "core/error.h"
#include "core/messages/bit_codes.h"

namespace residuum {

namespace {

using Kind = IndexForm::Kind;

/// A block has between none and all of its entries in the message.
int bits_of_count(const BlockCut& cut) {
  return static_cast<int>(std::bit_width(std::min(cut.block, cut.dimension)));
}

int bits_of_place(const BlockCut& cut) {
  const std::size_t longest = std::min(cut.block, cut.dimension);
  return longest == 0 ? 0 : static_cast<int>(std::bit_width(longest - 1));
}

std::size_t bytes_of_counts(const BlockCut& cut) {
  return bytes_of_codes(cut.count(), bits_of_count(cut));
}

/// True if the numbers rise and are below `end`.
bool are_rising(std::span<const std::uint32_t> numbers, std::size_t end) {
  const bool rises =
      std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) == numbers.end();
  return rises && (numbers.empty() || numbers.back() < end);
}

void write_local(const BlockCut& cut,
                 std::span<const std::uint32_t> indices,
                 std::span<std::byte> target) {
  CodeWriter counts(target.first(bytes_of_counts(cut)), bits_of_count(cut));
  CodeWriter places(target.subspan(bytes_of_counts(cut)), bits_of_place(cut));
  std::size_t at = 0;
  for (std::size_t number = 0; number < cut.count(); ++number) {
    const auto [begin, size] = cut.segment(number);
    const std::size_t first = at;
    for (; at < indices.size() && indices[at] < begin + size; ++at) {
      places.put(static_cast<std::uint32_t>(indices[at] - begin));
    }
    counts.put(static_cast<std::uint32_t>(at - first));
  }
  counts.finish();
  places.finish();
}

void read_local(const BlockCut& cut,
                std::span<const std::byte> bytes,
                std::span<std::uint32_t> indices) {
  CodeReader counts(bytes.first(bytes_of_counts(cut)), bits_of_count(cut));
  CodeReader places(bytes.subspan(bytes_of_counts(cut)), bits_of_place(cut));
  std::size_t at = 0;
  for (std::size_t number = 0; number < cut.count(); ++number) {
    const auto [begin, size] = cut.segment(number);
    const std::size_t count = counts.get();
    check_message(count <= std::min(size, indices.size() - at));
    const auto of_block = indices.subspan(at, count);
    for (std::uint32_t& index : of_block) {
      index = places.get();
    }
    check_message(are_rising(of_block, size));
    for (std::uint32_t& index : of_block) {
      index += static_cast<std::uint32_t>(begin);
    }
    at += count;
  }
  check_message(at == indices.size() && counts.is_at_end() && places.is_at_end());
}

/// Lists all entries of the blocks.
void list_entries(const BlockCut& cut,
                  std::span<const std::uint32_t> blocks,
                  std::span<std::uint32_t> indices) {
  check_message(are_rising(blocks, cut.count()) && cut.entries(blocks) == indices.size());
  for (const std::uint32_t number : blocks) {
    const auto [begin, size] = cut.segment(number);
    const auto of_block = indices.first(size);
    std::iota(of_block.begin(), of_block.end(), static_cast<std::uint32_t>(begin));
    indices = indices.subspan(size);
  }
}

}  // namespace

std::size_t BlockCut::entries(std::span<const std::uint32_t> numbers) const {
  if (numbers.empty()) {
    return 0;
  }
  return (numbers.size() - 1) * block + segment(numbers.back()).size;
}

std::size_t index_bytes(const IndexForm& form, std::size_t n, std::size_t dimension) {
  if (n == dimension) {
    return 0;
  }
  const BlockCut cut = form.cut(dimension);
  switch (form.kind) {
    case Kind::listed:
      return n * sizeof(std::uint32_t);
    case Kind::local:
      return bytes_of_counts(cut) + bytes_of_codes(n, bits_of_place(cut));
    case Kind::blocks:
      return (n + cut.block - 1) / cut.block * sizeof(std::uint32_t);
    case Kind::agreed:
      return 0;
  }
  return 0;
}

void write_indices(const IndexForm& form,
                   std::size_t dimension,
                   const IndexLists& lists,
                   std::span<std::byte> target) {
  if (lists.indices.size() == dimension) {
    return;
  }
  switch (form.kind) {
    case Kind::listed:
      write_numbers(lists.indices, target);
      return;
    case Kind::local:
      write_local(form.cut(dimension), lists.indices, target);
      return;
    case Kind::blocks:
      write_numbers(lists.blocks, target);
      return;
    case Kind::agreed:
      return;
  }
}

void read_indices(const IndexForm& form,
                  std::size_t dimension,
                  std::span<const std::byte> bytes,
                  std::span<std::uint32_t> indices,
                  std::vector<std::uint32_t>& blocks) {
  check_message(indices.size() <= dimension &&
                bytes.size() == index_bytes(form, indices.size(), dimension));
  if (indices.size() == dimension) {
    std::iota(indices.begin(), indices.end(), 0U);
    blocks.resize(form.has_whole_blocks() ? form.cut(dimension).count() : blocks.size());
    std::iota(blocks.begin(), blocks.end(), 0U);
    return;
  }
  switch (form.kind) {
    case Kind::listed:
      read_numbers(bytes, indices);
      check_message(are_rising(indices, dimension));
      return;
    case Kind::local:
      read_local(form.cut(dimension), bytes, indices);
      return;
    case Kind::blocks:
      blocks.resize(bytes.size() / sizeof(std::uint32_t));
      read_numbers(bytes, std::span(blocks));
      list_entries(form.cut(dimension), blocks, indices);
      return;
    case Kind::agreed:
      list_entries(form.cut(dimension), blocks, indices);
      return;
  }
}

void check_message(bool is_sound) {
  if (!is_sound) {
    throw Error(ExitCode::internal,
                "a message is damaged; run the same build of the program on all processes");
  }
}

template <class Real>
void pack_message(const Message<Real>& message,
                  std::size_t dimension,
                  std::vector<std::byte>& bytes) {
  Message<Real> filled = message;
  fill_blocks(filled, dimension);
  const auto& [indices, values] = filled.entries;
  const std::size_t begin = bytes.size();
  bytes.resize(begin + message.bytes(dimension));
  const auto target = std::span(bytes).subspan(begin);
  const std::size_t first = index_bytes(message.form, values.size(), dimension);
  write_indices(
      message.form, dimension, {.indices = indices, .blocks = message.blocks}, target.first(first));
  write_numbers(std::span<const Real>(values), target.subspan(first));
}

template <class Real>
void unpack_message(std::span<const std::byte> bytes,
                    std::size_t n,
                    std::size_t dimension,
                    Message<Real>& message) {
  check_message(n <= dimension);
  const std::size_t first = index_bytes(message.form, n, dimension);
  check_message(bytes.size() == first + n * sizeof(Real));
  message.everything = false;
  message.coded.clear();
  auto& [indices, values] = message.entries;
  message.entries.resize(n);
  read_indices(message.form, dimension, bytes.first(first), indices, message.blocks);
  read_numbers(bytes.subspan(first), std::span(values));
  drop_zeros(message.entries);
}

/// The entries move to their places from the last to the first, so that none is overwritten before
/// it has moved.
template <class Real>
void fill_blocks(Message<Real>& message, std::size_t dimension) {
  if (!message.form.has_whole_blocks()) {
    return;
  }
  const BlockCut cut = message.form.cut(dimension);
  auto& [indices, values] = message.entries;
  std::size_t left = indices.size();
  std::size_t place = cut.entries(message.blocks);
  message.entries.resize(place);
  for (auto number = message.blocks.rbegin(); number != message.blocks.rend(); ++number) {
    const auto [begin, size] = cut.segment(*number);
    for (std::size_t i = begin + size; i > begin;) {
      --i;
      const bool is_kept = left > 0 && indices[left - 1] == i;
      const Real value = is_kept ? values[--left] : Real{0};
      --place;
      indices[place] = static_cast<std::uint32_t>(i);
      values[place] = value;
    }
  }
}

template void pack_message<float>(const Message<float>&, std::size_t, std::vector<std::byte>&);
template void pack_message<double>(const Message<double>&, std::size_t, std::vector<std::byte>&);
template void unpack_message<float>(std::span<const std::byte>,
                                    std::size_t,
                                    std::size_t,
                                    Message<float>&);
template void unpack_message<double>(std::span<const std::byte>,
                                     std::size_t,
                                     std::size_t,
                                     Message<double>&);
template void fill_blocks<float>(Message<float>&, std::size_t);
template void fill_blocks<double>(Message<double>&, std::size_t);

}  // namespace residuum
