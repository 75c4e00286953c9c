#pragma once
// A cold bound is a bound for a vector whose last cut is not known.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/vectors/magnitude_bits.h"

namespace residuum {

/// Up to this size every non-zero entry becomes a candidate, because sampling and counting would
/// cost more.
inline constexpr std::size_t kSmallVector = 4096;

/// Returns a magnitude that slightly more than k entries reach if the sampled entries are like the
/// others. For short vectors it is the smallest positive number.
template <class Real>
Real likely_bound(std::span<const Real> x, std::size_t k, std::vector<MagnitudeBits<Real>>& sample);

/// Returns a magnitude above zero that at least k entries reach, or all non-zero ones if there are
/// fewer. It counts leading bits in a histogram and returns the lower end of the bucket that the
/// k-th largest entry is in.
template <class Real>
Real certain_bound(std::span<const Real> x, std::size_t k, std::vector<std::uint32_t>& histogram);

}  // namespace residuum
