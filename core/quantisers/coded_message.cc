#include "core/quantisers/coded_message.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "core/messages/message.h"

namespace residuum {
namespace {

std::size_t bytes_of_indices(const IndexForm& form, std::size_t n, std::size_t dimension) {
  return n == dimension ? 0 : index_bytes(form, n, dimension);
}

/// Lists the indices and blocks of a message that has a value for every index.
template <class Real>
void list_all(Message<Real>& message) {
  auto& indices = message.entries.indices;
  std::iota(indices.begin(), indices.end(), 0U);
  if (message.form.has_whole_blocks()) {
    message.blocks.resize(message.form.cut(indices.size()).count());
    std::iota(message.blocks.begin(), message.blocks.end(), 0U);
  }
}

/// Calls visit(begin, end) for the values of every layer that has some, or once for all n of them.
/// The rising indices are those of the values; a message of all `dimension` values needs none.
template <class Visit>
void for_each_part(std::span<const Segment> layers,
                   std::span<const std::uint32_t> indices,
                   std::size_t n,
                   std::size_t dimension,
                   const Visit& visit) {
  if (layers.empty()) {
    visit(std::size_t{0}, n);
    return;
  }
  std::size_t begin = 0;
  for (const Segment& layer : layers) {
    const std::size_t last = layer.begin + layer.size;
    const auto from = indices.begin() + static_cast<std::ptrdiff_t>(n == dimension ? 0 : begin);
    const std::size_t end =
        n == dimension ? last
                       : static_cast<std::size_t>(std::lower_bound(from, indices.end(), last) -
                                                  indices.begin());
    if (end > begin) {
      visit(begin, end);
    }
    begin = end;
  }
}

/// Returns the bytes of the packed values.
template <class Real>
std::size_t bytes_of_values(const Coding& coding,
                            std::span<const std::uint32_t> indices,
                            std::size_t n,
                            std::size_t dimension) {
  std::size_t bytes = 0;
  for_each_part(coding.layers, indices, n, dimension, [&](std::size_t begin, std::size_t end) {
    bytes += coding.quantiser->packed_bytes(end - begin, sizeof(Real));
  });
  return bytes;
}

}  // namespace

template <class Real>
std::size_t most_coded_bytes(const IndexForm& form,
                             const Coding& coding,
                             std::size_t n,
                             std::size_t dimension) {
  // Every layer after the first adds the scale or table of its values, and fills whole bytes.
  const std::size_t parts = std::min(n, coding.layers.size());
  const std::size_t more = parts > 1 ? parts - 1 : 0;
  return bytes_of_indices(form, n, dimension) + coding.quantiser->packed_bytes(n, sizeof(Real)) +
         more * coding.quantiser->packed_bytes(1, sizeof(Real));
}

namespace {

/// Writes the values of the message; `whole` is the accumulator where it is everything.
template <class Real>
void write_values(const Coding& coding,
                  std::size_t d,
                  std::span<const Real> whole,
                  RandomStream& random,
                  Message<Real>& message) {
  if (!message.everything) {
    fill_blocks(message, d);
  }
  const std::span<const Real> values = message.everything ? whole : message.entries.values;
  const std::span<const std::uint32_t> indices = message.entries.indices;
  const std::size_t n = values.size();
  const std::size_t first = bytes_of_indices(message.form, n, d);
  message.coded.resize(first + bytes_of_values<Real>(coding, indices, n, d));
  message.coded_values = n;
  auto rest = std::span(message.coded);
  if (first > 0) {
    write_indices(
        message.form, d, {.indices = indices, .blocks = message.blocks}, rest.first(first));
  }
  rest = rest.subspan(first);
  for_each_part(coding.layers, indices, n, d, [&](std::size_t begin, std::size_t end) {
    const std::size_t bytes = coding.quantiser->packed_bytes(end - begin, sizeof(Real));
    coding.quantiser->encode(values.subspan(begin, end - begin), random, rest.first(bytes));
    rest = rest.subspan(bytes);
  });
  message.everything = false;
  read_coded(coding, d, message);
}

}  // namespace

template <class Real>
void quantise(const Coding& coding,
              std::span<const Real> accumulator,
              RandomStream& random,
              Message<Real>& message) {
  write_values(coding, accumulator.size(), accumulator, random, message);
}

template <class Real>
void quantise_entries(const Coding& coding,
                      std::size_t dimension,
                      RandomStream& random,
                      Message<Real>& message) {
  assert(!message.everything);
  write_values<Real>(coding, dimension, {}, random, message);
}

template <class Real>
void read_coded(const Coding& coding, std::size_t dimension, Message<Real>& message) {
  const std::size_t n = message.coded_values;
  std::span<const std::byte> coded = message.coded;
  check_coded(n <= dimension);
  const std::size_t first = bytes_of_indices(message.form, n, dimension);
  check_coded(coded.size() >= first);
  message.entries.resize(n);
  if (n == dimension) {
    list_all(message);
  } else {
    read_indices(message.form,
                 dimension,
                 coded.first(first),
                 std::span(message.entries.indices),
                 message.blocks);
  }
  const std::span<const std::uint32_t> indices = message.entries.indices;
  coded = coded.subspan(first);
  check_coded(coded.size() == bytes_of_values<Real>(coding, indices, n, dimension));
  for_each_part(coding.layers, indices, n, dimension, [&](std::size_t begin, std::size_t end) {
    const std::size_t bytes = coding.quantiser->packed_bytes(end - begin, sizeof(Real));
    coding.quantiser->decode(coded.first(bytes),
                             std::span(message.entries.values).subspan(begin, end - begin));
    coded = coded.subspan(bytes);
  });
  drop_zeros(message.entries);
}

template std::size_t most_coded_bytes<float>(const IndexForm&,
                                             const Coding&,
                                             std::size_t,
                                             std::size_t);
template std::size_t most_coded_bytes<double>(const IndexForm&,
                                              const Coding&,
                                              std::size_t,
                                              std::size_t);
template void quantise<float>(const Coding&,
                              std::span<const float>,
                              RandomStream&,
                              Message<float>&);
template void quantise<double>(const Coding&,
                               std::span<const double>,
                               RandomStream&,
                               Message<double>&);
template void quantise_entries<float>(const Coding&, std::size_t, RandomStream&, Message<float>&);
template void quantise_entries<double>(const Coding&, std::size_t, RandomStream&, Message<double>&);
template void read_coded<float>(const Coding&, std::size_t, Message<float>&);
template void read_coded<double>(const Coding&, std::size_t, Message<double>&);

}  // namespace residuum
