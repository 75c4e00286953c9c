#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace residuum {

/// Writes the words of `blocks` successive blocks of Philox4x32-10, four each, to `words`. The
/// first block is that of `counter`; its first number is the one that counts blocks.
void philox_words(const std::array<std::uint32_t, 2>& key,
                  const std::array<std::uint32_t, 4>& counter,
                  std::size_t blocks,
                  std::uint32_t* words);

}  // namespace residuum
