#include "core/quantisers/packed_codes.h"

#include <utility>

namespace residuum {
namespace {

constexpr std::size_t kCodesOfGroup = 8;

/// Returns a number that has the lowest `set` of each `of` bits.
constexpr std::uint64_t low_bits(int set, int of) {
  std::uint64_t mask = 0;
  for (int bit = 0; bit < 64; ++bit) {
    mask |= bit % of < set ? std::uint64_t{1} << bit : 0;
  }
  return mask;
}

/// Brings the codes of eight bytes together: pairs of them, pairs of these, and both halves.
template <int kBits>
std::uint64_t together(std::uint64_t codes) {
  constexpr std::uint64_t kOne = low_bits(kBits, 16);
  constexpr std::uint64_t kTwo = low_bits(2 * kBits, 32);
  constexpr std::uint64_t kFour = low_bits(4 * kBits, 64);
  const std::uint64_t pairs = (codes & kOne) | ((codes >> (8 - kBits)) & (kOne << kBits));
  const std::uint64_t fours =
      (pairs & kTwo) | ((pairs >> (16 - 2 * kBits)) & (kTwo << (2 * kBits)));
  return (fours & kFour) | ((fours >> (32 - 4 * kBits)) & ~kFour);
}

/// Undoes it.
template <int kBits>
std::uint64_t apart(std::uint64_t packed) {
  constexpr std::uint64_t kOne = low_bits(kBits, 16);
  constexpr std::uint64_t kTwo = low_bits(2 * kBits, 32);
  constexpr std::uint64_t kFour = low_bits(4 * kBits, 64);
  const std::uint64_t fours = (packed & kFour) | ((packed & ~kFour) << (32 - 4 * kBits));
  const std::uint64_t pairs =
      (fours & kTwo) | ((fours & (kTwo << (2 * kBits))) << (16 - 2 * kBits));
  return (pairs & kOne) | ((pairs & (kOne << kBits)) << (8 - kBits));
}

/// The bits of eight bytes that are 0 or 1: no two of the products meet.
template <>
std::uint64_t together<1>(std::uint64_t codes) {
  return codes * 0x0102040810204080U >> 56;
}

template <int kBits>
void pack_groups(const std::uint8_t* codes, std::size_t groups, std::byte* target) {
  for (std::size_t i = 0; i < groups; ++i) {
    std::uint64_t group = 0;
    std::memcpy(&group, codes + i * kCodesOfGroup, sizeof(group));
    const std::uint64_t packed = together<kBits>(group);
    std::memcpy(target + i * kBits, &packed, kBits);
  }
}

template <>
void pack_groups<4>(const std::uint8_t* codes, std::size_t groups, std::byte* target) {
  pack_nibbles(codes, groups * kCodesOfGroup / 2, as_numbers(target));
}

template <>
void pack_groups<2>(const std::uint8_t* codes, std::size_t groups, std::byte* target) {
  pack_quarters(codes, groups * kCodesOfGroup / 4, as_numbers(target));
}

template <int kBits>
void unpack_groups(const std::byte* source, std::size_t groups, std::uint8_t* codes) {
  for (std::size_t i = 0; i < groups; ++i) {
    std::uint64_t packed = 0;
    std::memcpy(&packed, source + i * kBits, kBits);
    const std::uint64_t group = apart<kBits>(packed);
    std::memcpy(codes + i * kCodesOfGroup, &group, sizeof(group));
  }
}

template <>
void unpack_groups<4>(const std::byte* source, std::size_t groups, std::uint8_t* codes) {
  unpack_nibbles(as_numbers(source), groups * kCodesOfGroup / 2, codes);
}

template <>
void unpack_groups<2>(const std::byte* source, std::size_t groups, std::uint8_t* codes) {
  unpack_quarters(as_numbers(source), groups * kCodesOfGroup / 4, codes);
}

/// Calls act with `bits`, 1 to 8, as a constant.
template <class Act, int... kBits>
void with_bits(int bits, const Act& act, std::integer_sequence<int, kBits...> /*below*/) {
  ((bits == kBits + 1 ? act(std::integral_constant<int, kBits + 1>()) : void()), ...);
}

}  // namespace

void pack_codes(std::span<const std::uint8_t> codes, int bits, std::span<std::byte> target) {
  const std::size_t groups = codes.size() / kCodesOfGroup;
  with_bits(
      bits,
      [&](auto constant) { pack_groups<constant>(codes.data(), groups, target.data()); },
      std::make_integer_sequence<int, 8>());
  CodeWriter rest(target.subspan(groups * static_cast<std::size_t>(bits)), bits);
  for (const std::uint8_t code : codes.subspan(groups * kCodesOfGroup)) {
    rest.put(code);
  }
  rest.finish();
}

void unpack_codes(std::span<const std::byte> source, int bits, std::span<std::uint8_t> codes) {
  const std::size_t groups = codes.size() / kCodesOfGroup;
  with_bits(
      bits,
      [&](auto constant) { unpack_groups<constant>(source.data(), groups, codes.data()); },
      std::make_integer_sequence<int, 8>());
  CodeReader rest(source.subspan(groups * static_cast<std::size_t>(bits)), bits);
  for (std::uint8_t& code : codes.subspan(groups * kCodesOfGroup)) {
    code = static_cast<std::uint8_t>(rest.get());
  }
  check_end(rest);
}

}  // namespace residuum
