#include "core/vectors/kernels.h"

// Vectors whose size only the machine knows (SVE, RVV) cannot be kept in arrays.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // NOLINT: Highway's macro

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/vectors/kernels.cc"  // NOLINT: Highway's macro
#include "hwy/foreach_target.h"                       // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace residuum::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Lanes of sums: all eight in one vector, or in several of them.
using DoubleTag = hn::CappedTag<double, kLanes>;
using DoubleVector = hn::Vec<DoubleTag>;
constexpr std::size_t kWidth = hn::MaxLanes(DoubleTag());
constexpr std::size_t kVectors = kLanes / kWidth;

/// As many entries are formed, summed and looked at in turn: they stay in registers and the first
/// cache, and the look at them costs one branch.
constexpr std::size_t kBlock = 64;

/// Asks for what a stream will read soon. The processor's own looking ahead stops at the ends of
/// pages, and long loops keep it from seeing far: without this a pass waits a third of its time.
/// (hwy::Prefetch is dropped by GCC 12, as a call without effect.)
enum class Use { read, write };
template <Use kUse = Use::read, class Real>
HWY_INLINE void prefetch(const Real* x) {
  constexpr std::size_t kBytesAhead = 2048;
  __builtin_prefetch(x + kBytesAhead / sizeof(Real), kUse == Use::write ? 1 : 0);
}

/// Entries of a cache line; whole groups of eight.
template <class Real>
constexpr std::size_t kLine = 64 / sizeof(Real);

HWY_INLINE DoubleVector load(const double* x) { return hn::LoadU(DoubleTag(), x); }
HWY_INLINE DoubleVector load(const float* x) {
  return hn::PromoteTo(DoubleTag(), hn::LoadU(hn::Rebind<float, DoubleTag>(), x));
}

/// s + x^2. The square of a float is exact in double, so that one rounding is as good as two.
HWY_INLINE DoubleVector add_square(DoubleVector s, DoubleVector x, const float* /*from*/) {
  return hn::MulAdd(x, x, s);
}
HWY_INLINE DoubleVector add_square(DoubleVector s, DoubleVector x, const double* /*from*/) {
  return hn::Add(s, hn::Mul(x, x));
}

/// Lanes in registers.
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

  /// += x_i^2 over eight entries.
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

/// Writes the indices of the lanes that `mask` has.
template <class D, class Mask>
HWY_INLINE std::uint32_t* append(D d, Mask mask, std::uint32_t first, std::uint32_t* hits) {
#if HWY_TARGET == HWY_AVX3
  const hn::RebindToUnsigned<D> indices;
  const auto packed = hn::Compress(hn::Iota(indices, first), hn::RebindMask(indices, mask));
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(std::uint32_t)) {
    hn::StoreU(packed, indices, hits);
  } else {
    const hn::Rebind<std::uint32_t, D> narrow;
    hn::StoreU(hn::TruncateTo(narrow, packed), narrow, hits);
  }
  return hits + hn::CountTrue(d, mask);
#else
  // Elsewhere Compress looks up a table that GCC 12 builds anew at every call.
  if (hn::AllFalse(d, mask)) {
    return hits;
  }
  std::uint8_t bits[8] = {};  // NOLINT(modernize-avoid-c-arrays): std::array has calls of its own
  hn::StoreMaskBits(d, mask, bits);
  for (std::uint32_t lane = 0; lane < hn::MaxLanes(D()); ++lane) {
    *hits = first + lane;
    hits += (bits[lane / 8] >> (lane % 8)) & 1U;
  }
  return hits;
#endif
}

/// The entries x_i, begin <= i < end, whose magnitude reaches the bound; whole vectors of them.
template <class D, class Real>
HWY_INLINE std::uint32_t* append_reaching(D d,
                                          const Real* x,
                                          std::size_t begin,
                                          std::size_t end,
                                          const Watch<Real>& watch,
                                          std::uint32_t* hits) {
  const auto bound = hn::Set(d, watch.bound);
  for (std::size_t i = begin; i < end; i += hn::Lanes(d)) {
    const auto mask = hn::Ge(hn::Abs(hn::LoadU(d, x + i)), bound);
    hits = append(d, mask, watch.first + static_cast<std::uint32_t>(i), hits);
  }
  return hits;
}

