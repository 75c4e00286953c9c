#pragma once
// make_networks turns a module of libtorch into a Network. The header includes libtorch, which
// costs half a minute of compilation per file.

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "objectives/torch/network.h"

namespace residuum {

/// A parameter has several tensors where modules share it: each is a view of the same numbers.
struct ModuleParameter {
  std::string name;
  std::vector<torch::Tensor> tensors;
};

/// A module as a network uses it. Its tensors keep their identity; `move_to` changes what they
/// hold.
class TorchModel {
 public:
  TorchModel() = default;
  TorchModel(const TorchModel&) = delete;
  TorchModel& operator=(const TorchModel&) = delete;
  TorchModel(TorchModel&&) = delete;
  TorchModel& operator=(TorchModel&&) = delete;
  virtual ~TorchModel() = default;

  /// Returns the parameters that are trained, in the order of the flat vector.
  virtual std::vector<ModuleParameter> parameters() const = 0;
  /// Returns running means and variances.
  virtual std::vector<torch::Tensor> running_statistics() const = 0;
  /// Takes all floating-point tensors to the device, in this type.
  virtual void move_to(torch::Device device, torch::Dtype type) = 0;
  virtual void train(bool is_training) = 0;
  /// Returns logits, or what the loss makes of an output; `labels` is for NetworkLoss::output, and
  /// undefined without labels.
  virtual torch::Tensor forward(const torch::Tensor& input, const torch::Tensor& labels) = 0;
  /// Names the file that the module comes from: what fails in it is a mistake of its author. Empty
  /// for modules of our own.
  virtual std::string origin() const { return {}; }
};

/// Builds a module that maps images (batch, channels, height, width), or the numbers of tokens
/// (batch, sequence), to one row of logits per label. It must be a function of its parameters, its
/// running statistics (running_mean, running_var) and its input alone: no random layers (dropout).
using BuildModule = std::function<torch::nn::Sequential()>;

/// Calls `build` once per precision that is needed. The parameters that torch draws are never used:
/// `start` gives the first ones.
Networks make_networks(const ImageShape& shape, BuildModule build, StartRule start = torch_start);

/// Does the same for a model of any kind. Its random layers, if it has any, take their numbers from
/// torch's generators, which Network::seed() sets.
using BuildModel = std::function<std::unique_ptr<TorchModel>()>;
Networks make_model_networks(BuildModel build, NetworkLoss loss);

/// Makes libtorch deterministic in the calling thread: one thread, no operation without a
/// deterministic kernel.
void be_deterministic();

/// Returns the line of a failure that says what failed: torch's messages have many.
std::string torch_failure(const std::exception& failure);

}  // namespace residuum
