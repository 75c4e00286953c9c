#include "core/vectors/cold_bound.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace residuum {
namespace {

/// The bucket of a magnitude is its exponent and 3 bits of mantissa; kShift is the number of bits
/// below these.
template <class Real>
constexpr int kShift = sizeof(Real) == sizeof(float) ? 20 : 49;

/// There are 2048 buckets for float and 16384 for double.
template <class Real>
constexpr std::size_t kMagnitudeBuckets = std::size_t{1} << (sizeof(Real) * 8 - 1 - kShift<Real>);

/// Neighbours are counted in different tables, so that equal buckets do not wait for one another.
constexpr std::size_t kHistograms = 4;

template <class Real>
void count_buckets(std::span<const Real> x, std::vector<std::uint32_t>& histogram) {
  constexpr std::size_t kCount = kMagnitudeBuckets<Real>;
  histogram.assign(kHistograms * kCount, 0);
  const std::size_t whole = x.size() - x.size() % kHistograms;
  for (std::size_t i = 0; i < whole; i += kHistograms) {
    for (std::size_t table = 0; table < kHistograms; ++table) {
      ++histogram[table * kCount + (magnitude_bits(x[i + table]) >> kShift<Real>)];
    }
  }
  for (std::size_t i = whole; i < x.size(); ++i) {
    ++histogram[magnitude_bits(x[i]) >> kShift<Real>];
  }
  for (std::size_t bucket = 0; bucket < kCount; ++bucket) {
    for (std::size_t table = 1; table < kHistograms; ++table) {
      histogram[bucket] += histogram[table * kCount + bucket];
    }
  }
  histogram.resize(kCount);
}

/// Returns the magnitude, but at least the smallest positive number: zero is never selected.
template <class Real>
Real selectable(MagnitudeBits<Real> bits) {
  return std::bit_cast<Real>(std::max<MagnitudeBits<Real>>(1, bits));
}

/// Returns an odd stride, so that a sample does not keep step with the rows of a matrix.
std::size_t stride_for(std::size_t size) {
  constexpr std::size_t kShortest = 63;
  constexpr std::size_t kMostSampled = 65536;
  return std::max(kShortest, size / kMostSampled) | 1;
}

}  // namespace

template <class Real>
Real likely_bound(std::span<const Real> x,
                  std::size_t k,
                  std::vector<MagnitudeBits<Real>>& sample) {
  if (x.size() <= kSmallVector) {
    return selectable<Real>(0);
  }
  const std::size_t stride = stride_for(x.size());
  sample.clear();
  for (std::size_t i = 0; i < x.size(); i += stride) {
    sample.push_back(magnitude_bits(x[i]));
  }
  // `expected` entries of the sample are above the k-th entry; four standard deviations more make a
  // miss rare.
  const double expected = static_cast<double>(k) / static_cast<double>(stride);
  const auto rank = static_cast<std::size_t>(expected + 4 * std::sqrt(expected) + 4);
  if (rank >= sample.size()) {
    return selectable<Real>(0);
  }
  const auto bound = sample.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(sample.begin(), bound, sample.end(), std::greater<>());
  return selectable<Real>(*bound);
}

template <class Real>
Real certain_bound(std::span<const Real> x, std::size_t k, std::vector<std::uint32_t>& histogram) {
  count_buckets(x, histogram);
  std::size_t bucket = histogram.size();
  std::size_t reached = 0;
  while (bucket > 0 && reached < k) {
    --bucket;
    reached += histogram[bucket];
  }
  return selectable<Real>(static_cast<MagnitudeBits<Real>>(bucket) << kShift<Real>);
}

template float likely_bound<float>(std::span<const float>,
                                   std::size_t,
                                   std::vector<std::uint32_t>&);
template double likely_bound<double>(std::span<const double>,
                                     std::size_t,
                                     std::vector<std::uint64_t>&);
template float certain_bound<float>(std::span<const float>,
                                    std::size_t,
                                    std::vector<std::uint32_t>&);
template double certain_bound<double>(std::span<const double>,
                                      std::size_t,
                                      std::vector<std::uint32_t>&);

}  // namespace residuum
