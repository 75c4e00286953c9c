#include "objectives/torch/device.h"

#include <torch/cuda.h>
#include <torch/torch.h>

#include <string>
#include <string_view>
#include <system_error>

#include "core/error.h"
#include "core/text.h"

namespace residuum {

namespace {

/// Reads the N of "cuda:N"; nothing if the name is not of this form.
std::optional<int> index_in(std::string_view name) {
  constexpr std::string_view kPrefix = "cuda:";
  if (name.substr(0, kPrefix.size()) != kPrefix) {
    return std::nullopt;
  }
  const std::string_view digits = name.substr(kPrefix.size());
  const auto index = parsed<int>(digits);
  return index && *index >= 0 ? index : std::nullopt;
}

}  // namespace

int cuda_devices() { return static_cast<int>(torch::cuda::device_count()); }

NetworkDevice device_from(const Section& section, int local_rank, int devices) {
  const auto index = index_in(section.text("device", "auto"));
  const std::string name =
      index ? "cuda" : section.choice("device", {"auto", "cpu", "cuda", "cuda:N"}, "auto");
  if (name == "cuda" && devices == 0) {
    resource_error("{} is \"{}\", but this libtorch has no CUDA device; use \"auto\" or \"cpu\"",
                   section.where("device"),
                   section.text("device"));
  }
  if (index && *index >= devices) {
    resource_error("{} is \"cuda:{}\", but CUDA shows {} to this process, \"cuda:0\"{}",
                   section.where("device"),
                   *index,
                   devices == 1 ? "one device" : fmt::format("{} devices", devices),
                   devices == 1 ? "" : fmt::format(" to \"cuda:{}\"", devices - 1));
  }
  if (index) {
    return {.cuda = *index};
  }
  return name == "cpu" || devices == 0 ? NetworkDevice{}
                                       : NetworkDevice{.cuda = dealt_device(local_rank, devices)};
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
