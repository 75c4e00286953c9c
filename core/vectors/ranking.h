#pragma once
// A ranking finds the k-th largest of many magnitudes: a histogram over their range tells its
// bucket, and only that bucket is searched. Magnitudes are given as bits, so that buckets cover
// equal ratios and few outliers do not leave all others in one bucket.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace residuum {

/// A cut is the magnitude of the k-th largest entry, and how many entries of exactly that magnitude
/// are among the k largest.
struct Cut {
  std::uint64_t magnitude = 0;
  std::size_t ties = 0;
};

/// Bits is uint32 or uint64; the spans and buffers given must outlive it.
template <class Bits>
class Ranking {
 public:
  /// `magnitudes` must not be empty.
  Ranking(std::span<const Bits> magnitudes, std::vector<std::uint32_t>& histogram);

  /// Requires 1 <= k <= size.
  Cut cut(std::size_t k, std::vector<Bits>& bucket) const;

  /// Returns a number that at least k of the magnitudes reach, and not many more.
  Bits floor_of(std::size_t k) const;

  Bits smallest() const { return smallest_; }

 private:
  /// A place is the bucket of the k-th largest, and the number of magnitudes in higher buckets.
  struct Place {
    std::size_t bucket;
    std::size_t above;
  };
  Place place_of(std::size_t k) const;
  std::size_t bucket_of(Bits magnitude) const { return (magnitude - smallest_) >> shift_; }

  std::span<const Bits> magnitudes_;
  std::vector<std::uint32_t>& histogram_;
  Bits smallest_ = 0;
  int shift_ = 0;
};

}  // namespace residuum
