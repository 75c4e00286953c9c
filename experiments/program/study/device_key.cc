#include "experiments/program/study/device_key.h"

#include <string_view>
#include <system_error>

#include "core/gradient_source.h"
#include "core/text.h"

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
  const auto index = parsed<int>(digits);
  return index && *index >= 0 ? index : std::nullopt;
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

Place place_of_gradients(const Objective& objective) {
  if (const GradientSource* const source = objective.source()) {
    return source->place();
  }
  if (const DeviceGradients* const gradients = objective.on_device()) {
    return {.kind = Place::Kind::cuda, .index = gradients->device_index()};
  }
  return {};
}

bool wants_device(const WantedDevice& wanted, const Objective& objective, const Section& workers) {
  using Kind = WantedDevice::Kind;
  const Place gradients = place_of_gradients(objective);
  const bool are_there = gradients.kind != Place::Kind::host;
  if (wanted.kind == Kind::automatic || wanted.kind == Kind::host) {
    return wanted.kind == Kind::automatic && are_there;
  }
  const bool is_apart =
      are_there && ((wanted.kind == Kind::stand_in) != (gradients.kind == Place::Kind::stand_in) ||
                    wanted.index.value_or(gradients.index) != gradients.index);
  require(!is_apart,
          "{}: gradients are computed on {}; use \"auto\", or \"cpu\"",
          workers.where(kDeviceKey),
          gradients.kind == Place::Kind::cuda ? fmt::format("cuda:{}", gradients.index)
                                              : std::string("the stand-in"));
  return true;
}

}  // namespace residuum
