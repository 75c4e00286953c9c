#pragma once
// The triad is the floor under every pass over an accumulator: two streams read, one written.

#include <span>

namespace residuum {

/// Computes m := m + scale * g in the widest vectors of the machine; 12 bytes per entry. Nothing is
/// fetched ahead by hand, as in STREAM.
void triad(std::span<float> m, std::span<const float> g, float scale);

}  // namespace residuum
