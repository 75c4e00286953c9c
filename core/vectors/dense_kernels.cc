#include "core/vectors/kernels.h"

// SVE and RVV are disabled: vectors whose size is known only at run time cannot be kept in arrays.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // NOLINT: Highway's macro

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/vectors/dense_kernels.cc"  // NOLINT: Highway's macro
#include <hwy/foreach_target.h>                             // IWYU pragma: keep
#include <hwy/highway.h>

#include "core/vectors/simd_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace residuum::kernels::HWY_NAMESPACE {

template <class Real>
void add_squares(const Real* x, std::size_t size, Lanes& lanes) {
  Sums sums(lanes);
  const std::size_t whole = size - size % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    prefetch(x + i);
    sums.add_squares(x + i);
  }
  sums.store(lanes);
  for (std::size_t i = whole; i < size; ++i) {
    add_square(lanes, i - whole, x[i]);
  }
}

template <class Real>
void add_magnitudes(const Real* x, std::size_t size, MagnitudeLanes& lanes) {
  Sums nonzero(lanes.nonzero);
  Sums signed_sum(lanes.signed_sum);
  Sums sum(lanes.sum);
  Sums sum_sq(lanes.sum_sq);
  const auto one = hn::Set(DoubleTag(), 1.0);
  const auto zero = hn::Zero(DoubleTag());
  const std::size_t whole = size - size % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kVectors; ++j) {
      const auto value = load(x + i + j * kWidth);
      const auto magnitude = hn::Abs(value);
      nonzero.v[j] = hn::Add(nonzero.v[j], hn::IfThenElseZero(hn::Gt(magnitude, zero), one));
      signed_sum.v[j] = hn::Add(signed_sum.v[j], value);
      sum.v[j] = hn::Add(sum.v[j], magnitude);
      sum_sq.v[j] = add_square(sum_sq.v[j], value, x);
    }
  }
  nonzero.store(lanes.nonzero);
  signed_sum.store(lanes.signed_sum);
  sum.store(lanes.sum);
  sum_sq.store(lanes.sum_sq);
  for (std::size_t i = whole; i < size; ++i) {
    const auto value = static_cast<double>(x[i]);
    const double magnitude = value < 0 ? -value : value;
    lanes.nonzero.sums[i - whole] += magnitude > 0 ? 1 : 0;
    lanes.signed_sum.sums[i - whole] += value;
    lanes.sum.sums[i - whole] += magnitude;
    add_square(lanes.sum_sq, i - whole, x[i]);
  }
}

/// Returns the larger magnitudes, lane by lane; NaN is ignored.
template <class D, class Real>
HWY_INLINE hn::Vec<D> larger(D d, hn::Vec<D> largest, const Real* x) {
  const auto magnitude = hn::Abs(hn::LoadU(d, x));
  return hn::IfThenElse(hn::Gt(magnitude, largest), magnitude, largest);
}

template <class Real>
Real norm_inf(const Real* x, std::size_t size) {
  const hn::ScalableTag<Real> d;
  const hn::CappedTag<Real, 1> one;
  const std::size_t width = hn::Lanes(d);
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * width <= size; i += 2 * width) {
    prefetch(x + i);
    even = larger(d, even, x + i);
    odd = larger(d, odd, x + i + width);
  }
  auto largest = hn::Set(one, hn::GetLane(hn::MaxOfLanes(d, hn::Max(even, odd))));
  for (; i < size; ++i) {
    largest = larger(one, largest, x + i);
  }
  return hn::GetLane(largest);
}

template <class Real>
void add_to(double* sum, const Real* addend, std::size_t size) {
  const std::size_t whole = size - size % kWidth;
  for (std::size_t i = 0; i < whole; i += kWidth) {
    hn::StoreU(hn::Add(load(sum + i), load(addend + i)), DoubleTag(), sum + i);
  }
  for (std::size_t i = whole; i < size; ++i) {
    sum[i] += static_cast<double>(addend[i]);
  }
}

void add_distance(const double* x, const double* y, std::size_t size, double scale, Lanes& lanes) {
  Sums sums(lanes);
  const auto factor = hn::Set(DoubleTag(), scale);
  const std::size_t whole = size - size % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kVectors; ++j) {
      const std::size_t at = i + j * kWidth;
      const auto difference = hn::Sub(load(x + at), hn::Mul(factor, load(y + at)));
      sums.v[j] = add_square(sums.v[j], difference, x);
    }
  }
  sums.store(lanes);
  for (std::size_t i = whole; i < size; ++i) {
    add_square(lanes, i - whole, x[i] - scale * y[i]);
  }
}

void step_virtual(const double* w,
                  double* z,
                  const double* direction,
                  std::size_t size,
                  double scale,
                  VirtualStepLanes& lanes) {
  Sums before(lanes.before);
  Sums moved(lanes.step);
  Sums after(lanes.after);
  const auto factor = hn::Set(DoubleTag(), scale);
  const std::size_t whole = size - size % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kVectors; ++j) {
      const std::size_t at = i + j * kWidth;
      const auto from = load(z + at);
      const auto step = hn::Mul(factor, load(direction + at));
      const auto to = hn::Sub(from, step);
      hn::StoreU(to, DoubleTag(), z + at);
      before.v[j] = add_square(before.v[j], hn::Sub(load(w + at), from), w);
      moved.v[j] = add_square(moved.v[j], step, w);
      after.v[j] = add_square(after.v[j], hn::Sub(load(w + at), to), w);
    }
  }
  before.store(lanes.before);
  moved.store(lanes.step);
  after.store(lanes.after);
  for (std::size_t i = whole; i < size; ++i) {
    const double step = scale * direction[i];
    add_square(lanes.before, i - whole, w[i] - z[i]);
    z[i] -= step;
    add_square(lanes.step, i - whole, step);
    add_square(lanes.after, i - whole, w[i] - z[i]);
  }
}

template <class Real>
constexpr static DenseKernels<Real> kDenseTable{.add_squares = add_squares<Real>,
                                                .add_magnitudes = add_magnitudes<Real>,
                                                .norm_inf = norm_inf<Real>,
                                                .add_to = add_to<Real>};
constexpr DoubleKernels kDoubleTable{.add_distance = add_distance, .step_virtual = step_virtual};

const DenseKernels<float>* dense_float_table() { return &kDenseTable<float>; }
const DenseKernels<double>* dense_double_table() { return &kDenseTable<double>; }
const DoubleKernels* double_only_table() { return &kDoubleTable; }

}  // namespace residuum::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace residuum::kernels {

HWY_EXPORT(dense_float_table);
HWY_EXPORT(dense_double_table);
HWY_EXPORT(double_only_table);

template <>
const DenseKernels<float>& best_dense() {
  return *HWY_DYNAMIC_DISPATCH(dense_float_table)();
}
template <>
const DenseKernels<double>& best_dense() {
  return *HWY_DYNAMIC_DISPATCH(dense_double_table)();
}
const DoubleKernels& best_of_doubles() { return *HWY_DYNAMIC_DISPATCH(double_only_table)(); }

}  // namespace residuum::kernels
#endif
