#pragma once
// In DCT coordinates an objective is f~(v) = f(T'v) with the orthonormal T of
// core/vectors/block_dct.h: its gradient is T grad f(T'v), it starts at T w_0 and its minimiser is
// T x*. f and f~ have equal L, mu, sigma^2, f* and norms of residuals, so theorems hold for both
// alike. A selection by entries, such as Top-k, selects others.

#include <memory>

#include "core/config/section.h"
#include "core/objective.h"

namespace residuum {

/// Returns the objective in the coordinates of the blocks of its layers. A layer keeps its name,
/// its shape and its place.
std::unique_ptr<Objective> in_dct_coordinates(std::unique_ptr<Objective> objective);

/// Reads `coordinates` ("standard", or "dct"), and returns the objective in these.
std::unique_ptr<Objective> in_coordinates(const Section& section,
                                          std::unique_ptr<Objective> objective);

}  // namespace residuum
