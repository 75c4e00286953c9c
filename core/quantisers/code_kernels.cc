#include "core/quantisers/code_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/quantisers/rounding.h"

// SVE and RVV are disabled: their vectors have no size that is known when this is compiled.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // NOLINT: Highway's macro

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/quantisers/code_kernels.cc"  // NOLINT: Highway's macro
#include <hwy/foreach_target.h>                               // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace residuum::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using SignedTag = hn::RebindToSigned<FloatTag>;
using UnsignedTag = hn::RebindToUnsigned<FloatTag>;
using ByteTag = hn::Rebind<std::uint8_t, FloatTag>;
constexpr std::size_t kFloats = hn::MaxLanes(FloatTag());
constexpr int kMantissaBits = 23;
constexpr std::int32_t kLargestFloat = 0x7F7FFFFF;  // its bits

template <class Vector>
HWY_INLINE void store_codes(Vector codes, std::uint8_t* target) {
  hn::StoreU(hn::DemoteTo(ByteTag(), hn::BitCast(SignedTag(), codes)), ByteTag(), target);
}
HWY_INLINE hn::Vec<SignedTag> load_codes(const std::uint8_t* codes) {
  return hn::PromoteTo(SignedTag(), hn::LoadU(ByteTag(), codes));
}

/// Returns 1 in lanes that are below zero.
HWY_INLINE hn::Vec<SignedTag> is_negative(hn::Vec<FloatTag> x) {
  return hn::IfThenElseZero(hn::RebindMask(SignedTag(), hn::Lt(x, hn::Zero(FloatTag()))),
                            hn::Set(SignedTag(), 1));
}

std::size_t most_negatives(const float* x, std::size_t n, std::uint8_t* codes) {
  std::size_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    store_codes(is_negative(hn::LoadU(FloatTag(), x + i)), codes + i);
  }
  return i;
}

/// Appends first + lane to `ties` for each lane of the mask.
HWY_INLINE std::uint16_t* note_ties(hn::Mask<SignedTag> lanes,
                                    std::size_t first,
                                    std::uint16_t* ties) {
  const SignedTag whole;
  if (HWY_LIKELY(hn::AllFalse(whole, lanes))) {
    return ties;
  }
  static_assert(kFloats <= 64);
  std::array<std::uint8_t, 8> mask{};
  hn::StoreMaskBits(whole, lanes, mask.data());
  auto bits = std::bit_cast<std::uint64_t>(mask);
  for (; bits != 0; bits &= bits - 1) {
    *ties++ = static_cast<std::uint16_t>(first + static_cast<std::size_t>(std::countr_zero(bits)));
  }
  return ties;
}

std::size_t most_levels(const float* x,
                        const std::uint8_t* bytes,
                        std::size_t n,
                        const LevelFactors& factors,
                        std::uint32_t top,
                        std::uint8_t* codes,
                        std::uint16_t*& ties) {
  const FloatTag d;
  const SignedTag whole;
  const auto first = hn::Set(d, factors.first);
  const auto second = hn::Set(d, factors.second * 256.0F);  // levels in units of a byte's step
  const auto low_byte = hn::Set(whole, 255);
  const auto one = hn::Set(whole, 1);
  const auto most = hn::Set(whole, static_cast<std::int32_t>(top));
  std::size_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    const auto value = hn::LoadU(d, x + i);
    const auto steps = hn::ConvertTo(whole, hn::Mul(hn::Mul(hn::Abs(value), first), second));
    const auto first_byte = hn::And(steps, low_byte);
    const auto byte = load_codes(bytes + i);
    const auto up = hn::IfThenElseZero(hn::Lt(byte, first_byte), one);
    const auto level = hn::Min(hn::Add(hn::ShiftRight<8>(steps), up), most);
    const auto sign = hn::BitCast(whole, hn::ShiftRight<31>(hn::BitCast(UnsignedTag(), value)));
    const auto code = hn::Or(hn::ShiftLeft<1>(level), sign);
    store_codes(hn::IfThenElseZero(hn::Gt(level, hn::Zero(whole)), code), codes + i);
    ties = note_ties(hn::Eq(byte, first_byte), i, ties);
  }
  return i;
}

