// This header packs the lanes of a mask to the front of a vector. Highway's Compress does the same,
// but on targets without an instruction for it, GCC 12 copies Highway's table to the stack in every
// call. Here the table is static. Every file of kernels includes this header once for each target;
// its guard flips from one to the next (Highway's scheme).

#include "core/vectors/lane_tables.h"

#if defined(RESIDUUM_SIMD_PACK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RESIDUUM_SIMD_PACK_INL
#undef RESIDUUM_SIMD_PACK_INL
#else
#define RESIDUUM_SIMD_PACK_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace residuum::lanes::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// True for targets that pack by one instruction: AVX-512 in all its forms.
constexpr bool kHasCompress = HWY_TARGET <= HWY_AVX3;

/// True for targets that have no way to move lanes about: plain loops are faster there.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || \
    (defined(HWY_SSE2) && HWY_TARGET == HWY_SSE2)
constexpr bool kIsPlain = true;
#else
constexpr bool kIsPlain = false;
#endif

/// Returns the mask as a number, the first lane lowest. There are at most eight lanes.
template <class D>
HWY_INLINE std::size_t bits_of(D d, hn::Mask<D> mask) {
  static_assert(hn::MaxLanes(D()) <= 8);
  std::uint8_t bits[8] = {};  // NOLINT(modernize-avoid-c-arrays): std::array has calls of its own
  hn::StoreMaskBits(d, mask, bits);
  return bits[0];
}

/// Returns the numbers of the lanes in `bits`, followed by those of the others, as uint32 lanes.
template <class NarrowTag>
HWY_INLINE hn::Vec<NarrowTag> lanes_first(NarrowTag narrow, std::size_t bits) {
  const hn::Rebind<std::uint8_t, NarrowTag> bytes;
  return hn::PromoteTo(narrow, hn::LoadU(bytes, kLanesFirst[bits].data()));
}

/// Returns the vector with the lanes in `bits` first, in order. D has unsigned lanes of 4 or 8
/// bytes, in a vector of 16 or 32 bytes.
template <class D>
HWY_INLINE hn::Vec<D> packed(D d, hn::Vec<D> v, std::size_t bits) {
  constexpr std::size_t kLaneBytes = sizeof(hn::TFromD<D>);
  if constexpr (hn::MaxLanes(D()) * kLaneBytes == 16) {
    const hn::Repartition<std::uint8_t, D> bytes;
    const auto& row = kBytesFirst<kLaneBytes>[bits];
    return hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(bytes, v), hn::Load(bytes, row.data())));
  } else if constexpr (kLaneBytes == 4) {
    return hn::TableLookupLanes(v, hn::IndicesFromVec(d, lanes_first(d, bits)));
  } else {
    const hn::Rebind<std::uint32_t, D> narrow;
    return hn::TableLookupLanes(v,
                                hn::IndicesFromVec(d, hn::PromoteTo(d, lanes_first(narrow, bits))));
  }
}

}  // namespace residuum::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
