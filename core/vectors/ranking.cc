#include "core/vectors/ranking.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <functional>

namespace residuum {

template <class Bits>
Ranking<Bits>::Ranking(std::span<const Bits> magnitudes, std::vector<std::uint32_t>& histogram)
    : magnitudes_(magnitudes), histogram_(histogram) {
  assert(!magnitudes.empty());
  constexpr int kFewestBits = 5;
  constexpr int kMostBits = 12;
  Bits largest = magnitudes.front();
  smallest_ = largest;
  for (const Bits magnitude : magnitudes) {
    smallest_ = std::min(smallest_, magnitude);
    largest = std::max(largest, magnitude);
  }
  // There are about as many buckets as magnitudes.
  const int bits =
      std::clamp(static_cast<int>(std::bit_width(magnitudes.size())), kFewestBits, kMostBits);
  shift_ = std::max(0, static_cast<int>(std::bit_width(largest - smallest_)) - bits);
  histogram_.reserve(2U << kMostBits);  // the most: no later ranking reallocates
  histogram_.assign(bucket_of(largest) + 1, 0);
  for (const Bits magnitude : magnitudes) {
    ++histogram_[bucket_of(magnitude)];
  }
}

template <class Bits>
typename Ranking<Bits>::Place Ranking<Bits>::place_of(std::size_t k) const {
  assert(k >= 1 && k <= magnitudes_.size());
  std::size_t bucket = histogram_.size();
  std::size_t reached = 0;
  while (reached < k) {
    --bucket;
    reached += histogram_[bucket];
  }
  return {.bucket = bucket, .above = reached - histogram_[bucket]};
}

template <class Bits>
Cut Ranking<Bits>::cut(std::size_t k, std::vector<Bits>& bucket) const {
  const Place place = place_of(k);
  // Every magnitude is written and the position moves on only for those of the bucket, hence one
  // more place.
  bucket.reserve(std::bit_ceil(histogram_[place.bucket] + 1U));
  bucket.resize(histogram_[place.bucket] + 1);
  std::size_t filled = 0;
  for (const Bits magnitude : magnitudes_) {
    bucket[filled] = magnitude;
    filled += bucket_of(magnitude) == place.bucket ? 1 : 0;
  }
  bucket.resize(filled);
  const std::size_t rank = k - place.above;
  const auto kth = bucket.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(bucket.begin(), kth, bucket.end(), std::greater<>());
  const Bits cut = *kth;
  const auto larger = static_cast<std::size_t>(
      std::count_if(bucket.begin(), kth, [cut](Bits magnitude) { return magnitude > cut; }));
  return {.magnitude = cut, .ties = rank - larger};
}

template <class Bits>
Bits Ranking<Bits>::floor_of(std::size_t k) const {
  return smallest_ + (static_cast<Bits>(place_of(k).bucket) << shift_);
}

template class Ranking<std::uint32_t>;
template class Ranking<std::uint64_t>;

}  // namespace residuum
