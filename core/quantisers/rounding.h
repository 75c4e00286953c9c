#pragma once
// Unbiased rounding to levels, which random quantisers share.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace residuum {

/// Rounds y in [0, top] to a neighbouring whole number at random, so that the mean is y but for at
/// most 2^-24 (float) or 2^-32 (double): the upper one where the draw, 32 random bits, is below the
/// fraction of y. A whole number stays as it is.
template <class Real>
std::uint32_t rounded_at_random(Real y, std::uint32_t draw, std::uint32_t top) {
  const auto below = static_cast<std::uint32_t>(y);
  const Real fraction = y - static_cast<Real>(below);
  const Real uniform = sizeof(Real) == sizeof(float)
                           ? static_cast<Real>(draw >> 8) * static_cast<Real>(0x1p-24)
                           : static_cast<Real>(draw) * static_cast<Real>(0x1p-32);
  return std::min(below + (uniform < fraction ? 1U : 0U), top);
}

/// Rounds by a random byte, which is enough but for one case in 256: then `more()`, 32
/// random bits, decides. The mean is off by at most 2^-32.
template <class More>
std::uint32_t rounded_by_byte(float y, std::byte byte, std::uint32_t top, const More& more) {
  const auto below = static_cast<std::uint32_t>(y);
  const float in_bytes = (y - static_cast<float>(below)) * 256.0F;
  const auto first = static_cast<std::uint32_t>(in_bytes);
  const auto drawn = std::to_integer<std::uint32_t>(byte);
  const bool up = drawn < first || (drawn == first && static_cast<float>(more() >> 8) * 0x1p-24F <
                                                          in_bytes - static_cast<float>(first));
  return std::min(below + (up ? 1U : 0U), top);
}

/// Returns a power of two. Quotients of values of this largest magnitude times it, and for double
/// their squares, neither overflow nor lose bits to underflow. It is 1 but for values that are very
/// small or, as floats, very large.
template <class Real>
Real lift(Real largest) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    return largest < 0x1p-60F ? 0x1p100F : largest > 0x1p100F ? 0x1p-60F : 1.0F;
  } else {
    return largest < 0x1p-300 ? 0x1p600 : 1.0;
  }
}

}  // namespace residuum
