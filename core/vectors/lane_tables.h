#pragma once
// These tables order the lanes of a vector by a mask: the lanes of the mask first, then the others.

#include <array>
#include <cstddef>
#include <cstdint>

namespace residuum::lanes {

/// Returns the numbers 0 to kLanes - 1: first those whose bit is set, then the others, both rising.
template <std::size_t kLanes>
constexpr std::array<std::uint8_t, kLanes> set_lanes_first(std::size_t bits) {
  std::array<std::uint8_t, kLanes> order{};
  std::size_t at = 0;
  for (const std::size_t wanted : {std::size_t{1}, std::size_t{0}}) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (((bits >> lane) & 1U) == wanted) {
        order[at++] = static_cast<std::uint8_t>(lane);
      }
    }
  }
  return order;
}

/// A row for each mask of eight lanes. Masks of fewer lanes use the first rows.
constexpr std::array<std::array<std::uint8_t, 8>, 256> lanes_first_table() {
  std::array<std::array<std::uint8_t, 8>, 256> table{};
  for (std::size_t bits = 0; bits < table.size(); ++bits) {
    table[bits] = set_lanes_first<8>(bits);
  }
  return table;
}
inline constexpr auto kLanesFirst = lanes_first_table();

/// The same for the 16 bytes of a vector with lanes of kLaneBytes, a row for each mask of lanes.
struct alignas(16) ByteOrder : std::array<std::uint8_t, 16> {};
template <std::size_t kLaneBytes>
constexpr std::array<ByteOrder, (std::size_t{1} << (16 / kLaneBytes))> bytes_first_table() {
  std::array<ByteOrder, (std::size_t{1} << (16 / kLaneBytes))> table{};
  for (std::size_t bits = 0; bits < table.size(); ++bits) {
    const auto lanes = set_lanes_first<16 / kLaneBytes>(bits);
    for (std::size_t byte = 0; byte < 16; ++byte) {
      table[bits][byte] =
          static_cast<std::uint8_t>(lanes[byte / kLaneBytes] * kLaneBytes + byte % kLaneBytes);
    }
  }
  return table;
}
template <std::size_t kLaneBytes>
inline constexpr auto kBytesFirst = bytes_first_table<kLaneBytes>();

}  // namespace residuum::lanes
