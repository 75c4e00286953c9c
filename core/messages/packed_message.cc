#include "core/messages/packed_message.h"

#include "core/messages/bit_codes.h"

namespace residuum {

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
