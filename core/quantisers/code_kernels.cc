#include "core/quantisers/code_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/quantisers/rounding.h"

// SVE and RVV are disabled: their vectors have no size that is known when this is compiled.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // NOLINT: Highway's macro

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/quantisers/code_kernels.cc"  // NOLINT: Highway's macro
#include <hwy/foreach_target.h>                               // IWYU pragma: keep
#include <hwy/highway.h>

#include "core/vectors/simd_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace residuum::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace ln = lanes::HWY_NAMESPACE;

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

/// Prefetches what a pass reads while random numbers are drawn for it: the next block of codes.
HWY_INLINE void prefetch(const float* x) { __builtin_prefetch(x + kCodesAtOnce); }

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

/// True for a target of one lane: plain loops, which follow every kernel, are faster there.
constexpr bool kIsPlain = kFloats == 1;

// A vector of eight floats or more has whole bytes of signs. Two of four floats share one.
constexpr std::size_t kSignsAtOnce = std::max<std::size_t>(kFloats, 8);
constexpr std::size_t kMaskRoom = 8;  // bytes that Highway may touch beside those of a mask

std::size_t most_packed_negatives(const float* x, std::size_t n, std::uint8_t* bits) {
  const FloatTag d;
  const auto zero = hn::Zero(d);
  std::array<std::uint8_t, kMaskRoom> stored{};
  std::size_t i = 0;
  for (; !kIsPlain && i + kSignsAtOnce <= n; i += kSignsAtOnce) {
    prefetch(x + i);
    hn::StoreMaskBits(d, hn::Lt(hn::LoadU(d, x + i), zero), stored.data());
    if constexpr (kFloats >= 8) {
      std::memcpy(bits + i / 8, stored.data(), kFloats / 8);
    } else {
      const std::uint32_t low = stored[0];
      hn::StoreMaskBits(d, hn::Lt(hn::LoadU(d, x + i + kFloats), zero), stored.data());
      bits[i / 8] = static_cast<std::uint8_t>(low | std::uint32_t{stored[0]} << 4);
    }
  }
  return i;
}

std::size_t most_signed_by_bits(const std::uint8_t* bits,
                                float magnitude,
                                float* x,
                                std::size_t n) {
  const FloatTag d;
  const auto positive = hn::Set(d, magnitude);
  const auto negative = hn::Set(d, -magnitude);
  std::array<std::uint8_t, kMaskRoom> loaded{};
  std::size_t i = 0;
  for (; !kIsPlain && i + kSignsAtOnce <= n; i += kSignsAtOnce) {
    std::memcpy(loaded.data(), bits + i / 8, kSignsAtOnce / 8);
    const auto mask = hn::LoadMaskBits(d, loaded.data());
    hn::StoreU(hn::IfThenElse(mask, negative, positive), d, x + i);
    if constexpr (kFloats < 8) {
      loaded[0] = static_cast<std::uint8_t>(loaded[0] >> 4);
      const auto high = hn::LoadMaskBits(d, loaded.data());
      hn::StoreU(hn::IfThenElse(high, negative, positive), d, x + i + kFloats);
    }
  }
  return i;
}
static_assert(kIsPlain || kFloats >= 4, "two vectors have the signs of a byte");

#if HWY_TARGET != HWY_SCALAR
/// Stores the codes of four vectors, which follow one another.
template <class Vector>
HWY_INLINE void store_codes(const Vector (&four)[4], std::uint8_t* target) {  // NOLINT(*-c-arrays)
  const hn::Repartition<std::uint16_t, FloatTag> d16;
  const hn::Repartition<std::uint8_t, FloatTag> d8;
  const auto first = hn::ConcatEven(d16, hn::BitCast(d16, four[1]), hn::BitCast(d16, four[0]));
  const auto second = hn::ConcatEven(d16, hn::BitCast(d16, four[3]), hn::BitCast(d16, four[2]));
  hn::StoreU(hn::ConcatEven(d8, hn::BitCast(d8, second), hn::BitCast(d8, first)), d8, target);
}
#else
template <class Vector>
HWY_INLINE void store_codes(const Vector (&four)[4], std::uint8_t* target) {  // NOLINT(*-c-arrays)
  for (std::size_t j = 0; j < 4; ++j) {
    store_codes(four[j], target + j);
  }
}
#endif

