#include "core/vectors/kernels.h"

#include <bit>
#include <cassert>

// SVE and RVV are disabled: vectors whose size is known only at run time cannot be kept in arrays.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // NOLINT: Highway's macro

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/vectors/kernels.cc"  // NOLINT: Highway's macro
#include <hwy/foreach_target.h>                       // IWYU pragma: keep
#include <hwy/highway.h>

#include "core/vectors/simd_lanes-inl.h"
#include "core/vectors/simd_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace residuum::kernels::HWY_NAMESPACE {

namespace ln = lanes::HWY_NAMESPACE;

/// A block of entries is formed, summed and compared with the bound in turn. It stays in registers
/// and the L1 cache, and its hits are the bits of one number.
constexpr std::size_t kBlock = 64;

/// Appends first + i for each bit i. Most blocks have two hits at most, and these take no branch:
/// where hits are few, a branch would be mispredicted at most of them.
HWY_INLINE std::uint32_t* append_hits(std::uint64_t bits,
                                      std::uint32_t first,
                                      std::uint32_t* hits) {
  constexpr int kUsual = 2;
  static_assert(kUsual <= kHitsSlack);
  const int count = std::popcount(bits);
  const auto append = [&](int i) {
    hits[i] = first + static_cast<std::uint32_t>(std::countr_zero(bits));
    bits &= bits - 1;
  };
  for (int i = 0; i < kUsual; ++i) {
    append(i);
  }
  for (int i = kUsual; HWY_UNLIKELY(i < count); ++i) {
    append(i);
  }
  return hits + count;
}

/// Returns as bits which of these entries, up to 64 in whole vectors, reach the bound. NaN does
/// not.
template <class D, class Real>
HWY_INLINE std::uint64_t reaching(D d, const Real* x, std::size_t size, hn::Vec<D> bound) {
  std::uint64_t bits = 0;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < size; i += hn::MaxLanes(d)) {
    prefetch(x + i);
    bits |= ln::bits_of(d, hn::Ge(hn::Abs(hn::LoadU(d, x + i)), bound)) << i;
  }
  return bits;
}

template <class Real>
std::uint32_t* collect(const Real* x, std::size_t size, const Watch<Real>& watch) {
  const hn::ScalableTag<Real> d;
  const hn::CappedTag<Real, 1> one;
  const auto bound = hn::Set(d, watch.bound);
  std::uint32_t* hits = watch.hits;
  const auto append = [&](std::uint64_t bits, std::size_t i) HWY_ATTR {
    hits = append_hits(bits, watch.first + static_cast<std::uint32_t>(i), hits);
  };
  std::size_t i = 0;
  for (; i + kBlock <= size; i += kBlock) {
    append(reaching(d, x + i, kBlock, bound), i);
  }
  const std::size_t whole = (size - i) - (size - i) % hn::MaxLanes(d);
  append(reaching(d, x + i, whole, bound), i);
  i += whole;
  append(reaching(one, x + i, size - i, hn::Set(one, watch.bound)), i);
  return hits;
}

/// Returns how many magnitudes reach the bound.
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

/// Forms m + scale g.
template <class Real>
struct AddScaled {
  Real scale;

  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> m, hn::Vec<D> g, std::size_t /*i*/) const {
    return hn::Add(m, hn::Mul(hn::Set(d, scale), g));
  }
};

/// Forms g - estimate.
template <class Real>
struct Subtract {
  const Real* estimate;

  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> /*m*/, hn::Vec<D> g, std::size_t i) const {
    return hn::Sub(g, hn::LoadU(d, estimate + i));
  }
};

/// Computes memory := form(memory, gradient), with its sums and hits, in one pass.
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
      pass<kLine<Real>>(i, kBlock, residual, gradient, accumulator);
    }
    const std::size_t groups = (size - i) / kLanes * kLanes;
    pass<kLanes>(i, groups, residual, gradient, accumulator);
    residual.store(lanes.residual);
    gradient.store(lanes.gradient);
    accumulator.store(lanes.accumulator);
    finish(i + groups, size, lanes);
    return hits_;
  }

 private:
  /// Vectors have a group of eight entries at most. A wider one would be written whole and read as
  /// two groups, and on some processors a read waits for a write of another size.
  using Tag = hn::CappedTag<Real, kLanes>;

  /// Handles `count` entries from i on, kStep at a time: whole groups of eight.
  template <std::size_t kStep>
  HWY_INLINE void pass(std::size_t i,
                       std::size_t count,
                       Sums& residual,  // NOLINT(bugprone-easily-swappable-parameters)
                       Sums& gradient,
                       Sums& accumulator) {
    // Local copies tell the compiler that a write to the memory does not change the members.
    Real* const memory = memory_ + i;
    const Real* const gradients = gradient_ + i;
    const Form form = form_;
    const Tag d;
    const auto bound = hn::Set(d, watch_.bound);
    std::uint64_t hits = 0;
    for (std::size_t j = 0; j < count; j += kStep) {
      prefetch<Use::write>(memory + j);
      prefetch(gradients + j);
#pragma GCC unroll 8
      for (std::size_t group = j; group < j + kStep; group += kLanes) {
        residual.add_squares(memory + group);
        gradient.add_squares(gradients + group);
      }
#pragma GCC unroll 8
      for (std::size_t at = j; at < j + kStep; at += hn::MaxLanes(Tag())) {
        const auto a = form(d, hn::LoadU(d, memory + at), hn::LoadU(d, gradients + at), i + at);
        hn::StoreU(a, d, memory + at);
        hits |= ln::bits_of(d, hn::Ge(hn::Abs(a), bound)) << at;
      }
#pragma GCC unroll 8
      for (std::size_t group = j; group < j + kStep; group += kLanes) {
        accumulator.add_squares(memory + group);
      }
    }
    append(hits, i);
  }

  /// Handles the entries after the last whole group.
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
    append(reaching(one, memory_ + i, size - i, hn::Set(one, watch_.bound)), i);
  }

  HWY_INLINE void append(std::uint64_t hits, std::size_t i) {
    hits_ = append_hits(hits, watch_.first + static_cast<std::uint32_t>(i), hits_);
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
constexpr static Kernels<Real> kTable{.accumulate = accumulate<Real>,
                                      .subtract = subtract<Real>,
                                      .collect = collect<Real>,
                                      .count = count<Real>};

const Kernels<float>* float_table() { return &kTable<float>; }
const Kernels<double>* double_table() { return &kTable<double>; }
const char* name_of_target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace residuum::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace residuum::kernels {

HWY_EXPORT(float_table);
HWY_EXPORT(double_table);
HWY_EXPORT(name_of_target);

template <>
const Kernels<float>& best() {
  return *HWY_DYNAMIC_DISPATCH(float_table)();
}
template <>
const Kernels<double>& best() {
  return *HWY_DYNAMIC_DISPATCH(double_table)();
}
const char* target_name() { return HWY_DYNAMIC_DISPATCH(name_of_target)(); }

std::vector<std::string> target_names() {
  hwy::DisableTargets(0);
  std::vector<std::string> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    names.emplace_back(hwy::TargetName(target));
  }
  return names;
}

void use_target(const std::string& name) {
  hwy::DisableTargets(0);
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (name == hwy::TargetName(target)) {
      hwy::DisableTargets(~target);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      return;
    }
  }
  assert(false);
}

}  // namespace residuum::kernels
#endif
