#include "objectives/torch/baselines.h"

#include <torch/torch.h>

namespace residuum {

namespace {

/// Returns a view; nothing writes through it, though from_blob wants a mutable pointer.
torch::Tensor view_of(std::span<const float> x) {
  auto* const data = const_cast<float*>(x.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  return torch::from_blob(data, {static_cast<std::int64_t>(x.size())});
}

}  // namespace

float torch_top_k(std::span<const float> x, std::size_t k) {
  const torch::NoGradGuard no_grad;
  at::set_num_threads(1);
  const auto [values, indices] = view_of(x).abs().topk(static_cast<std::int64_t>(k));
  return values[-1].item<float>();
}

float torch_error_feedback(std::span<float> memory,
                           std::span<const float> gradient,
                           float scale,
                           std::size_t k) {
  const torch::NoGradGuard no_grad;
  at::set_num_threads(1);
  auto accumulator = view_of(memory);
  const auto step = view_of(gradient);
  accumulator.add_(step, scale);
  const auto norms = step.norm() + accumulator.norm();
  const auto [magnitudes, indices] = accumulator.abs().topk(static_cast<std::int64_t>(k));
  const auto sent = accumulator.index_select(0, indices);
  accumulator.index_fill_(0, indices, 0);
  return (norms + accumulator.norm()).item<float>();
}

}  // namespace residuum