/// Stores the codes code_of(i) of the values from i on, for whole vectors. Returns how many.
template <class CodeOf>
HWY_INLINE std::size_t make_codes(std::size_t n, std::uint8_t* codes, const CodeOf& code_of) {
  std::size_t i = 0;
  for (; i + 4 * kFloats <= n; i += 4 * kFloats) {
    // NOLINTNEXTLINE(modernize-avoid-c-arrays): of registers
    const hn::Vec<SignedTag> four[4] = {
        code_of(i), code_of(i + kFloats), code_of(i + 2 * kFloats), code_of(i + 3 * kFloats)};
    store_codes(four, codes + i);
  }
  for (; i + kFloats <= n; i += kFloats) {
    store_codes(code_of(i), codes + i);
  }
  return i;
}

/// Codes of some lanes are ties.
struct CodesAndTies {
  hn::Vec<SignedTag> codes;
  hn::Mask<SignedTag> ties;
};

/// Appends first + i to `ties` for each bit i. Most often there is none or one, which takes no
/// branch: there is room for one more, because not all values before `first + 1` can be ties.
HWY_INLINE std::uint16_t* note_ties(std::uint64_t bits, std::size_t first, std::uint16_t* ties) {
  const auto note = [&] {
    *ties = static_cast<std::uint16_t>(first + static_cast<std::size_t>(std::countr_zero(bits)));
  };
  note();
  ties += bits != 0 ? 1 : 0;
  for (bits &= bits - 1; HWY_UNLIKELY(bits != 0); bits &= bits - 1) {
    note();
    ++ties;
  }
  return ties;
}

/// As make_codes, for codes of which some are ties.
template <class CodeOf>
HWY_INLINE std::size_t make_codes(std::size_t n,
                                  std::uint8_t* codes,
                                  std::uint16_t*& ties,
                                  const CodeOf& code_of) {
  const SignedTag whole;
  std::size_t i = 0;
  std::uint16_t* end = ties;
  for (; i + 4 * kFloats <= n; i += 4 * kFloats) {
    const CodesAndTies a = code_of(i);
    const CodesAndTies b = code_of(i + kFloats);
    const CodesAndTies c = code_of(i + 2 * kFloats);
    const CodesAndTies d = code_of(i + 3 * kFloats);
    // NOLINTNEXTLINE(modernize-avoid-c-arrays): of registers
    const hn::Vec<SignedTag> four[4] = {a.codes, b.codes, c.codes, d.codes};
    store_codes(four, codes + i);
    const auto bits = ln::bits_of(whole, a.ties) | ln::bits_of(whole, b.ties) << kFloats |
                      ln::bits_of(whole, c.ties) << (2 * kFloats) |
                      ln::bits_of(whole, d.ties) << (3 * kFloats);
    end = note_ties(bits, i, end);
  }
  for (; i + kFloats <= n; i += kFloats) {
    const CodesAndTies one = code_of(i);
    store_codes(one.codes, codes + i);
    end = note_ties(ln::bits_of(whole, one.ties), i, end);
  }
  ties = end;
  return i;
}

/// Levels in units of a byte's step, of whole vectors of x. The first factor is 1 if not kIsLifted.
template <bool kIsLifted>
struct ByteSteps {
  hn::Vec<FloatTag> first, second;

  HWY_INLINE hn::Vec<SignedTag> of(hn::Vec<FloatTag> value) const {
    auto lifted = hn::Abs(value);
    if constexpr (kIsLifted) {
      lifted = hn::Mul(lifted, first);
    }
    return hn::ConvertTo(SignedTag(), hn::Mul(lifted, second));
  }
};

#if HWY_TARGET != HWY_SCALAR
using WordTag = hn::Repartition<std::int16_t, FloatTag>;
constexpr std::size_t kWords = hn::MaxLanes(WordTag());

/// Words hold the codes of twice as many values, which are less than 2^15 byte's steps.
template <bool kIsLifted>
struct LevelWords {
  ByteSteps<kIsLifted> byte_steps;
  hn::Vec<WordTag> most;

  HWY_INLINE hn::Vec<WordTag> codes(const float* x,
                                    const std::uint8_t* bytes,
                                    std::uint64_t& ties) const {
    const WordTag d;
    const auto low = hn::LoadU(FloatTag(), x);
    const auto high = hn::LoadU(FloatTag(), x + kFloats);
    const auto steps =
        hn::ConcatEven(d, hn::BitCast(d, byte_steps.of(high)), hn::BitCast(d, byte_steps.of(low)));
    const auto signs = hn::ConcatOdd(d, hn::BitCast(d, high), hn::BitCast(d, low));
    const auto byte = hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, WordTag>(), bytes));
    const auto first_byte = hn::And(steps, hn::Set(d, 255));
    const auto up = hn::VecFromMask(d, hn::Lt(byte, first_byte));
    const auto level = hn::Min(hn::Sub(hn::ShiftRight<8>(steps), up), most);
    const auto code = hn::Sub(hn::Add(level, level), hn::ShiftRight<15>(signs));
    ties = ln::bits_of(d, hn::Eq(byte, first_byte));
    return hn::IfThenZeroElse(hn::Eq(level, hn::Zero(d)), code);
  }
};
#endif

