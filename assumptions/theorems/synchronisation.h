#pragma once
// These texts say why no run of today's program meets what the theorems on late and rare exchanges
// ask for.

#include <string_view>

namespace residuum {

inline constexpr std::string_view kNoDelays =
    "workers exchange in lockstep so far: no run has late gradients";
inline constexpr std::string_view kNoLocalSteps =
    "workers exchange in every iteration so far: no run takes local steps";

}  // namespace residuum
