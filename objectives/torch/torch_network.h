#pragma once
// The one way from a module of libtorch to a Network. Includes libtorch: half a minute per file.

#include <torch/torch.h>

#include <functional>

#include "objectives/torch/network.h"

namespace residuum {

/// Builds a module that maps images (batch, channels, height, width), or the numbers of tokens
/// (batch, sequence), to one row of logits per label. It must be a function of its parameters, its
/// running statistics (running_mean, running_var) and its input alone: no random layers (dropout).
using BuildModule = std::function<torch::nn::Sequential()>;

/// `build` is called once per precision that is wanted. What torch draws for the parameters is
/// never used: `start` says what they are at first.
Networks make_networks(const ImageShape& shape, BuildModule build, StartRule start = torch_start);

}  // namespace residuum
