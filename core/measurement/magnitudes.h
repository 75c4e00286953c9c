#pragma once
// A histogram of magnitudes by powers of two: bin b has the numbers with 2^e <= |x| < 2^(e+1), e =
// kLeastExponent + b. Counts are whole numbers, so that their sum has the same bits in any order.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace residuum {

inline constexpr int kLeastExponent = -149;  // that of the smallest float32
inline constexpr int kMostExponent = 127;    // that of the largest
inline constexpr std::size_t kMagnitudeBins = kMostExponent - kLeastExponent + 1;

/// Returns the bin of x != 0. A float64 beyond the range of float32 is in the bin at its end, and
/// so is a number that is not finite.
inline std::size_t magnitude_bin(double x) {
  constexpr int kBias = 1023;
  const auto biased = static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52U) & 0x7ffU);
  const int exponent = biased - kBias;
  const int kept = exponent < kLeastExponent  ? kLeastExponent
                   : exponent > kMostExponent ? kMostExponent
                                              : exponent;
  return static_cast<std::size_t>(kept - kLeastExponent);
}

/// Adds the numbers to the counts of their bins; zeros are in none.
template <class Real>
void count_magnitudes(std::span<const Real> values, std::vector<double>& counts) {
  for (const Real value : values) {
    if (value != 0) {
      counts[magnitude_bin(static_cast<double>(value))] += 1;
    }
  }
}

}  // namespace residuum
