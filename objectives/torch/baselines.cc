#include "objectives/torch/baselines.h"

#include <torch/torch.h>

namespace residuum {

std::string torch_version() { return TORCH_VERSION; }

float torch_top_k(std::span<const float> x, std::size_t k) {
  const torch::NoGradGuard no_grad;
  at::set_num_threads(1);
  // from_blob wants a mutable pointer; nothing writes through it.
  auto* const data = const_cast<float*>(x.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  const auto view = torch::from_blob(data, {static_cast<std::int64_t>(x.size())});
  const auto [values, indices] = view.abs().topk(static_cast<std::int64_t>(k));
  return values[-1].item<float>();
}

}  // namespace residuum
