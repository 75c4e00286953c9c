// This is the entry point of the shared library of networks, which objectives/network_module.cc
// loads.

#include <array>
#include <memory>
#include <utility>

#include "objectives/network_module.h"
#include "objectives/torch/baselines.h"
#include "objectives/torch/device.h"
#include "objectives/torch/models.h"

namespace residuum {
namespace {

using Make = std::unique_ptr<Objective> (*)(const Section&, const ObjectiveContext&);

constexpr auto kMakers =
    std::to_array<std::pair<std::string_view, Make>>({{"mlp", make_mlp},
                                                      {"lenet", make_lenet},
                                                      {"resnet20", make_resnet20},
                                                      {"resnet", make_resnet},
                                                      {"vgg16", make_vgg16},
                                                      {"alexnet", make_alexnet},
                                                      {"lstm", make_lstm},
                                                      {"gpt", make_gpt},
                                                      {"torchscript", make_torchscript}});

class TorchModule final : public NetworkModule {
 public:
  std::unique_ptr<Objective> make(std::string_view name,
                                  const Section& section,
                                  const ObjectiveContext& context) const override {
    for (const auto& [known, maker] : kMakers) {
      if (known == name) {
        return maker(section, context);
      }
    }
    return nullptr;
  }

  int cuda_devices() const override { return residuum::cuda_devices(); }
  std::optional<int> cuda_device(const std::string& device, int local_rank) const override {
    const Section section("objective", {{"device", device}});
    return device_from(section, local_rank, cuda_devices()).cuda;
  }
  float top_k(std::span<const float> x, std::size_t k) const override { return torch_top_k(x, k); }

  float error_feedback(std::span<float> memory,
                       std::span<const float> gradient,
                       float scale,
                       std::size_t k) const override {
    return torch_error_feedback(memory, gradient, scale, k);
  }

  std::function<void()> device_top_k(std::span<const float> x, std::size_t k) const override {
    return torch_device_top_k(x, k);
  }

  std::function<void()> logistic(const LogisticSetting& setting) const override {
    return [training = std::make_shared<TorchLogistic>(setting)] { training->iterate(); };
  }
};

}  // namespace
}  // namespace residuum

// NOLINTNEXTLINE(readability-identifier-naming): its name has the version in it
extern "C" const residuum::NetworkModule* RESIDUUM_NETWORK_ENTRY_NAME() {
  static const residuum::TorchModule module;
  return &module;
}