std::size_t most_natural_codes(const float* x,
                               const std::uint8_t* bytes,
                               std::size_t n,
                               std::uint8_t* exponents,
                               std::uint8_t* negatives,
                               std::uint16_t*& ties) {
  const SignedTag whole;
  const auto one = hn::Set(whole, 1);
  const auto low_byte = hn::Set(whole, 255);
  std::size_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    const auto value = hn::LoadU(FloatTag(), x + i);
    const auto bits = hn::BitCast(whole, hn::Abs(value));
    const auto first_byte = hn::And(hn::ShiftRight<kMantissaBits - 8>(bits), low_byte);
    const auto byte = load_codes(bytes + i);
    const auto up = hn::IfThenElseZero(hn::Lt(byte, first_byte), one);
    const auto exponent = hn::Add(hn::ShiftRight<kMantissaBits>(bits), up);
    const auto sign = hn::ShiftRight<31>(hn::BitCast(UnsignedTag(), value));
    store_codes(exponent, exponents + i);
    store_codes(hn::IfThenElseZero(hn::Gt(exponent, hn::Zero(whole)), hn::BitCast(whole, sign)),
                negatives + i);
    ties = note_ties(hn::Eq(byte, first_byte), i, ties);
  }
  return i;
}

using PairTag = hn::ScalableTag<std::uint16_t>;
using HalfTag = hn::Rebind<std::uint8_t, PairTag>;

/// False for a target of one lane, which reads numbers where they are aligned only.
constexpr bool kHasPairs = hn::MaxLanes(PairTag()) > 1;

HWY_INLINE const std::uint16_t* as_pairs(const std::uint8_t* codes) {
  return reinterpret_cast<const std::uint16_t*>(codes);  // NOLINT(*-reinterpret-cast)
}
HWY_INLINE std::uint16_t* as_pairs(std::uint8_t* codes) {
  return reinterpret_cast<std::uint16_t*>(codes);  // NOLINT(*-reinterpret-cast)
}

std::size_t most_nibbles(const std::uint8_t* codes, std::size_t pairs, std::uint8_t* target) {
  const PairTag d;
  const auto low = hn::Set(d, 0xFF);
  std::size_t i = 0;
  for (; kHasPairs && i + hn::Lanes(d) <= pairs; i += hn::Lanes(d)) {
    const auto pair = hn::LoadU(d, as_pairs(codes + 2 * i));
    const auto packed = hn::And(hn::Or(pair, hn::ShiftRight<4>(pair)), low);
    hn::StoreU(hn::DemoteTo(HalfTag(), hn::BitCast(hn::RebindToSigned<PairTag>(), packed)),
               HalfTag(),
               target + i);
  }
  return i;
}

std::size_t most_codes_of_nibbles(const std::uint8_t* source,
                                  std::size_t pairs,
                                  std::uint8_t* codes) {
  const PairTag d;
  const auto low = hn::Set(d, 0x0F0F);
  std::size_t i = 0;
  for (; kHasPairs && i + hn::Lanes(d) <= pairs; i += hn::Lanes(d)) {
    const auto packed = hn::PromoteTo(d, hn::LoadU(HalfTag(), source + i));
    const auto pair = hn::And(hn::Or(packed, hn::ShiftLeft<4>(packed)), low);
    hn::StoreU(pair, d, as_pairs(codes + 2 * i));
  }
  return i;
}

std::size_t most_natural_values(const std::uint8_t* exponents,
                                const std::uint8_t* negatives,
                                std::size_t n,
                                float* x,
                                bool& is_sound) {
  const SignedTag whole;
  const auto largest = hn::Set(whole, kLargestFloat);
  auto faults = hn::Zero(whole);
  std::size_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    const auto code = load_codes(exponents + i);
    const auto negative = load_codes(negatives + i);
    const auto magnitude = hn::Min(hn::ShiftLeft<kMantissaBits>(code), largest);
    faults = hn::Or(faults, hn::IfThenElseZero(hn::Eq(code, hn::Zero(whole)), negative));
    hn::StoreU(
        hn::BitCast(FloatTag(), hn::Or(magnitude, hn::ShiftLeft<31>(negative))), FloatTag(), x + i);
  }
  is_sound = hn::AllTrue(whole, hn::Eq(faults, hn::Zero(whole)));
  return i;
}

std::size_t most_looked_up(const std::uint8_t* codes, const float* table, std::size_t n, float* x) {
  const FloatTag d;
  std::size_t i = 0;
  if constexpr (kFloats == 16) {
    const auto entries = hn::LoadU(d, table);
    for (; i + kFloats <= n; i += kFloats) {
      const auto at = hn::IndicesFromVec(d, load_codes(codes + i));
      hn::StoreU(hn::TableLookupLanes(entries, at), d, x + i);
    }
  } else if constexpr (kFloats == 8) {
    const auto low = hn::LoadU(d, table);
    const auto high = hn::LoadU(d, table + 8);
    const auto seven = hn::Set(SignedTag(), 7);
    for (; i + kFloats <= n; i += kFloats) {
      const auto code = load_codes(codes + i);
      const auto at = hn::IndicesFromVec(d, hn::And(code, seven));
      const auto is_high = hn::RebindMask(d, hn::Gt(code, seven));
      hn::StoreU(
          hn::IfThenElse(is_high, hn::TableLookupLanes(high, at), hn::TableLookupLanes(low, at)),
          d,
          x + i);
    }
  }
  return i;
}

}  // namespace residuum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace residuum {

