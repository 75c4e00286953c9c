// This header packs the lanes of a mask to the front of a vector. Highway's Compress does the same,
// but on targets without an instruction for it, GCC 12 copies Highway's table to the stack in every
// call. Here the table is static. Every file of kernels includes this header once for each target;
// its guard flips from one to the next (Highway's scheme).

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

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

/// Returns the mask as a number, the first lane lowest.
template <class D>
HWY_INLINE std::uint64_t bits_of(D d, hn::Mask<D> mask) {
  // As many bytes are read at once as were written: another size would wait for the write.
  constexpr std::size_t kBytes = (hn::MaxLanes(D()) + 7) / 8;
  using Bits = std::conditional_t<
      kBytes == 1,
      std::uint8_t,
      std::conditional_t<kBytes == 2,
                         std::uint16_t,
                         std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>>;
  std::uint8_t bytes[8] = {};  // NOLINT(modernize-avoid-c-arrays): std::array has calls of its own
  hn::StoreMaskBits(d, mask, bytes);
  Bits bits = 0;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
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
