#pragma once
// Benchmarks compare with these baselines: what training code does with libtorch's operators.

#include <cstddef>
#include <span>

namespace residuum {

/// Runs |x|.topk(k) on one thread, the selection as training code writes it. It returns the last
/// kept magnitude, so that nothing is optimised away. Requires 1 <= k <= x.size().
float torch_top_k(std::span<const float> x, std::size_t k);

/// Runs error feedback with Top-k as training code writes it with libtorch's operators, on one
/// thread: memory += scale * gradient; then the k largest entries are removed and the rest stays.
/// It returns the sum of the norms of gradient, accumulator and residual. Requires 1 <= k <=
/// memory.size().
float torch_error_feedback(std::span<float> memory,
                           std::span<const float> gradient,
                           float scale,
                           std::size_t k);

}  // namespace residuum
