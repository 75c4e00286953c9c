#include "core/vectors/list_kernels.h"

// SVE and RVV are disabled: vectors whose size is known only at run time may be longer than the
// slack.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // NOLINT: Highway's macro

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/vectors/list_kernels.cc"  // NOLINT: Highway's macro
#include <hwy/foreach_target.h>                            // IWYU pragma: keep
#include <hwy/highway.h>

#include "core/vectors/simd_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace residuum::list_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace ln = lanes::HWY_NAMESPACE;

template <class Real>
using BitsTag = hn::CappedTag<Bits<Real>, kSlack>;
template <class Real>
using BitsVector = hn::Vec<BitsTag<Real>>;

/// Loads indices into lanes as wide as the values', so that one mask serves both.
template <class Real>
HWY_INLINE BitsVector<Real> load_indices(const std::uint32_t* indices) {
  if constexpr (sizeof(Real) == 4) {
    return hn::LoadU(BitsTag<Real>(), indices);
  } else {
    const hn::Rebind<std::uint32_t, BitsTag<Real>> narrow;
    return hn::PromoteTo(BitsTag<Real>(), hn::LoadU(narrow, indices));
  }
}

template <class Real>
HWY_INLINE void store_indices(BitsVector<Real> v, std::uint32_t* indices) {
  if constexpr (sizeof(Real) == 4) {
    hn::StoreU(v, BitsTag<Real>(), indices);
  } else {
    const hn::Rebind<std::uint32_t, BitsTag<Real>> narrow;
    hn::StoreU(hn::TruncateTo(narrow, v), narrow, indices);
  }
}

template <class Real>
HWY_INLINE BitsVector<Real> load_values(const Real* values) {
  return hn::BitCast(BitsTag<Real>(), hn::LoadU(hn::RebindToFloat<BitsTag<Real>>(), values));
}

/// A packing moves the lanes of one mask to the front of vectors.
template <class Real>
class Packing {
 public:
  using Mask = hn::Mask<BitsTag<Real>>;

  HWY_INLINE explicit Packing(Mask mask) : mask_(mask) {
    if constexpr (!ln::kHasCompress) {
      bits_ = ln::bits_of(BitsTag<Real>(), mask);
    }
  }

  HWY_INLINE std::size_t count() const {
    if constexpr (ln::kHasCompress) {
      return hn::CountTrue(BitsTag<Real>(), mask_);
    } else {
      return static_cast<std::size_t>(std::popcount(bits_));
    }
  }

  HWY_INLINE BitsVector<Real> of(BitsVector<Real> v) const {
    if constexpr (ln::kHasCompress) {
      return hn::Compress(v, mask_);
    } else {
      return ln::packed(BitsTag<Real>(), v, bits_);
    }
  }

 private:
  Mask mask_;
  std::size_t bits_ = 0;
};

/// Appends the lanes of the mask, packed, after the first `end` entries.
template <class Real, class Mask>
HWY_INLINE std::size_t append(BitsVector<Real> indices,
                              BitsVector<Real> values,
                              Mask mask,
                              const Target<Real>& target,
                              std::size_t end) {
  const hn::RebindToFloat<BitsTag<Real>> floats;
  const Packing<Real> packing(mask);
  store_indices<Real>(packing.of(indices), target.indices + end);
  hn::StoreU(hn::BitCast(floats, packing.of(values)), floats, target.values + end);
  return end + packing.count();
}

template <class Real>
HWY_INLINE void append_one(const Source<Real>& from,
                           std::size_t i,
                           const Target<Real>& target,
                           std::size_t end) {
  target.indices[end] = from.indices[i];
  target.values[end] = from.values[i];
}

