#include "experiments/program/study/device_key.h"

#include <charconv>
#include <string_view>
#include <system_error>

namespace residuum {
namespace {

constexpr const char* kDeviceKey = "device";

/// Reads the N of "cuda:N"; nothing if the text is not of this form.
std::optional<int> index_in(std::string_view text) {
  constexpr std::string_view kPrefix = "cuda:";
  if (!text.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const std::string_view digits = text.substr(kPrefix.size());
  int index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  return is_number && index >= 0 ? std::optional(index) : std::nullopt;
}

}  // namespace

WantedDevice read_wanted_device(const Section& workers) {
  using Kind = WantedDevice::Kind;
  if (!workers.has(kDeviceKey)) {
    return {};
  }
  if (const auto index = index_in(workers.text(kDeviceKey))) {
    return {.kind = Kind::cuda, .index = index};
  }
  const std::string name =
      workers.choice(kDeviceKey, {"auto", "cpu", "cuda", "cuda:N", "stand-in"});
  require(name != "cuda:N", "{}: N is a number, as in \"cuda:0\"", workers.where(kDeviceKey));
  return {.kind = name == "cpu"        ? Kind::host
                  : name == "cuda"     ? Kind::cuda
                  : name == "stand-in" ? Kind::stand_in
                                       : Kind::automatic};
}

bool wants_device(const WantedDevice& wanted, const Objective& objective, const Section& workers) {
  using Kind = WantedDevice::Kind;
  const DeviceGradients* const gradients = objective.on_device();
  if (wanted.kind == Kind::automatic || wanted.kind == Kind::host) {
    return wanted.kind == Kind::automatic && gradients != nullptr;
  }
  const bool is_apart = gradients != nullptr && (wanted.kind == Kind::stand_in ||
                                                 wanted.index.value_or(gradients->device_index()) !=
                                                     gradients->device_index());
  require(!is_apart,
          "{}: gradients are computed on cuda:{}; use \"auto\", or \"cpu\"",
          workers.where(kDeviceKey),
          is_apart ? gradients->device_index() : 0);
  return true;
}

}  // namespace residuum
