#pragma once
// Codes of at most eight bits are packed eight at a time: they fill as many bytes as a code has
// bits. The layout is that of core/messages/bit_codes.h.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/messages/bit_codes.h"
#include "core/quantisers/code_kernels.h"
#include "core/quantisers/quantiser.h"
#include "core/quantisers/rounding.h"

namespace residuum {

/// Refuses a buffer that goes on behind the last code, or whose bits behind it are not zero.
inline void check_end(const CodeReader& reader) { check_coded(reader.is_at_end()); }

/// Reads the scale at the front of a packed form, which is finite and not negative.
template <class Real>
Real read_scale(std::span<const std::byte> source) {
  Real scale = 0;
  read_numbers(source, std::span(&scale, 1));
  check_coded(scale >= 0 && scale <= std::numeric_limits<Real>::max());
  return scale;
}

/// Packs codes of 1 to 8 bits, a byte each, to bytes that have room for them.
void pack_codes(std::span<const std::uint8_t> codes, int bits, std::span<std::byte> target);

/// Unpacks as many codes as there is room for, from the bytes that they take. Refuses bits behind
/// the last that are not zero.
void unpack_codes(std::span<const std::byte> source, int bits, std::span<std::uint8_t> codes);

/// x_i := table[codes[i]] for codes below 16.
template <class Real>
void values_of_codes(std::span<const std::uint8_t> codes,
                     const std::array<Real, 16>& table,
                     std::span<Real> x) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    look_up(codes.data(), table.data(), x);
  } else {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = table[codes[i]];
    }
  }
}

/// Fills `bytes` with random ones, from four times fewer words of the stream.
inline void fill_bytes(RandomStream& random, std::span<std::uint8_t> bytes) {
  std::array<std::uint32_t, kCodesAtOnce / 4> words{};
  const auto drawn = std::span(words).first((bytes.size() + 3) / 4);
  random.fill(drawn);
  std::memcpy(bytes.data(), drawn.data(), bytes.size());
}

/// Returns factors that make shares of the largest magnitude. Its own share is 1 at least, for it
/// is always sent; rounding alone would make it less for some magnitudes.
inline LevelFactors factors_of_shares(float largest) {
  LevelFactors factors{.first = lift(largest), .second = 0};
  if (largest > 0) {
    const float lifted = largest * factors.first;
    factors.second = 1 / lifted;
    if (lifted * factors.second < 1) {
      factors.second = std::nextafter(factors.second, std::numeric_limits<float>::infinity());
    }
  }
  return factors;
}

/// codes[i] := 2 l + (x_i < 0), l = |x_i| first second rounded at random to a level, or 0 where l =
/// 0. `bytes` are random, and where they do not decide, further bits are drawn.
inline void draw_levels(std::span<const float> x,
                        const std::uint8_t* bytes,
                        const LevelFactors& factors,
                        std::uint32_t top,
                        RandomStream& random,
                        std::uint8_t* codes) {
  std::array<std::uint16_t, kCodesAtOnce> ties;  // NOLINT(*-member-init): written before read
  const std::size_t n = level_codes(x, bytes, factors, top, codes, ties.data());
  for (const std::uint16_t i : std::span(ties).first(n)) {
    const float y = std::abs(x[i]) * factors.first * factors.second;
    const std::uint32_t level =
        rounded_by_byte(y, std::byte{bytes[i]}, top, [&] { return random.bits(); });
    codes[i] = static_cast<std::uint8_t>(level == 0 ? 0 : 2 * level + (x[i] < 0 ? 1 : 0));
  }
}

/// Packs n codes that make(first, codes) makes, a block after the other.
template <class Make>
void pack_in_blocks(std::size_t n, int bits, std::span<std::byte> target, const Make& make) {
  std::array<std::uint8_t, kCodesAtOnce> block{};
  for (std::size_t first = 0; first < n; first += kCodesAtOnce) {
    const auto codes = std::span(block).first(std::min(kCodesAtOnce, n - first));
    make(first, codes);
    pack_codes(codes,
               bits,
               target.subspan(bytes_of_codes(first, bits), bytes_of_codes(codes.size(), bits)));
  }
}

/// Unpacks n codes and gives them to use(first, codes), a block after the other.
template <class Use>
void unpack_in_blocks(std::size_t n, int bits, std::span<const std::byte> source, const Use& use) {
  std::array<std::uint8_t, kCodesAtOnce> block{};
  for (std::size_t first = 0; first < n; first += kCodesAtOnce) {
    const auto codes = std::span(block).first(std::min(kCodesAtOnce, n - first));
    unpack_codes(source.subspan(bytes_of_codes(first, bits), bytes_of_codes(codes.size(), bits)),
                 bits,
                 codes);
    use(first, std::span<const std::uint8_t>(codes));
  }
}

}  // namespace residuum
