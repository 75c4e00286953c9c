#pragma once
// The start of networks with batch normalisation, shared by those for CIFAR-10.

#include "objectives/torch/network.h"

namespace residuum {

/// Convolutions: normal with variance 2/fan-out, outputs times kernel size (He, Zhang, Ren, Sun,
/// ICCV 2015), their biases 0. Batch normalisation: weights 1, biases 0. The linear layer, which is
/// called "fc": as torch does.
Start convolutional_start(const Layer& layer, std::int64_t fan_in);

}  // namespace residuum
