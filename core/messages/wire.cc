#include "core/messages/wire.h"

#include <cassert>
#include <cstring>
#include <vector>

namespace residuum {
namespace {

void write_bytes(std::span<const std::byte> bytes, std::byte* target) {
  if (!bytes.empty()) {
    std::memcpy(target, bytes.data(), bytes.size());
  }
}

template <class T>
void read_values(std::span<const std::byte> bytes, std::vector<T>& values) {
  values.resize(bytes.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  }
}

}  // namespace

template <class Real>
std::byte* pack(const SparseVector<Real>& list, std::byte* target) {
  const auto indices = std::as_bytes(std::span(list.indices));
  const auto values = std::as_bytes(std::span(list.values));
  write_bytes(indices, target);
  write_bytes(values, target + indices.size());
  return target + indices.size() + values.size();
}

template <class Real>
void unpack(std::span<const std::byte> bytes, SparseVector<Real>& list) {
  const std::size_t entries = bytes.size() / entry_bytes<Real>(0);
  assert(packed_bytes<Real>(entries) == bytes.size());
  list.make_room(entries);
  read_values(bytes.first(entries * sizeof(std::uint32_t)), list.indices);
  read_values(bytes.subspan(entries * sizeof(std::uint32_t)), list.values);
}

template <class Real>
std::byte* pack_with_length(const SparseVector<Real>& list, std::byte* target) {
  const std::uint64_t length = packed_bytes<Real>(list.size());
  write_bytes(std::as_bytes(std::span(&length, 1)), target);
  return pack(list, target + kLengthBytes);
}

template <class Real>
std::span<const std::byte> unpack_with_length(std::span<const std::byte> bytes,
                                              SparseVector<Real>& list) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  unpack(bytes.subspan(kLengthBytes, length), list);
  return bytes.subspan(kLengthBytes + length);
}

template std::byte* pack<float>(const SparseVector<float>&, std::byte*);
template std::byte* pack<double>(const SparseVector<double>&, std::byte*);
template void unpack<float>(std::span<const std::byte>, SparseVector<float>&);
template void unpack<double>(std::span<const std::byte>, SparseVector<double>&);
template std::byte* pack_with_length<float>(const SparseVector<float>&, std::byte*);
template std::byte* pack_with_length<double>(const SparseVector<double>&, std::byte*);
template std::span<const std::byte> unpack_with_length<float>(std::span<const std::byte>,
                                                              SparseVector<float>&);
template std::span<const std::byte> unpack_with_length<double>(std::span<const std::byte>,
                                                               SparseVector<double>&);

}  // namespace residuum
