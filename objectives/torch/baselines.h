#pragma once
// Benchmarks compare with these baselines: what training code does with libtorch's operators.

#include <cstddef>
#include <memory>
#include <span>

#include "objectives/network_module.h"

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

/// Error feedback with gTop-k on logistic regression. The data are synthetic, dense and binary,
/// because the cost depends on the shape alone. It runs on one thread.
class TorchLogistic {
 public:
  explicit TorchLogistic(const LogisticSetting& setting);
  TorchLogistic(const TorchLogistic&) = delete;
  TorchLogistic& operator=(const TorchLogistic&) = delete;
  TorchLogistic(TorchLogistic&&) = delete;
  TorchLogistic& operator=(TorchLogistic&&) = delete;
  ~TorchLogistic();

  /// Runs one iteration of all workers.
  void iterate();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace residuum
