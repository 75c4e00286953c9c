#include <cmath>

#include "core/quantisers/code_kernels.h"

// SVE and RVV are disabled: their vectors have no size that is known when this is compiled.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // NOLINT: Highway's macro

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/quantisers/sum_kernels.cc"  // NOLINT: Highway's macro
#include <hwy/foreach_target.h>                              // IWYU pragma: keep
#include <hwy/highway.h>

#include "core/vectors/simd_lanes-inl.h"

#ifndef RESIDUUM_TABLE_SUMS
#define RESIDUUM_TABLE_SUMS
namespace residuum {

template <class Real>
struct TableSums {
  void (*add_to_bins)(const Real* x,
                      std::size_t n,
                      const BinStarts<Real>& starts,
                      BinSums& of_bins);
  double (*squares_about)(double mean, double lifted, const Real* x, std::size_t n);
};

}  // namespace residuum
#endif

HWY_BEFORE_NAMESPACE();
namespace residuum::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace kn = kernels::HWY_NAMESPACE;

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

// Sums for the table quantiser, in eight lanes.

/// Sums of the values of each bin, in registers.
struct BinsInLanes {
  kn::Sums of[4];  // NOLINT(modernize-avoid-c-arrays): std::array has calls of its own

  HWY_INLINE explicit BinsInLanes(const BinSums& bins)
      : of{kn::Sums(bins.sums[0]),
           kn::Sums(bins.sums[1]),
           kn::Sums(bins.sums[2]),
           kn::Sums(bins.sums[3])} {}
};

/// Adds zero to the sums of other bins, which keeps them.
template <class Real>
void add_to_bins_in_lanes(const Real* x,
                          std::size_t n,
                          const BinStarts<Real>& starts,
                          BinSums& of_bins) {
  const kn::DoubleTag d;
  BinsInLanes sums(of_bins);
  const auto first = hn::Set(d, static_cast<double>(starts[0]));
  const auto second = hn::Set(d, static_cast<double>(starts[1]));
  const auto third = hn::Set(d, static_cast<double>(starts[2]));
  std::size_t reach_first = 0;
  std::size_t reach_second = 0;
  std::size_t reach_third = 0;
  const std::size_t whole = n - n % kernels::kLanes;
  for (std::size_t i = 0; i < whole; i += kernels::kLanes) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kn::kVectors; ++j) {
      const auto value = kn::load(x + i + j * kn::kWidth);
      const auto in_first = hn::Ge(value, first);
      const auto in_second = hn::Ge(value, second);
      const auto in_third = hn::Ge(value, third);
      const auto from_first = hn::IfThenElseZero(in_first, value);
      const auto from_second = hn::IfThenElseZero(in_second, value);
      sums.of[0].v[j] = hn::Add(sums.of[0].v[j], hn::IfThenZeroElse(in_first, value));
      sums.of[1].v[j] = hn::Add(sums.of[1].v[j], hn::IfThenZeroElse(in_second, from_first));
      sums.of[2].v[j] = hn::Add(sums.of[2].v[j], hn::IfThenZeroElse(in_third, from_second));
      sums.of[3].v[j] = hn::Add(sums.of[3].v[j], hn::IfThenElseZero(in_third, value));
      reach_first += hn::CountTrue(d, in_first);
      reach_second += hn::CountTrue(d, in_second);
      reach_third += hn::CountTrue(d, in_third);
    }
  }
  for (std::size_t bin = 0; bin < 4; ++bin) {
    sums.of[bin].store(of_bins.sums[bin]);
  }
  of_bins.counts[0] += whole - reach_first;
  of_bins.counts[1] += reach_first - reach_second;
  of_bins.counts[2] += reach_second - reach_third;
  of_bins.counts[3] += reach_third;
  for (std::size_t i = whole; i < n; ++i) {
    const std::size_t bin = static_cast<std::size_t>(x[i] >= starts[0]) +
                            static_cast<std::size_t>(x[i] >= starts[1]) +
                            static_cast<std::size_t>(x[i] >= starts[2]);
    of_bins.sums[bin].sums[i - whole] += static_cast<double>(x[i]);
    of_bins.counts[bin] += 1;
  }
}

/// Squares are not fused with their additions: not every target can, and bits are to be the same.
template <class Real>
double squares_about_in_lanes(double mean, double lifted, const Real* x, std::size_t n) {
  const kn::DoubleTag d;
  kernels::Lanes lanes;
  kn::Sums sums(lanes);
  const auto about = hn::Set(d, mean);
  const auto factor = hn::Set(d, lifted);
  const std::size_t whole = n - n % kernels::kLanes;
  for (std::size_t i = 0; i < whole; i += kernels::kLanes) {
    kn::prefetch(x + i);
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kn::kVectors; ++j) {
      const auto difference = hn::Sub(hn::Mul(factor, kn::load(x + i + j * kn::kWidth)), about);
      sums.v[j] = hn::Add(sums.v[j], hn::Mul(difference, difference));
    }
  }
  sums.store(lanes);
  for (std::size_t i = whole; i < n; ++i) {
    kn::add_square(lanes, i - whole, lifted * static_cast<double>(x[i]) - mean);
  }
  return lanes.total();
}

template <class Real>
constexpr static TableSums<Real> kTableSums{.add_to_bins = add_to_bins_in_lanes<Real>,
                                            .squares_about = squares_about_in_lanes<Real>};

const TableSums<float>* table_sums_of_floats() { return &kTableSums<float>; }
const TableSums<double>* table_sums_of_doubles() { return &kTableSums<double>; }

}  // namespace residuum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace residuum {

HWY_EXPORT(magnitudes_in_lanes);
HWY_EXPORT(squares_in_lanes);
HWY_EXPORT(table_sums_of_floats);
HWY_EXPORT(table_sums_of_doubles);

double sum_of_magnitudes(std::span<const float> x) {
  return HWY_DYNAMIC_DISPATCH(magnitudes_in_lanes)(x.data(), x.size());
}

double sum_of_squares(std::span<const float> x) {
  return HWY_DYNAMIC_DISPATCH(squares_in_lanes)(x.data(), x.size());
}

namespace {

template <class Real>
const TableSums<Real>& table_sums() {
  if constexpr (sizeof(Real) == sizeof(float)) {
    return *HWY_DYNAMIC_DISPATCH(table_sums_of_floats)();
  } else {
    return *HWY_DYNAMIC_DISPATCH(table_sums_of_doubles)();
  }
}

}  // namespace

template <class Real>
void add_to_bins(std::span<const Real> x, const BinStarts<Real>& starts, BinSums& of_bins) {
  table_sums<Real>().add_to_bins(x.data(), x.size(), starts, of_bins);
}

template <class Real>
double sum_of_squares_about(double mean, double lifted, std::span<const Real> x) {
  return table_sums<Real>().squares_about(mean, lifted, x.data(), x.size());
}

template void add_to_bins<float>(std::span<const float>, const BinStarts<float>&, BinSums&);
template void add_to_bins<double>(std::span<const double>, const BinStarts<double>&, BinSums&);
template double sum_of_squares_about<float>(double, double, std::span<const float>);
template double sum_of_squares_about<double>(double, double, std::span<const double>);

}  // namespace residuum
#endif
