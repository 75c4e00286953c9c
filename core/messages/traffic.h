#pragma once

#include <cstdint>

namespace residuum {

/// What an exchange costs: bytes that workers send to other workers, and messages on the critical
/// path. Counted per worker, also where two workers share a process; `bytes` is the part sent by
/// the workers of this process.
struct Traffic {
  std::uint64_t bytes = 0;
  std::uint64_t rounds = 0;
};

}  // namespace residuum
