#pragma once
// Sparsifiers that select by blocks of consecutive entries read the length of a block here.

#include <cstdint>
#include <limits>

#include "core/config/section.h"

namespace residuum {

/// Reads `block`, the entries in a block; the last block of a vector may have fewer.
inline std::uint32_t block_from(const Section& section, std::int64_t fallback) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::int64_t block = section.integer("block", fallback);
  require(block >= 1 && block <= kMost,
          "{} must lie between 1 and {}, got {}",
          section.where("block"),
          kMost,
          block);
  return static_cast<std::uint32_t>(block);
}

}  // namespace residuum