HWY_EXPORT(most_negatives);
HWY_EXPORT(most_levels);
HWY_EXPORT(most_natural_codes);
HWY_EXPORT(most_natural_values);
HWY_EXPORT(most_looked_up);
HWY_EXPORT(most_nibbles);
HWY_EXPORT(most_codes_of_nibbles);

void negatives_of(std::span<const float> x, std::uint8_t* codes) {
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(most_negatives)(x.data(), x.size(), codes);
       i < x.size();
       ++i) {
    codes[i] = x[i] < 0 ? 1 : 0;
  }
}

void negatives_of(std::span<const double> x, std::uint8_t* codes) {
  std::transform(
      x.begin(), x.end(), codes, [](double value) -> std::uint8_t { return value < 0 ? 1 : 0; });
}

std::size_t level_codes(std::span<const float> x,
                        const std::uint8_t* bytes,
                        LevelFactors factors,
                        std::uint32_t top,
                        std::uint8_t* codes,
                        std::uint16_t* ties) {
  std::uint16_t* end = ties;
  for (std::size_t i =
           HWY_DYNAMIC_DISPATCH(most_levels)(x.data(), bytes, x.size(), factors, top, codes, end);
       i < x.size();
       ++i) {
    bool is_tie = false;
    const float y = std::abs(x[i]) * factors.first * factors.second;
    const std::uint32_t level = rounded_by_byte(y, std::byte{bytes[i]}, top, [&] {
      is_tie = true;
      return ~0U;  // this rounds down
    });
    codes[i] = static_cast<std::uint8_t>(level == 0 ? 0 : 2 * level + (x[i] < 0 ? 1 : 0));
    if (is_tie) {
      *end++ = static_cast<std::uint16_t>(i);
    }
  }
  return static_cast<std::size_t>(end - ties);
}

std::size_t natural_codes(std::span<const float> x,
                          const std::uint8_t* bytes,
                          std::uint8_t* exponents,
                          std::uint8_t* negatives,
                          std::uint16_t* ties) {
  constexpr int kFraction = 23;
  std::uint16_t* end = ties;
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(most_natural_codes)(
           x.data(), bytes, x.size(), exponents, negatives, end);
       i < x.size();
       ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(std::abs(x[i]));
    const std::uint32_t first_byte = (bits >> (kFraction - 8)) & 0xFF;
    exponents[i] = static_cast<std::uint8_t>((bits >> kFraction) + (bytes[i] < first_byte ? 1 : 0));
    negatives[i] = x[i] < 0 && exponents[i] != 0 ? 1 : 0;
    if (bytes[i] == first_byte) {
      *end++ = static_cast<std::uint16_t>(i);
    }
  }
  return static_cast<std::size_t>(end - ties);
}

void pack_nibbles(const std::uint8_t* codes, std::size_t pairs, std::uint8_t* target) {
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(most_nibbles)(codes, pairs, target); i < pairs; ++i) {
    target[i] = static_cast<std::uint8_t>(codes[2 * i] | codes[2 * i + 1] << 4);
  }
}

void unpack_nibbles(const std::uint8_t* source, std::size_t pairs, std::uint8_t* codes) {
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(most_codes_of_nibbles)(source, pairs, codes); i < pairs;
       ++i) {
    codes[2 * i] = source[i] & 0x0F;
    codes[2 * i + 1] = source[i] >> 4;
  }
}

bool natural_values(const std::uint8_t* exponents,
                    const std::uint8_t* negatives,
                    std::span<float> x) {
  constexpr std::uint32_t kLargest = 0x7F7FFFFF;
  bool is_sound = true;
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(most_natural_values)(
           exponents, negatives, x.size(), x.data(), is_sound);
       i < x.size();
       ++i) {
    const std::uint32_t bits = std::min(std::uint32_t{exponents[i]} << 23, kLargest);
    is_sound = is_sound && (negatives[i] == 0 || bits != 0);
    x[i] = std::bit_cast<float>(bits | std::uint32_t{negatives[i]} << 31);
  }
  return is_sound;
}

void look_up(const std::uint8_t* codes, const float* table, std::span<float> x) {
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(most_looked_up)(codes, table, x.size(), x.data());
       i < x.size();
       ++i) {
    x[i] = table[codes[i]];
  }
}

}  // namespace residuum
#endif
