#pragma once
// make_networks turns a module of libtorch into a Network. The header includes libtorch, which
// costs half a minute of compilation per file.

#include <torch/torch.h>

#include <functional>

#include "objectives/torch/network.h"

namespace residuum {

/// Builds a module that maps images (batch, channels, height, width), or the numbers of tokens
/// (batch, sequence), to one row of logits per label. It must be a function of its parameters, its
/// running statistics (running_mean, running_var) and its input alone: no random layers (dropout).
using BuildModule = std::function<torch::nn::Sequential()>;

/// Calls `build` once per precision that is needed. What torch draws for the parameters is never
/// used: `start` says what they are at first.
Networks make_networks(const ImageShape& shape, BuildModule build, StartRule start = torch_start);

}  // namespace residuum