template <bool kIsLifted>
HWY_INLINE std::size_t levels_of(const float* x,
                                 const std::uint8_t* bytes,
                                 std::size_t n,
                                 const LevelFactors& factors,
                                 std::uint32_t top,
                                 std::uint8_t* codes,
                                 std::uint16_t*& ties) {
  const FloatTag d;
  const SignedTag whole;
  const ByteSteps<kIsLifted> byte_steps{hn::Set(d, factors.first),
                                        hn::Set(d, factors.second * 256.0F)};
  std::size_t i = 0;
  std::uint16_t* end = ties;
#if HWY_TARGET != HWY_SCALAR
  const hn::Repartition<std::uint8_t, FloatTag> d8;
  const LevelWords<kIsLifted> words{byte_steps, hn::Set(WordTag(), static_cast<std::int16_t>(top))};
  for (; i + 2 * kWords <= n; i += 2 * kWords) {
    std::uint64_t low_ties = 0;
    std::uint64_t high_ties = 0;
    const auto low = words.codes(x + i, bytes + i, low_ties);
    const auto high = words.codes(x + i + kWords, bytes + i + kWords, high_ties);
    hn::StoreU(hn::ConcatEven(d8, hn::BitCast(d8, high), hn::BitCast(d8, low)), d8, codes + i);
    end = note_ties(low_ties | high_ties << kWords, i, end);
  }
#endif
  const auto low_byte = hn::Set(whole, 255);
  const auto one = hn::Set(whole, 1);
  const auto most = hn::Set(whole, static_cast<std::int32_t>(top));
  for (; i + kFloats <= n; i += kFloats) {
    const auto value = hn::LoadU(d, x + i);
    const auto steps = byte_steps.of(value);
    const auto first_byte = hn::And(steps, low_byte);
    const auto byte = load_codes(bytes + i);
    const auto up = hn::IfThenElseZero(hn::Lt(byte, first_byte), one);
    const auto level = hn::Min(hn::Add(hn::ShiftRight<8>(steps), up), most);
    const auto sign = hn::BitCast(whole, hn::ShiftRight<31>(hn::BitCast(UnsignedTag(), value)));
    const auto code = hn::Or(hn::ShiftLeft<1>(level), sign);
    store_codes(hn::IfThenElseZero(hn::Gt(level, hn::Zero(whole)), code), codes + i);
    end = note_ties(ln::bits_of(whole, hn::Eq(byte, first_byte)), i, end);
  }
  ties = end;
  return i;
}

std::size_t most_levels(const float* x,
                        const std::uint8_t* bytes,
                        std::size_t n,
                        const LevelFactors& factors,
                        std::uint32_t top,
                        std::uint8_t* codes,
                        std::uint16_t*& ties) {
  return factors.first == 1 ? levels_of<false>(x, bytes, n, factors, top, codes, ties)
                            : levels_of<true>(x, bytes, n, factors, top, codes, ties);
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
    ties = note_ties(ln::bits_of(whole, hn::Eq(byte, first_byte)), i, ties);
  }
  return i;
}

std::size_t most_linear_codes(const float* x,
                              const std::uint8_t* bytes,
                              std::size_t n,
                              const LinearScale<float>& scale,
                              std::uint32_t top,
                              std::uint8_t* codes,
                              std::uint16_t*& ties) {
  const FloatTag d;
  const SignedTag whole;
  const auto first = hn::Set(d, scale.first);
  const auto least = hn::Set(d, scale.least);
  const auto second = hn::Set(d, scale.second);
  const auto byte_steps = hn::Set(d, 256.0F);
  const auto low_byte = hn::Set(whole, 255);
  const auto one = hn::Set(whole, 1);
  const auto most = hn::Set(whole, static_cast<std::int32_t>(top));
  if (kIsPlain) {
    return 0;
  }
  const auto code_of = [&](std::size_t i) HWY_ATTR -> CodesAndTies {
    prefetch(x + i);
    const auto above_least = hn::Sub(hn::Mul(hn::LoadU(d, x + i), first), least);
    const auto steps = hn::ConvertTo(whole, hn::Mul(hn::Mul(above_least, second), byte_steps));
    const auto first_byte = hn::And(steps, low_byte);
    const auto byte = load_codes(bytes + i);
    const auto up = hn::IfThenElseZero(hn::Lt(byte, first_byte), one);
    return {hn::Min(hn::Add(hn::ShiftRight<8>(steps), up), most), hn::Eq(byte, first_byte)};
  };
  return make_codes(n, codes, ties, code_of);
}