/// True if one of these entries reaches the bound.
template <class D, class Real>
HWY_INLINE bool any_reaches(D d, const Real* x, std::size_t size, Real least) {
  const auto bound = hn::Set(d, least);
  auto any = hn::FirstN(d, 0);
  for (std::size_t i = 0; i < size; i += hn::Lanes(d)) {
    prefetch(x + i);
    any = hn::Or(any, hn::Ge(hn::Abs(hn::LoadU(d, x + i)), bound));
  }
  return !hn::AllFalse(d, any);
}

template <class Real>
std::uint32_t* collect(const Real* x, std::size_t size, const Watch<Real>& watch) {
  const hn::ScalableTag<Real> d;
  const hn::CappedTag<Real, 1> one;
  std::uint32_t* hits = watch.hits;
  std::size_t i = 0;
  for (; i + kBlock <= size; i += kBlock) {
    if (any_reaches(d, x + i, kBlock, watch.bound)) {
      hits = append_reaching(d, x, i, i + kBlock, watch, hits);
    }
  }
  const std::size_t whole = size - size % hn::Lanes(d);
  hits = append_reaching(d, x, i, whole, watch, hits);
  return append_reaching(one, x, whole, size, watch, hits);
}

/// How many magnitudes reach the bound.
template <class Real>
std::size_t count(const Real* x, std::size_t size, Real bound) {
  const hn::ScalableTag<Real> d;
  const hn::CappedTag<Real, 1> one;
  const std::size_t whole = size - size % hn::Lanes(d);
  std::size_t reached = 0;
  for (std::size_t i = 0; i < whole; i += hn::Lanes(d)) {
    prefetch(x + i);
    reached += hn::CountTrue(d, hn::Ge(hn::Abs(hn::LoadU(d, x + i)), hn::Set(d, bound)));
  }
  for (std::size_t i = whole; i < size; ++i) {
    reached += hn::CountTrue(one, hn::Ge(hn::Abs(hn::LoadU(one, x + i)), hn::Set(one, bound)));
  }
  return reached;
}

/// m + scale g.
template <class Real>
struct AddScaled {
  Real scale;

  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> m, hn::Vec<D> g, std::size_t /*i*/) const {
    return hn::Add(m, hn::Mul(hn::Set(d, scale), g));
  }
};

/// g - estimate.
template <class Real>
struct Subtract {
  const Real* estimate;

  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> /*m*/, hn::Vec<D> g, std::size_t i) const {
    return hn::Sub(g, hn::LoadU(d, estimate + i));
  }
};

/// memory := form(memory, gradient), with the sums and the hits on the way.
template <class Real, class Form>
class PassOver {
 public:
  PassOver(Real* memory, const Real* gradient, Form form, const Watch<Real>& watch)
      : memory_(memory), gradient_(gradient), form_(form), watch_(watch), hits_(watch.hits) {}

  std::uint32_t* run(std::size_t size, PassLanes& lanes) {
    Sums residual(lanes.residual);
    Sums gradient(lanes.gradient);
    Sums accumulator(lanes.accumulator);
    std::size_t i = 0;
    for (; i + kBlock <= size; i += kBlock) {
      pass<kLine<Real>>(hn::ScalableTag<Real>(), i, kBlock, residual, gradient, accumulator);
    }
    const std::size_t groups = (size - i) / kLanes * kLanes;
    pass<kLanes>(hn::CappedTag<Real, kLanes>(), i, groups, residual, gradient, accumulator);
    residual.store(lanes.residual);
    gradient.store(lanes.gradient);
    accumulator.store(lanes.accumulator);
    finish(i + groups, size, lanes);
    return hits_;
  }

