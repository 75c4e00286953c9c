#include <cmath>

#include "core/quantisers/code_kernels.h"

// SVE and RVV are disabled: their vectors have no size that is known when this is compiled.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // NOLINT: Highway's macro

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/quantisers/sum_kernels.cc"  // NOLINT: Highway's macro
#include <hwy/foreach_target.h>                              // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace residuum::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Sums are taken in 32 lanes, so that they do not wait for each other.
constexpr std::size_t kSumLanes = 32;
using SumTag = hn::CappedTag<double, 8>;
constexpr std::size_t kSumWidth = hn::MaxLanes(SumTag());
constexpr std::size_t kSumVectors = kSumLanes / kSumWidth;

/// Adds the upper half of the lanes to the lower until one is left: lanes of other vectors first,
/// at any width of them.
HWY_INLINE double total_of(hn::Vec<SumTag>* sums) {
  for (std::size_t half = kSumVectors / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) {
      sums[j] = hn::Add(sums[j], sums[j + half]);
    }
  }
  double left[kSumWidth];  // NOLINT(modernize-avoid-c-arrays)
  hn::StoreU(sums[0], SumTag(), left);
  for (std::size_t half = kSumWidth / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) {
      left[lane] += left[lane + half];
    }
  }
  return left[0];
}

/// Adds the term of x_i to the lane i modulo 32, by `plus`, and the lanes.
template <class Plus, class ScalarTerm>
HWY_INLINE double sum_in_lanes(const float* x,
                               std::size_t n,
                               const Plus& plus,
                               const ScalarTerm& scalar_term) {
  const hn::Rebind<float, SumTag> narrow;
  hn::Vec<SumTag> sums[kSumVectors];  // NOLINT(modernize-avoid-c-arrays): of registers
#pragma GCC unroll 16
  for (auto& sum : sums) {
    sum = hn::Zero(SumTag());
  }
  std::size_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    __builtin_prefetch(x + i + kCodesAtOnce);  // two lines: while random numbers are drawn
    __builtin_prefetch(x + i + kCodesAtOnce + kSumLanes / 2);
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kSumVectors; ++j) {
      const auto value = hn::PromoteTo(SumTag(), hn::LoadU(narrow, x + i + j * kSumWidth));
      sums[j] = plus(sums[j], value);
    }
  }
  if (i < n) {
    double lanes[kSumLanes];  // NOLINT(modernize-avoid-c-arrays)
    for (std::size_t j = 0; j < kSumVectors; ++j) {
      hn::StoreU(sums[j], SumTag(), lanes + j * kSumWidth);
    }
    for (; i < n; ++i) {
      lanes[i % kSumLanes] += scalar_term(static_cast<double>(x[i]));
    }
    for (std::size_t j = 0; j < kSumVectors; ++j) {
      sums[j] = hn::LoadU(SumTag(), lanes + j * kSumWidth);
    }
  }
  return total_of(sums);
}

double magnitudes_in_lanes(const float* x, std::size_t n) {
  return sum_in_lanes(
      x,
      n,
      [](hn::Vec<SumTag> sum, hn::Vec<SumTag> value)
          HWY_ATTR { return hn::Add(sum, hn::Abs(value)); },
      [](double value) { return std::abs(value); });
}

/// The square of a float is exact in double, so that a fused multiply-add gives the same bits.
double squares_in_lanes(const float* x, std::size_t n) {
  return sum_in_lanes(
      x,
      n,
      [](hn::Vec<SumTag> sum, hn::Vec<SumTag> value)
          HWY_ATTR { return hn::MulAdd(value, value, sum); },
      [](double value) { return value * value; });
}

}  // namespace residuum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace residuum {

HWY_EXPORT(magnitudes_in_lanes);
HWY_EXPORT(squares_in_lanes);

double sum_of_magnitudes(std::span<const float> x) {
  return HWY_DYNAMIC_DISPATCH(magnitudes_in_lanes)(x.data(), x.size());
}

double sum_of_squares(std::span<const float> x) {
  return HWY_DYNAMIC_DISPATCH(squares_in_lanes)(x.data(), x.size());
}

}  // namespace residuum
#endif