std::size_t most_extremes(const float* x, std::size_t n, Extremes& found) {
  const FloatTag d;
  auto least = hn::Set(d, found.least);
  auto largest = hn::Set(d, found.largest);
  auto also_least = least;
  auto also_largest = largest;
  std::size_t i = 0;
  for (; i + 2 * kFloats <= n; i += 2 * kFloats) {
    prefetch(x + i);
    const auto first = hn::LoadU(d, x + i);
    const auto second = hn::LoadU(d, x + i + kFloats);
    least = hn::Min(least, first);
    largest = hn::Max(largest, first);
    also_least = hn::Min(also_least, second);
    also_largest = hn::Max(also_largest, second);
  }
  found.least = hn::GetLane(hn::MinOfLanes(d, hn::Min(least, also_least)));
  found.largest = hn::GetLane(hn::MaxOfLanes(d, hn::Max(largest, also_largest)));
  return i;
}

std::size_t most_bins(const float* x,
                      std::size_t n,
                      const BinStarts<float>& starts,
                      std::uint8_t* codes) {
  const FloatTag d;
  const SignedTag whole;
  const auto first = hn::Set(d, starts[0]);
  const auto second = hn::Set(d, starts[1]);
  const auto third = hn::Set(d, starts[2]);
  const auto reaches = [&](hn::Vec<FloatTag> value, hn::Vec<FloatTag> start) HWY_ATTR {
    return hn::VecFromMask(whole, hn::RebindMask(whole, hn::Ge(value, start)));
  };
  const auto code_of = [&](std::size_t i) HWY_ATTR {
    prefetch(x + i);
    const auto value = hn::LoadU(d, x + i);
    const auto minus_two = hn::Add(reaches(value, first), reaches(value, second));
    return hn::Neg(hn::Add(minus_two, reaches(value, third)));
  };
  return make_codes(n, codes, code_of);
}

using ByteVectorTag = hn::ScalableTag<std::uint8_t>;

std::size_t most_without(const std::uint8_t* codes, std::size_t n, std::uint8_t code, bool& has) {
  const ByteVectorTag d;
  const auto wanted = hn::Set(d, code);
  auto any = hn::FirstN(d, 0);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    any = hn::Or(any, hn::Eq(hn::LoadU(d, codes + i), wanted));
  }
  has = !hn::AllFalse(d, any);
  return i;
}

using FourTag = hn::ScalableTag<std::uint32_t>;
using QuarterTag = hn::Rebind<std::uint8_t, FourTag>;

/// False for a target of one lane, which reads numbers where they are aligned only.
constexpr bool kHasFours = hn::MaxLanes(FourTag()) > 1;

HWY_INLINE const std::uint32_t* as_fours(const std::uint8_t* codes) {
  return reinterpret_cast<const std::uint32_t*>(codes);  // NOLINT(*-reinterpret-cast)
}
HWY_INLINE std::uint32_t* as_fours(std::uint8_t* codes) {
  return reinterpret_cast<std::uint32_t*>(codes);  // NOLINT(*-reinterpret-cast)
}

std::size_t most_quarters(const std::uint8_t* codes, std::size_t fours, std::uint8_t* target) {
  const FourTag d;
  const auto low = hn::Set(d, 0xFF);
  std::size_t i = 0;
  for (; kHasFours && i + hn::Lanes(d) <= fours; i += hn::Lanes(d)) {
    const auto four = hn::LoadU(d, as_fours(codes + 4 * i));
    const auto two = hn::Or(four, hn::ShiftRight<6>(four));
    const auto packed = hn::And(hn::Or(two, hn::ShiftRight<12>(two)), low);
    hn::StoreU(hn::DemoteTo(QuarterTag(), hn::BitCast(hn::RebindToSigned<FourTag>(), packed)),
               QuarterTag(),
               target + i);
  }
  return i;
}

