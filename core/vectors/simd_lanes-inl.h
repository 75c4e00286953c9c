// This header holds the eight lanes of sums in the vectors of one target. Every file of kernels
// includes it once for each target; its guard flips from one to the next (Highway's scheme).

#if defined(RESIDUUM_SIMD_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RESIDUUM_SIMD_LANES_INL
#undef RESIDUUM_SIMD_LANES_INL
#else
#define RESIDUUM_SIMD_LANES_INL
#endif

#include <hwy/highway.h>

#include "core/vectors/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace residuum::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The eight lanes are in one vector, or in several of them.
using DoubleTag = hn::CappedTag<double, kLanes>;
using DoubleVector = hn::Vec<DoubleTag>;
constexpr std::size_t kWidth = hn::MaxLanes(DoubleTag());
constexpr std::size_t kVectors = kLanes / kWidth;

/// Prefetches what a stream will read soon. The hardware prefetcher stops at the ends of pages, and
/// long loops limit how far ahead it sees: without this a pass waits a third of its time.
/// (hwy::Prefetch is dropped by GCC 12, as a call without effect.)
enum class Use { read, write };
template <Use kUse = Use::read, class Real>
HWY_INLINE void prefetch(const Real* x) {
  constexpr std::size_t kBytesAhead = 2048;
  __builtin_prefetch(x + kBytesAhead / sizeof(Real), kUse == Use::write ? 1 : 0);
}

/// The number of entries in a cache line, a multiple of eight.
template <class Real>
constexpr std::size_t kLine = 64 / sizeof(Real);

HWY_INLINE DoubleVector load(const double* x) { return hn::LoadU(DoubleTag(), x); }
HWY_INLINE DoubleVector load(const float* x) {
  return hn::PromoteTo(DoubleTag(), hn::LoadU(hn::Rebind<float, DoubleTag>(), x));
}

/// Returns s + x^2. The square of a float is exact in double, so that a fused multiply-add gives
/// the same bits.
HWY_INLINE DoubleVector add_square(DoubleVector s, DoubleVector x, const float* /*from*/) {
  return hn::MulAdd(x, x, s);
}
HWY_INLINE DoubleVector add_square(DoubleVector s, DoubleVector x, const double* /*from*/) {
  return hn::Add(s, hn::Mul(x, x));
}

/// Sums holds the lanes in registers.
struct Sums {
  DoubleVector v[kVectors];  // NOLINT(modernize-avoid-c-arrays): std::array has calls of its own

  HWY_INLINE explicit Sums(const Lanes& lanes) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kVectors; ++j) {
      v[j] = hn::LoadU(DoubleTag(), lanes.sums.data() + j * kWidth);
    }
  }

  HWY_INLINE void store(Lanes& lanes) const {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kVectors; ++j) {
      hn::StoreU(v[j], DoubleTag(), lanes.sums.data() + j * kWidth);
    }
  }

  /// Adds x_i^2 to the lanes, for eight entries.
  template <class Real>
  HWY_INLINE void add_squares(const Real* x) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kVectors; ++j) {
      v[j] = add_square(v[j], load(x + j * kWidth), x);
    }
  }
};

template <class Real>
HWY_INLINE void add_square(Lanes& lanes, std::size_t lane, Real value) {
  const auto x = static_cast<double>(value);
  lanes.sums[lane] += x * x;
}

}  // namespace residuum::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