template <class Real>
std::size_t keep_within(Bits<Real>* magnitudes,
                        std::size_t size,
                        Bits<Real> first,
                        Bits<Real> width) {
  const BitsTag<Real> tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto firsts = hn::Set(tag, first);
  const auto widths = hn::Set(tag, width);
  std::size_t kept = 0;
  std::size_t i = 0;
  for (; !ln::kIsPlain && i + lanes <= size; i += lanes) {
    const auto x = hn::LoadU(tag, magnitudes + i);
    const auto mask = hn::Lt(hn::Sub(x, firsts), widths);
    const Packing<Real> packing(mask);
    hn::StoreU(packing.of(x), tag, magnitudes + kept);  // writes no further than was read
    kept += packing.count();
  }
  for (; i < size; ++i) {
    const Bits<Real> x = magnitudes[i];
    magnitudes[kept] = x;
    kept += x - first < width ? 1U : 0U;
  }
  return kept;
}

template <class Real>
std::size_t divide(const Source<Real>& from,
                   Bits<Real> bound,
                   const Target<Real>& reaching,
                   const Target<Real>& below) {
  const BitsTag<Real> tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto bounds = hn::Set(tag, bound);
  const auto no_sign = hn::Set(tag, std::numeric_limits<Bits<Real>>::max() >> 1);
  std::size_t reached = 0;
  std::size_t i = 0;
  for (; !ln::kIsPlain && i + lanes <= from.size; i += lanes) {
    const auto indices = load_indices<Real>(from.indices + i);
    const auto values = load_values(from.values + i);
    const auto mask = hn::Lt(hn::And(values, no_sign), bounds);
    append<Real>(indices, values, mask, below, i - reached);
    reached = append<Real>(indices, values, hn::Not(mask), reaching, reached);
  }
  for (; i < from.size; ++i) {
    append_one(from, i, below, i - reached);
    append_one(from, i, reaching, reached);
    reached += magnitude(from.values[i]) >= bound ? 1U : 0U;
  }
  return reached;
}

template <class Real>
std::size_t keep_marked(const Source<Real>& from,
                        const Marks<Real>& marks,
                        const Target<Real>& marked) {
  constexpr int kWordBits = 8 * sizeof(Bits<Real>);
  constexpr int kWordShift = std::bit_width(static_cast<unsigned>(kWordBits)) - 1;
  const BitsTag<Real> tag;
  const hn::RebindToSigned<BitsTag<Real>> signed_tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto firsts = hn::Set(tag, marks.first);
  const auto in_word = hn::Set(tag, kWordBits - 1);
  const auto one = hn::Set(tag, 1);
  std::size_t kept = 0;
  std::size_t i = 0;
  for (; !ln::kIsPlain && i + lanes <= from.size; i += lanes) {
    const auto indices = load_indices<Real>(from.indices + i);
    const auto at = hn::Sub(indices, firsts);
    const auto place = hn::BitCast(signed_tag, hn::ShiftRight<kWordShift>(at));
    const auto word = hn::GatherIndex(tag, marks.words, place);
    const auto bit = hn::And(hn::Shr(word, hn::And(at, in_word)), one);
    const auto mask = hn::Eq(bit, one);
    kept = append<Real>(indices, load_values(from.values + i), mask, marked, kept);
  }
  for (; i < from.size; ++i) {
    const std::uint32_t at = from.indices[i] - marks.first;
    append_one(from, i, marked, kept);
    kept += (marks.words[at >> kWordShift] >> (at % kWordBits)) & 1U;
  }
  return kept;
}

template <class Real>
constexpr static Kernels<Real> kTable{
    .keep_within = keep_within<Real>, .divide = divide<Real>, .keep_marked = keep_marked<Real>};

const Kernels<float>* float_table() { return &kTable<float>; }
const Kernels<double>* double_table() { return &kTable<double>; }

}  // namespace residuum::list_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace residuum::list_kernels {

HWY_EXPORT(float_table);
HWY_EXPORT(double_table);

template <>
const Kernels<float>& best() {
  return *HWY_DYNAMIC_DISPATCH(float_table)();
}
template <>
const Kernels<double>& best() {
  return *HWY_DYNAMIC_DISPATCH(double_table)();
}

}  // namespace residuum::list_kernels
#endif