std::size_t most_codes_of_quarters(const std::uint8_t* source,
                                   std::size_t fours,
                                   std::uint8_t* codes) {
  const FourTag d;
  const auto low = hn::Set(d, 0x03030303);
  std::size_t i = 0;
  for (; kHasFours && i + hn::Lanes(d) <= fours; i += hn::Lanes(d)) {
    const auto packed = hn::PromoteTo(d, hn::LoadU(QuarterTag(), source + i));
    const auto two = hn::Or(packed, hn::ShiftLeft<12>(packed));
    const auto four = hn::And(hn::Or(two, hn::ShiftLeft<6>(two)), low);
    hn::StoreU(four, d, as_fours(codes + 4 * i));
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
HWY_EXPORT(most_packed_negatives);
HWY_EXPORT(most_signed_by_bits);
HWY_EXPORT(most_levels);
HWY_EXPORT(most_natural_codes);
HWY_EXPORT(most_natural_values);
HWY_EXPORT(most_looked_up);
HWY_EXPORT(most_linear_codes);
HWY_EXPORT(most_extremes);
HWY_EXPORT(most_bins);
HWY_EXPORT(most_without);
HWY_EXPORT(most_quarters);
HWY_EXPORT(most_codes_of_quarters);
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

std::size_t pack_negatives(std::span<const float> x, std::uint8_t* bits) {
  return HWY_DYNAMIC_DISPATCH(most_packed_negatives)(x.data(), x.size(), bits);
}

std::size_t signed_by_bits(const std::uint8_t* bits, float magnitude, std::span<float> x) {
  return HWY_DYNAMIC_DISPATCH(most_signed_by_bits)(bits, magnitude, x.data(), x.size());
}

namespace {

/// Rounds y by the byte. If that does not decide, it rounds down and appends i to the ties.
std::uint32_t lower_if_tie(
    float y, std::byte byte, std::uint32_t top, std::size_t i, std::uint16_t*& ties) {
  return rounded_by_byte(y, byte, top, [&] {
    *ties++ = static_cast<std::uint16_t>(i);
    return ~0U;  // this rounds down
  });
}

}  // namespace

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
    const float y = std::abs(x[i]) * factors.first * factors.second;
    const std::uint32_t level = lower_if_tie(y, std::byte{bytes[i]}, top, i, end);
    codes[i] = static_cast<std::uint8_t>(level == 0 ? 0 : 2 * level + (x[i] < 0 ? 1 : 0));
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

std::size_t linear_codes(std::span<const float> x,
                         const std::uint8_t* bytes,
                         const LinearScale<float>& scale,
                         std::uint32_t top,
                         std::uint8_t* codes,
                         std::uint16_t* ties) {
  std::uint16_t* end = ties;
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(most_linear_codes)(
           x.data(), bytes, x.size(), scale, top, codes, end);
       i < x.size();
       ++i) {
    codes[i] =
        static_cast<std::uint8_t>(lower_if_tie(scale.of(x[i]), std::byte{bytes[i]}, top, i, end));
  }
  return static_cast<std::size_t>(end - ties);
}

Extremes extremes_of(std::span<const float> x) {
  Extremes found{.least = x.front(), .largest = x.front()};
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(most_extremes)(x.data(), x.size(), found); i < x.size();
       ++i) {
    found.least = std::min(found.least, x[i]);
    found.largest = std::max(found.largest, x[i]);
  }
  return found;
}

namespace {

template <class Real>
std::uint8_t bin_of(Real value, const BinStarts<Real>& starts) {
  return static_cast<std::uint8_t>(
      std::count_if(starts.begin(), starts.end(), [value](Real start) { return value >= start; }));
}

}  // namespace

void bins_of(std::span<const float> x, const BinStarts<float>& starts, std::uint8_t* codes) {
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(most_bins)(x.data(), x.size(), starts, codes);
       i < x.size();
       ++i) {
    codes[i] = bin_of(x[i], starts);
  }
}

void bins_of(std::span<const double> x, const BinStarts<double>& starts, std::uint8_t* codes) {
  std::transform(x.begin(), x.end(), codes, [&](double value) { return bin_of(value, starts); });
}

bool has_code(std::span<const std::uint8_t> codes, std::uint8_t code) {
  bool has = false;
  const std::size_t done =
      HWY_DYNAMIC_DISPATCH(most_without)(codes.data(), codes.size(), code, has);
  const auto rest = codes.subspan(done);
  return has || std::find(rest.begin(), rest.end(), code) != rest.end();
}

void pack_quarters(const std::uint8_t* codes, std::size_t fours, std::uint8_t* target) {
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(most_quarters)(codes, fours, target); i < fours; ++i) {
    target[i] = static_cast<std::uint8_t>(codes[4 * i] | codes[4 * i + 1] << 2 |
                                          codes[4 * i + 2] << 4 | codes[4 * i + 3] << 6);
  }
}

void unpack_quarters(const std::uint8_t* source, std::size_t fours, std::uint8_t* codes) {
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(most_codes_of_quarters)(source, fours, codes);
       i < fours;
       ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      codes[4 * i + j] = (source[i] >> (2 * j)) & 3U;
    }
  }
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
