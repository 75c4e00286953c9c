#include "objectives/torch/device.h"

#include <torch/cuda.h>
#include <torch/torch.h>

#include "core/error.h"

namespace residuum {

bool torch_has_cuda() { return torch::cuda::is_available(); }

Device device_from(const Section& section) {
  const auto name = section.choice("device", {"auto", "cpu", "cuda"}, "auto");
  if (name == "cuda" && !torch_has_cuda()) {
    resource_error("{} is \"cuda\", but this libtorch has no CUDA device; use \"auto\" or \"cpu\"",
                   section.where("device"));
  }
  return name == "cpu" || !torch_has_cuda() ? Device::cpu : Device::cuda;
}

std::function<void()> torch_device_top_k(std::span<const float> x, std::size_t k) {
  // from_blob wants a mutable pointer; nothing writes through it.
  auto* const data = const_cast<float*>(x.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  const auto there = torch::from_blob(data, {static_cast<std::int64_t>(x.size())}).to(torch::kCUDA);
  return [there, k] {
    const torch::NoGradGuard no_grad;
    const auto selected = there.abs().topk(static_cast<std::int64_t>(k));
    torch::cuda::synchronize();
  };
}

}  // namespace residuum
