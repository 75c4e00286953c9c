#pragma once
// What libtorch itself would do: its operators as baselines for benchmarks.

#include <cstddef>
#include <span>

namespace residuum {

/// |x|.topk(k) on one thread, the selection as training code writes it; returns the last kept
/// magnitude, so that nothing is optimised away. Requires 1 <= k <= x.size().
float torch_top_k(std::span<const float> x, std::size_t k);

/// Error feedback with Top-k as training code writes it with libtorch's operators, on one thread:
/// memory += scale * gradient, the k largest of it are taken out and the rest stays. Returns the
/// sum of the norms of gradient, accumulator and residual. Requires 1 <= k <= memory.size().
float torch_error_feedback(std::span<float> memory,
                           std::span<const float> gradient,
                           float scale,
                           std::size_t k);

}  // namespace residuum
