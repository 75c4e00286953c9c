#pragma once
// A TorchScript file has a module of PyTorch with its code: torch.jit.script(module).save(file). To
// load it is to execute code of its author. This header names no type of libtorch.

#include <memory>
#include <string>

#include "objectives/torch/network.h"

namespace residuum {

struct ScriptFile {
  std::string name;
  std::string bytes;
};

/// Makes networks of the module in a file. Its parameters that require a gradient are the layers,
/// in the order of named_parameters(), under these names; a parameter that modules share is one
/// layer, under its first name. Frozen parameters and buffers stay as they were saved, but running
/// means and variances of batch normalisation are the statistics of a network. Floating-point
/// tensors take the precision of the network. w_0 is that of the file.
///
/// A file that is no TorchScript, a module without forward() or parameters, and parameters that are
/// no real floating-point numbers or overlap in memory are usage errors that name the file. Shape
/// and what only a look at samples shows are not filled in: see script_objective.cc.
Networks script_networks(std::shared_ptr<const ScriptFile> file, NetworkLoss loss);

}  // namespace residuum
