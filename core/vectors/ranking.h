#pragma once
// Where a number stands among others by size: a histogram over their range says in which bucket,
// and only that bucket is looked through. Numbers are the bits of magnitudes, whose buckets are of
// equal ratio, so that few outliers do not leave all others in one.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace residuum {

/// Where the k-th largest stands: its magnitude, and how many of exactly that magnitude are among
/// the k largest.
struct Cut {
  std::uint64_t magnitude = 0;
  std::size_t ties = 0;
};

/// Bits is uint32 or uint64; the spans and buffers given must outlive it.
template <class Bits>
class Ranking {
 public:
  /// Of at least one magnitude.
  Ranking(std::span<const Bits> magnitudes, std::vector<std::uint32_t>& histogram);

  /// Requires 1 <= k <= size.
  Cut cut(std::size_t k, std::vector<Bits>& bucket) const;

  /// A number that at least k of the magnitudes reach, and not many more.
  Bits floor_of(std::size_t k) const;

  Bits smallest() const { return smallest_; }

 private:
  /// The bucket of the k-th largest, and how many stand above it.
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
