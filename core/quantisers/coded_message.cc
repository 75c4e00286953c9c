#include "core/quantisers/coded_message.h"

#include <numeric>

#include "core/messages/packed_message.h"

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

}  // namespace

template <class Real>
std::size_t coded_bytes(const IndexForm& form,
                        const Quantiser& quantiser,
                        std::size_t n,
                        std::size_t dimension) {
  return bytes_of_indices(form, n, dimension) + quantiser.packed_bytes(n, sizeof(Real));
}

template <class Real>
void quantise(const Quantiser& quantiser,
              std::span<const Real> accumulator,
              RandomStream& random,
              Message<Real>& message) {
  if (!message.everything) {
    fill_blocks(message, accumulator.size());
  }
  const std::span<const Real> values = message.everything ? accumulator : message.entries.values;
  const std::size_t d = accumulator.size();
  const std::size_t first = bytes_of_indices(message.form, values.size(), d);
  message.coded.resize(first + quantiser.packed_bytes(values.size(), sizeof(Real)));
  message.coded_values = values.size();
  const auto coded = std::span(message.coded);
  if (first > 0) {
    write_indices(message.form,
                  d,
                  {.indices = message.entries.indices, .blocks = message.blocks},
                  coded.first(first));
  }
  quantiser.encode(values, random, coded.subspan(first));
  message.everything = false;
  read_coded(quantiser, d, message);
}

template <class Real>
void read_coded(const Quantiser& quantiser, std::size_t dimension, Message<Real>& message) {
  const std::size_t n = message.coded_values;
  const std::span<const std::byte> coded = message.coded;
  check_coded(n <= dimension &&
              coded.size() == coded_bytes<Real>(message.form, quantiser, n, dimension));
  message.entries.resize(n);
  const std::size_t first = bytes_of_indices(message.form, n, dimension);
  if (n == dimension) {
    list_all(message);
  } else {
    read_indices(message.form,
                 dimension,
                 coded.first(first),
                 std::span(message.entries.indices),
                 message.blocks);
  }
  quantiser.decode(coded.subspan(first), std::span(message.entries.values));
  drop_zeros(message.entries);
}

template std::size_t coded_bytes<float>(const IndexForm&,
                                        const Quantiser&,
                                        std::size_t,
                                        std::size_t);
template std::size_t coded_bytes<double>(const IndexForm&,
                                         const Quantiser&,
                                         std::size_t,
                                         std::size_t);
template void quantise<float>(const Quantiser&,
                              std::span<const float>,
                              RandomStream&,
                              Message<float>&);
template void quantise<double>(const Quantiser&,
                               std::span<const double>,
                               RandomStream&,
                               Message<double>&);
template void read_coded<float>(const Quantiser&, std::size_t, Message<float>&);
template void read_coded<double>(const Quantiser&, std::size_t, Message<double>&);

}  // namespace residuum
