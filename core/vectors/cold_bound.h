#pragma once
// Bounds for vectors of which nothing is known from before.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/vectors/magnitude_bits.h"

namespace residuum {

/// Up to this size every entry that is not zero is looked at: sampling and counting cost more.
inline constexpr std::size_t kSmallVector = 4096;

/// A magnitude that a few more than k entries reach, if the entries sampled are like the others;
/// that of the smallest non-zero number for short vectors.
template <class Real>
Real likely_bound(std::span<const Real> x, std::size_t k, std::vector<MagnitudeBits<Real>>& sample);

/// A magnitude above zero that at least k entries reach, or all that are not zero: the smallest of
/// the highest buckets of a histogram of leading bits that together hold so many.
template <class Real>
Real certain_bound(std::span<const Real> x, std::size_t k, std::vector<std::uint32_t>& histogram);

}  // namespace residuum
