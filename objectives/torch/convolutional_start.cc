#include "objectives/torch/convolutional_start.h"

#include <cmath>

namespace residuum {

Start convolutional_start(const Layer& layer, std::int64_t fan_in) {
  if (layer.name.starts_with("fc")) {
    return torch_start(layer, fan_in);
  }
  if (layer.shape.size() == 4) {
    const auto fan_out = static_cast<double>(layer.shape[0] * layer.shape[2] * layer.shape[3]);
    return {.law = Start::Law::normal, .scale = std::sqrt(2 / fan_out)};
  }
  return {.law = Start::Law::constant, .scale = layer.name.ends_with("weight") ? 1.0 : 0.0};
}

}  // namespace residuum
