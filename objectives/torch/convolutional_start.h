#pragma once
// The networks for CIFAR-10 with batch normalisation share this start.

#include "objectives/torch/network.h"

namespace residuum {

/// Weights of convolutions are normal with variance 2/fan-out, fan-out being outputs times kernel
/// size (He, Zhang, Ren, Sun, ICCV 2015); their biases are 0. Batch normalisation starts with
/// weights 1 and biases 0, the linear layer, called "fc", as torch's default.
Start convolutional_start(const Layer& layer, std::int64_t fan_in);

}  // namespace residuum
