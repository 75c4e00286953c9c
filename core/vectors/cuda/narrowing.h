#pragma once
// Exact selection on the device is a radix search in integers: an entry is one 64-bit number whose
// order is the total order of core/vectors/select.h, and the k-th largest is found digit by digit.
// Host and device share this plain C++; the kernels around it are in select_kernels.cuh.

#include <array>
#include <bit>
#include <cstdint>

namespace residuum::cuda {

/// Returns the bits of |value|, which are ordered as |value| is.
constexpr std::uint32_t magnitude(float value) {
  return std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU;
}

/// Packs an entry, from the top: 31 bits of magnitude, 32 bits of the index's complement, 1 bit of
/// sign. No two entries of a vector have one index, so the sign never decides the order.
constexpr std::uint64_t entry_of(float value, std::uint32_t index) {
  return (std::uint64_t{magnitude(value)} << 33U) | (std::uint64_t{~index} << 1U) |
         (std::bit_cast<std::uint32_t>(value) >> 31U);
}

constexpr std::uint32_t index_of(std::uint64_t entry) {
  return ~static_cast<std::uint32_t>(entry >> 1U);
}

constexpr float value_of(std::uint64_t entry) {
  const auto sign = static_cast<std::uint32_t>(entry & 1U) << 31U;
  return std::bit_cast<float>(static_cast<std::uint32_t>(entry >> 33U) | sign);
}

/// Smaller entries have magnitude 0, and zeros are never selected.
inline constexpr std::uint64_t kLeastEntry = std::uint64_t{1} << 33U;

/// A digit is some bits of an entry, and how many there are below them.
struct Digit {
  unsigned shift = 0;
  unsigned width = 0;
};

/// There are three digits of magnitude and three of index and sign.
inline constexpr std::array<Digit, 6> kDigits{
    {{53, 11}, {43, 10}, {33, 10}, {22, 11}, {11, 11}, {0, 11}}};
inline constexpr unsigned kBins = 2048;

/// Returns the digits above this one, as one number.
constexpr std::uint64_t leading(std::uint64_t entry, Digit digit) {
  return (entry >> digit.shift) >> digit.width;
}

constexpr unsigned bin_of(std::uint64_t entry, Digit digit) {
  return static_cast<unsigned>(entry >> digit.shift) & ((1U << digit.width) - 1U);
}

/// A Narrowing is the state of the search. Entries that do not begin with `prefix` are decided; of
/// those that do, the `rank` largest are wanted.
struct Narrowing {
  std::uint64_t prefix = 0;
  std::uint64_t cut = kLeastEntry;  // once done: entries of at least that are selected
  std::uint32_t rank = 0;
  std::uint32_t done = 0;
};

/// Returns the state after a digit: the k-th largest entry has `bin` there; of the entries that
/// begin with the prefix, `above` have a larger digit and `within` have this one.
constexpr Narrowing narrowed(
    const Narrowing& now, Digit digit, unsigned bin, std::uint32_t above, std::uint32_t within) {
  Narrowing next = now;
  next.prefix = (now.prefix << digit.width) | bin;
  next.rank = now.rank - above;
  next.done = within == next.rank ? 1 : 0;  // all of them are wanted, so the search ends
  const std::uint64_t smallest = next.prefix << digit.shift;
  next.cut = smallest < kLeastEntry ? kLeastEntry : smallest;
  return next;
}

/// Returns the final state if there are no more entries than are wanted.
constexpr Narrowing satisfied(const Narrowing& now) {
  Narrowing next = now;
  next.cut = kLeastEntry;
  next.done = 1;
  return next;
}

}  // namespace residuum::cuda
