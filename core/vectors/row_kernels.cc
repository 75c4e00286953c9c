#include "core/vectors/row_kernels.h"

#include <algorithm>
#include <array>

// SVE and RVV are disabled: vectors whose size is known only at run time cannot be kept in arrays.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // NOLINT: Highway's macro

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/vectors/row_kernels.cc"  // NOLINT: Highway's macro
#include <hwy/foreach_target.h>                           // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace residuum::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kSums = 16;
constexpr std::size_t kRows = RowKernels<float>::kTogether;

template <class Real>
Real row_dot(const Real* x, const Real* w, std::size_t size) {
  const hn::CappedTag<Real, kSums> d;
  constexpr std::size_t kWidth = hn::MaxLanes(hn::CappedTag<Real, kSums>());
  constexpr std::size_t kVectors = kSums / kWidth;
  hn::Vec<decltype(d)> vectors[kVectors];  // NOLINT(modernize-avoid-c-arrays): of vectors
#pragma GCC unroll 16
  for (auto& vector : vectors) {
    vector = hn::Zero(d);
  }
  std::size_t j = 0;
  for (; j + kSums <= size; j += kSums) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto product =
          hn::Mul(hn::LoadU(d, x + j + v * kWidth), hn::LoadU(d, w + j + v * kWidth));
      vectors[v] = hn::Add(vectors[v], product);
    }
  }
  Real sum = 0;
  for (; j < size; ++j) {
    sum += x[j] * w[j];
  }
  std::array<Real, kSums> sums{};
#pragma GCC unroll 16
  for (std::size_t v = 0; v < kVectors; ++v) {
    hn::StoreU(vectors[v], d, sums.data() + v * kWidth);
  }
  for (const Real partial : sums) {
    sum += partial;
  }
  return sum;
}

/// sum += scales_r x_r
template <std::size_t rows, class Real>
HWY_INLINE void add_all(const Real* scales, const Real* const* x, std::size_t size, Real* sum) {
  const hn::CappedTag<Real, kSums> d;
  constexpr std::size_t kWidth = hn::MaxLanes(hn::CappedTag<Real, kSums>());
  std::size_t j = 0;
  for (; j + kWidth <= size; j += kWidth) {
    auto of_sum = hn::LoadU(d, sum + j);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < rows; ++r) {
      of_sum = hn::Add(of_sum, hn::Mul(hn::Set(d, scales[r]), hn::LoadU(d, x[r] + j)));
    }
    hn::StoreU(of_sum, d, sum + j);
  }
  for (; j < size; ++j) {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < rows; ++r) {
      sum[j] += scales[r] * x[r][j];
    }
  }
}

template <class Real>
void add_row(Real scale, const Real* x, std::size_t size, Real* sum) {
  add_all<1>(&scale, &x, size, sum);
}

template <class Real>
void add_four(const Real* scales, const Real* const* x, std::size_t size, Real* sum) {
  // Copies: for all the compiler knows, the sum lies where they do.
  std::array<Real, kRows> own_scales;       // NOLINT(*-member-init): written next
  std::array<const Real*, kRows> own_rows;  // NOLINT(*-member-init): written next
  std::copy_n(scales, kRows, own_scales.begin());
  std::copy_n(x, kRows, own_rows.begin());
  add_all<kRows>(own_scales.data(), own_rows.data(), size, sum);
}

template <class Real>
constexpr static RowKernels<Real> kRowTable{
    .dot = row_dot<Real>, .add = add_row<Real>, .add_rows = add_four<Real>};

const RowKernels<float>* float_rows() { return &kRowTable<float>; }
const RowKernels<double>* double_rows() { return &kRowTable<double>; }

}  // namespace residuum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace residuum {

HWY_EXPORT(float_rows);
HWY_EXPORT(double_rows);

template <>
const RowKernels<float>& row_kernels() {
  return *HWY_DYNAMIC_DISPATCH(float_rows)();
}
template <>
const RowKernels<double>& row_kernels() {
  return *HWY_DYNAMIC_DISPATCH(double_rows)();
}

}  // namespace residuum
#endif
