// Natural compression (Horvath, Ho, Horvath, Sahu, Canini, Richtarik, MSML 2022) rounds a magnitude
// at random to one of the two powers of two around it, so that the mean is x. It is unbiased with
// omega = 1/8 (theorem 1), and therefore a contraction with alpha = 7/8.
//
// The packed form is a shift, a 32-bit number, then the exponents, a byte each, then the signs, a
// bit each. The byte c > 0 stands for 2^(c - 127 - shift) and 0 for zero, as the exponents of
// float32 do: with shift = 0 the fraction of a float, as its bits have it, is the probability that
// its exponent grows by one, for subnormal numbers too. The shift is not zero where the largest
// magnitude is far from one, so that what lies below the last exponent is negligible beside it. The
// power of two above the largest finite number stands for that number.

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/quantisers/packed_codes.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

constexpr int kNaturalBias = 127;
constexpr int kMostShift = 2048;  // exponents of float64 lie in -1074 .. 1023

/// Returns the shift of these values. A float that is not very small decides without the others.
template <class Real>
int natural_shift(std::span<const Real> values) {
  constexpr int kFarAbove = 100;
  constexpr int kFarBelow = -60;
  const bool is_float = sizeof(Real) == sizeof(float);
  if (is_float && std::abs(values.front()) >= static_cast<Real>(0x1p-60)) {
    return 0;
  }
  const Real largest = norm_inf(values);
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  return exponent < kFarBelow || (!is_float && exponent > kFarAbove) ? -exponent : 0;
}

/// Returns the code of a magnitude that is below 2^128; 32 random bits decide, by the 32 highest of
/// the fraction.
std::uint32_t natural_code(double magnitude, std::uint32_t draw) {
  const double lowest = 0x1p-126;
  if (magnitude < lowest) {
    return static_cast<double>(draw) * 0x1p-32 < magnitude / lowest ? 1 : 0;
  }
  const int exponent = std::ilogb(magnitude);
  const double fraction = std::ldexp(magnitude, -exponent) - 1;
  const bool up = static_cast<double>(draw) * 0x1p-32 < fraction;
  return static_cast<std::uint32_t>(exponent + kNaturalBias + (up ? 1 : 0));
}

class Natural final : public QuantiserFor<Natural> {
 public:
  template <class Real>
  void encode_values(std::span<const Real> values,
                     RandomStream& random,
                     std::span<std::byte> coded) const {
    const std::int32_t shift = natural_shift(values);
    write_numbers(std::span(&shift, 1), coded);
    const auto exponents = coded.subspan(sizeof(shift), values.size());
    const auto signs_at = coded.subspan(sizeof(shift) + values.size());
    if constexpr (sizeof(Real) == sizeof(float)) {
      if (shift == 0) {
        encode_floats(values, random, exponents, signs_at);
        return;
      }
    }
    CodeWriter signs(signs_at, 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Real magnitude = std::abs(values[i]);
      const auto code = natural_code(
          std::ldexp(static_cast<double>(magnitude), static_cast<int>(shift)), random.bits());
      exponents[i] = static_cast<std::byte>(code);
      signs.put(values[i] < 0 && code != 0 ? 1 : 0);
    }
    signs.finish();
  }

  template <class Real>
  void decode_values(std::span<const std::byte> coded, std::span<Real> values) const {
    std::int32_t shift = 0;
    read_numbers(coded, std::span(&shift, 1));
    check_coded(std::abs(std::int64_t{shift}) <= kMostShift);
    const auto exponents = coded.subspan(sizeof(shift), values.size());
    const auto signs_at = coded.subspan(sizeof(shift) + values.size());
    if constexpr (sizeof(Real) == sizeof(float)) {
      if (shift == 0) {
        decode_floats(exponents, signs_at, values);
        return;
      }
    }
    CodeReader signs(signs_at, 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto code = std::to_integer<int>(exponents[i]);
      const Real magnitude = code == 0 ? Real{0} : std::ldexp(Real{1}, code - kNaturalBias - shift);
      const Real held = std::min(magnitude, std::numeric_limits<Real>::max());
      value_of(values[i], held, signs.get());
    }
    check_end(signs);
  }

  static std::size_t bytes(std::size_t n, std::size_t /*value_bytes*/) {
    return sizeof(std::int32_t) + n + bytes_of_codes(n, 1);
  }

  QuantiserLaw law(std::size_t /*n*/) const override {
    constexpr int kBits = 9;
    return unbiased_law(1.0 / 8, /*shrinks=*/false, kBits);
  }

 private:
  static void encode_floats(std::span<const float> values,
                            RandomStream& random,
                            std::span<std::byte> exponents,
                            std::span<std::byte> signs) {
    std::array<std::uint8_t, kCodesAtOnce> bytes{};
    std::array<std::uint16_t, kCodesAtOnce> ties{};
    auto* const codes = as_numbers(exponents.data());
    pack_in_blocks(values.size(), 1, signs, [&](std::size_t first, auto negatives) {
      const auto x = values.subspan(first, negatives.size());
      std::uint8_t* const here = codes + first;
      fill_bytes(random, std::span(bytes).first(x.size()));
      const std::size_t n = natural_codes(x, bytes.data(), here, negatives.data(), ties.data());
      for (const std::uint16_t i : std::span(ties).first(n)) {
        constexpr int kLeftBits = 15;  // of the fraction, behind the byte that was compared
        const auto left = std::bit_cast<std::uint32_t>(std::abs(x[i])) % (1U << kLeftBits);
        here[i] =
            static_cast<std::uint8_t>(here[i] + (random.bits() >> (32 - kLeftBits) < left ? 1 : 0));
        negatives[i] = x[i] < 0 && here[i] != 0 ? 1 : 0;
      }
    });
  }

  static void decode_floats(std::span<const std::byte> exponents,
                            std::span<const std::byte> signs,
                            std::span<float> values) {
    const auto* const codes = as_numbers(exponents.data());
    unpack_in_blocks(values.size(), 1, signs, [&](std::size_t first, auto negatives) {
      check_coded(
          natural_values(codes + first, negatives.data(), values.subspan(first, negatives.size())));
    });
  }

  template <class Real>
  static void value_of(Real& value, Real magnitude, std::uint32_t sign) {
    check_coded(sign == 0 || magnitude > 0);
    value = sign == 0 ? magnitude : -magnitude;
  }
};

}  // namespace

std::unique_ptr<Quantiser> make_natural(const Section& /*section*/) {
  return std::make_unique<Natural>();
}

}  // namespace residuum
