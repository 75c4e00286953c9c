#pragma once
// Magnitudes are compared as integers: the bits of a positive IEEE number, read as an integer, are
// ordered as the number is.

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace residuum {

/// MagnitudeBits is the unsigned integer as wide as Real.
template <class Real>
using MagnitudeBits =
    std::conditional_t<sizeof(Real) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;

template <class Real>
MagnitudeBits<Real> magnitude_bits(Real value) {
  using Bits = MagnitudeBits<Real>;
  return std::bit_cast<Bits>(value) & (std::numeric_limits<Bits>::max() >> 1);
}

}  // namespace residuum
