#pragma once
// These kernels make codes of values, and values of codes, in the widest SIMD of the machine. A
// code is a byte here; core/messages/bit_codes.h packs them. The bits are the same everywhere.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/vectors/kernels.h"

namespace residuum {

/// The number of codes that are made and packed at a time, a multiple of eight.
inline constexpr std::size_t kCodesAtOnce = 2048;

/// Lets kernels see the bytes of a packed form as numbers.
inline std::uint8_t* as_numbers(std::byte* bytes) {
  return reinterpret_cast<std::uint8_t*>(bytes);  // NOLINT(*-reinterpret-cast): bytes both
}
inline const std::uint8_t* as_numbers(const std::byte* bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes);  // NOLINT(*-reinterpret-cast): bytes both
}

/// Returns the sum of |x_i|, or of x_i^2, in float64 and in 32 fixed lanes.
double sum_of_magnitudes(std::span<const float> x);
double sum_of_squares(std::span<const float> x);

/// codes[i] := 1 where x_i < 0, else 0.
void negatives_of(std::span<const float> x, std::uint8_t* codes);
void negatives_of(std::span<const double> x, std::uint8_t* codes);

/// Packs the signs of the first values to a bit each, 1 where x_i < 0, the first lowest. Returns
/// how many values these are, a multiple of eight; fewer than a vector and eight are left.
std::size_t pack_negatives(std::span<const float> x, std::uint8_t* bits);
/// x_i := magnitude, or -magnitude where the bit is 1, for as many values.
std::size_t signed_by_bits(const std::uint8_t* bits, float magnitude, std::span<float> x);

/// Factors of a value that make it a level: first, then second.
struct LevelFactors {
  float first = 1;
  float second = 1;
};

/// codes[i] := 2 l + (x_i < 0), l = rounded_by_byte(|x_i| first second, bytes[i], top), or 0 where
/// l = 0; top <= 127. If the byte does not decide, l is the lower level; `ties` gets these indices
/// in order and has room for all. Returns how many there are.
std::size_t level_codes(std::span<const float> x,
                        const std::uint8_t* bytes,
                        LevelFactors factors,
                        std::uint32_t top,
                        std::uint8_t* codes,
                        std::uint16_t* ties);

/// exponents[i] := the exponent, as float32 has it, of |x_i| rounded at random to a power of two:
/// up where bytes[i] is below the first 8 of the 23 bits of its fraction. negatives[i] := 1 where
/// x_i < 0 and exponents[i] is not 0. If the 8 bits are the byte, it rounds down, and `ties` gets
/// the index, as above.
std::size_t natural_codes(std::span<const float> x,
                          const std::uint8_t* bytes,
                          std::uint8_t* exponents,
                          std::uint8_t* negatives,
                          std::uint16_t* ties);

/// x_i := plus or minus the power of two of exponents[i], 0 for 0, the largest finite number for
/// 255. Returns false where a zero has a sign.
bool natural_values(const std::uint8_t* exponents,
                    const std::uint8_t* negatives,
                    std::span<float> x);

/// The levels of linear quantisation lie between `least` and the largest value, both times first.
/// Every operation rounds.
template <class Real>
struct LinearScale {
  Real first = 1;
  Real least = 0;
  Real second = 0;

  Real of(Real value) const { return (value * first - least) * second; }
};

/// codes[i] := rounded_by_byte(scale.of(x_i), bytes[i], top), top <= 255. If the byte does not
/// decide, it is the lower level, and `ties` gets the index, as above.
std::size_t linear_codes(std::span<const float> x,
                         const std::uint8_t* bytes,
                         const LinearScale<float>& scale,
                         std::uint32_t top,
                         std::uint8_t* codes,
                         std::uint16_t* ties);

struct Extremes {
  float least = 0;
  float largest = 0;
};

/// Returns the smallest and the largest of finite values; of zeros any sign. x is not empty.
Extremes extremes_of(std::span<const float> x);

/// The bins of the table quantiser begin, from the second on, at these values.
template <class Real>
using BinStarts = std::array<Real, 3>;

/// codes[i] := how many of the rising starts x_i reaches.
void bins_of(std::span<const float> x, const BinStarts<float>& starts, std::uint8_t* codes);
void bins_of(std::span<const double> x, const BinStarts<double>& starts, std::uint8_t* codes);

/// The sums of the values of each bin, in the eight lanes of core/vectors/kernels.h, and how many
/// values there are.
struct BinSums {
  std::array<kernels::Lanes, 4> sums;
  std::array<std::size_t, 4> counts{};
};

/// Adds values to the sums of their bins. All calls but the last take whole groups of eight.
template <class Real>
void add_to_bins(std::span<const Real> x, const BinStarts<Real>& starts, BinSums& of_bins);

/// Returns the sum of (lifted x_i - mean)^2 in float64, in the same lanes.
template <class Real>
double sum_of_squares_about(double mean, double lifted, std::span<const Real> x);

/// True if one of the codes is this one.
bool has_code(std::span<const std::uint8_t> codes, std::uint8_t code);

/// Packs fours of codes of two bits, the first lowest, to a byte each.
void pack_quarters(const std::uint8_t* codes, std::size_t fours, std::uint8_t* target);
void unpack_quarters(const std::uint8_t* source, std::size_t fours, std::uint8_t* codes);

/// Packs pairs of codes of four bits, the first lower, to a byte each.
void pack_nibbles(const std::uint8_t* codes, std::size_t pairs, std::uint8_t* target);
void unpack_nibbles(const std::uint8_t* source, std::size_t pairs, std::uint8_t* codes);

/// x_i := table[codes[i]], where codes are below 16 and the table has 16 entries.
void look_up(const std::uint8_t* codes, const float* table, std::span<float> x);

}  // namespace residuum
