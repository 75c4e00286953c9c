#pragma once
// This text says why no run of today's program meets what the theorem on late gradients asks for.

#include <string_view>

namespace residuum {

inline constexpr std::string_view kNoDelays =
    "workers exchange in lockstep so far: no run has late gradients";

}  // namespace residuum