 private:
  /// `count` entries from i, kStep at a time: whole groups of eight and whole vectors.
  template <std::size_t kStep, class D>
  HWY_INLINE void pass(
      D d, std::size_t i, std::size_t count, Sums& residual, Sums& gradient, Sums& accumulator) {
    const auto bound = hn::Set(d, watch_.bound);
    auto any = hn::FirstN(d, 0);
    for (std::size_t j = i; j < i + count; j += kStep) {
      prefetch<Use::write>(memory_ + j);
      prefetch(gradient_ + j);
#pragma GCC unroll 8
      for (std::size_t group = j; group < j + kStep; group += kLanes) {
        residual.add_squares(memory_ + group);
        gradient.add_squares(gradient_ + group);
      }
#pragma GCC unroll 8
      for (std::size_t at = j; at < j + kStep; at += hn::MaxLanes(D())) {
        const auto a = form_(d, hn::LoadU(d, memory_ + at), hn::LoadU(d, gradient_ + at), at);
        hn::StoreU(a, d, memory_ + at);
        any = hn::Or(any, hn::Ge(hn::Abs(a), bound));
      }
#pragma GCC unroll 8
      for (std::size_t group = j; group < j + kStep; group += kLanes) {
        accumulator.add_squares(memory_ + group);
      }
    }
    if (!hn::AllFalse(d, any)) {
      hits_ = append_reaching(d, memory_, i, i + count, watch_, hits_);
    }
  }

  /// The entries after the last whole group.
  HWY_INLINE void finish(std::size_t i, std::size_t size, PassLanes& lanes) {
    const hn::CappedTag<Real, 1> one;
    for (std::size_t j = i; j < size; ++j) {
      add_square(lanes.residual, j - i, memory_[j]);
      add_square(lanes.gradient, j - i, gradient_[j]);
    }
    for (std::size_t j = i; j < size; ++j) {
      const auto a = form_(one, hn::LoadU(one, memory_ + j), hn::LoadU(one, gradient_ + j), j);
      hn::StoreU(a, one, memory_ + j);
    }
    for (std::size_t j = i; j < size; ++j) {
      add_square(lanes.accumulator, j - i, memory_[j]);
    }
    hits_ = append_reaching(one, memory_, i, size, watch_, hits_);
  }

  Real* memory_;
  const Real* gradient_;
  Form form_;
  Watch<Real> watch_;
  std::uint32_t* hits_;
};

template <class Real>
std::uint32_t* accumulate(Real* memory,
                          const Real* gradient,
                          std::size_t size,
                          Real scale,
                          const Watch<Real>& watch,
                          PassLanes& lanes) {
  return PassOver(memory, gradient, AddScaled<Real>{scale}, watch).run(size, lanes);
}

template <class Real>
std::uint32_t* subtract(Real* memory,
                        const Real* gradient,
                        std::size_t size,
                        const Real* estimate,
                        const Watch<Real>& watch,
                        PassLanes& lanes) {
  return PassOver(memory, gradient, Subtract<Real>{estimate}, watch).run(size, lanes);
}

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

/// NaN is passed over.
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
constexpr Kernels<Real> kTable{.accumulate = accumulate<Real>,
                               .subtract = subtract<Real>,
                               .collect = collect<Real>,
                               .count = count<Real>,
                               .add_squares = add_squares<Real>,
                               .add_magnitudes = add_magnitudes<Real>,
                               .norm_inf = norm_inf<Real>,
                               .add_to = add_to<Real>};
constexpr DoubleKernels kDoubleTable{.add_distance = add_distance, .step_virtual = step_virtual};

const Kernels<float>* float_table() { return &kTable<float>; }
const Kernels<double>* double_table() { return &kTable<double>; }
const DoubleKernels* double_only_table() { return &kDoubleTable; }
const char* name_of_target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace residuum::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace residuum::kernels {

HWY_EXPORT(float_table);
HWY_EXPORT(double_table);
HWY_EXPORT(double_only_table);
HWY_EXPORT(name_of_target);

template <>
const Kernels<float>& best() {
  return *HWY_DYNAMIC_DISPATCH(float_table)();
}
template <>
const Kernels<double>& best() {
  return *HWY_DYNAMIC_DISPATCH(double_table)();
}
const DoubleKernels& best_of_doubles() { return *HWY_DYNAMIC_DISPATCH(double_only_table)(); }
const char* target_name() { return HWY_DYNAMIC_DISPATCH(name_of_target)(); }

}  // namespace residuum::kernels
#endif
