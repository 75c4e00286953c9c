#pragma once
// The one way from a module of libtorch to a Network. Includes libtorch: half a minute per file.

#include <torch/torch.h>

#include <functional>

#include "objectives/torch/device.h"
#include "objectives/torch/network.h"

namespace residuum {

/// Builds a module that maps images (batch, channels, height, width) to logits (batch, classes). It
/// must be a function of its parameters and input alone: no buffers (batch normalisation), no
/// random layers (dropout).
using BuildModule = std::function<torch::nn::Sequential()>;

/// Calls `build` once per precision. What torch draws for the parameters is never used.
Networks make_networks(const ImageShape& shape, const BuildModule& build, Device device);

}  // namespace residuum
