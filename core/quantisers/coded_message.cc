#include "core/quantisers/coded_message.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "core/quantisers/bit_codes.h"

namespace residuum {
namespace {

std::size_t bytes_of_indices(std::size_t n, std::size_t dimension) {
  return n == dimension ? 0 : n * sizeof(std::uint32_t);
}

/// True if the indices rise and are below `dimension`.
bool are_indices(std::span<const std::uint32_t> indices, std::size_t dimension) {
  const auto fall = std::adjacent_find(
      indices.begin(), indices.end(), [](auto left, auto right) { return left >= right; });
  return fall == indices.end() && (indices.empty() || indices.back() < dimension);
}

template <class Real>
void drop_zero_entries(SparseVector<Real>& entries) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries.indices[kept] = entries.indices[i];
    entries.values[kept] = entries.values[i];
    kept += entries.values[i] != 0 ? 1 : 0;
  }
  entries.indices.resize(kept);
  entries.values.resize(kept);
}

}  // namespace

template <class Real>
std::size_t coded_bytes(const Quantiser& quantiser, std::size_t n, std::size_t dimension) {
  return bytes_of_indices(n, dimension) + quantiser.packed_bytes(n, sizeof(Real));
}

template <class Real>
void quantise(const Quantiser& quantiser,
              std::span<const Real> accumulator,
              RandomStream& random,
              Message<Real>& message) {
  const std::span<const Real> values = message.everything ? accumulator : message.entries.values;
  const std::size_t d = accumulator.size();
  message.coded.resize(coded_bytes<Real>(quantiser, values.size(), d));
  message.coded_values = values.size();
  const std::size_t first = bytes_of_indices(values.size(), d);
  if (first > 0) {
    write_numbers<std::uint32_t>(message.entries.indices, message.coded);
  }
  quantiser.encode(values, random, std::span(message.coded).subspan(first));
  message.everything = false;
  read_coded(quantiser, d, message);
}

template <class Real>
void read_coded(const Quantiser& quantiser, std::size_t dimension, Message<Real>& message) {
  const std::size_t n = message.coded_values;
  check_coded(n <= dimension && message.coded.size() == coded_bytes<Real>(quantiser, n, dimension));
  auto& [indices, values] = message.entries;
  message.entries.resize(n);
  const std::span<const std::byte> coded = message.coded;
  const std::size_t first = bytes_of_indices(n, dimension);
  if (n == dimension) {
    std::iota(indices.begin(), indices.end(), 0U);
  } else if (n > 0) {
    read_numbers(coded, std::span(indices));
  }
  check_coded(are_indices(indices, dimension));
  quantiser.decode(coded.subspan(first), std::span(values));
  drop_zero_entries(message.entries);
}

template std::size_t coded_bytes<float>(const Quantiser&, std::size_t, std::size_t);
template std::size_t coded_bytes<double>(const Quantiser&, std::size_t, std::size_t);
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
