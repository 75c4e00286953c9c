// A module from a TorchScript file is run by torch's interpreter without its optimiser, which would
// profile the first calls and fuse operations in later ones: their bits would differ. Gradients are
// those of autograd, operation by operation, as in Python.

#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/script.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "objectives/torch/network_options.h"
#include "objectives/torch/script_network.h"
#include "objectives/torch/torch_network.h"

namespace residuum {
namespace {

/// Standard output is for results.
void print_to_stderr(const std::string& text) { std::fputs(text.c_str(), stderr); }

torch::jit::Module load_script(const ScriptFile& file) {
  torch::jit::setPrintHandler(&print_to_stderr);
  std::istringstream bytes(file.bytes);
  try {
    return torch::jit::load(bytes, torch::kCPU);
  } catch (const std::exception& failed) {
    usage_error(
        "{}: is no TorchScript file ({}); write it by torch.jit.script(module).save(\"model.pt\"), "
        "not by torch.save",
        file.name,
        harmless(torch_failure(failed)));
  }
}

bool is_running_statistic(const std::string& name) {
  return name.ends_with("running_mean") || name.ends_with("running_var");
}

/// True if both are views of the same numbers. Shared parameters come out of a file as one tensor,
/// or as several with one storage.
bool are_shared(const torch::Tensor& a, const torch::Tensor& b) {
  return a.is_same(b) || (a.is_alias_of(b) && a.data_ptr() == b.data_ptr() &&
                          a.sizes() == b.sizes() && a.strides() == b.strides());
}

/// Counts the arguments of forward() that have no default, without the module itself.
std::size_t needed_arguments(const torch::jit::Method& forward) {
  const auto& arguments = forward.function().getSchema().arguments();
  return static_cast<std::size_t>(
      std::count_if(arguments.begin() + 1, arguments.end(), [](const c10::Argument& argument) {
        return !argument.default_value().has_value();
      }));
}

/// Returns whether batch normalisation weighs all batches alike (momentum=None): then its
/// statistics depend on how many batches there were, which no worker keeps.
bool averages_all_batches(const torch::jit::Module& module) {
  if (!module.hasattr("num_batches_tracked") || !module.hasattr("running_mean")) {
    return false;
  }
  const auto type = module._ivalue()->type();
  if (type->hasConstant("momentum")) {
    return type->getConstant("momentum").isNone();
  }
  return !module.hasattr("momentum") || module.attr("momentum").isNone();
}

class ScriptModel final : public TorchModel {
 public:
  explicit ScriptModel(const ScriptFile& file) : name_(file.name), module_(load_script(file)) {
    const auto forward = module_.find_method("forward");
    require(forward.has_value(), "{}: its module has no forward()", name_);
    arguments_ = needed_arguments(*forward);
    collect_parameters();
    for (const auto& buffer : module_.named_buffers()) {
      if (is_running_statistic(buffer.name)) {
        statistics_.push_back(buffer.value);
      }
    }
    for (const torch::jit::Module& inner : module_.modules()) {
      require(
          !averages_all_batches(inner),
          "{}: a batch normalisation has momentum=None, whose statistics depend on the number of "
          "batches; give it a momentum, such as 0.1",
          name_);
    }
  }

  std::vector<ModuleParameter> parameters() const override { return parameters_; }
  std::vector<torch::Tensor> running_statistics() const override { return statistics_; }

  void move_to(torch::Device device, torch::Dtype type) override {
    const auto move = [&](torch::Tensor tensor) {
      tensor.set_data(tensor.to(device, tensor.is_floating_point() ? type : tensor.scalar_type()));
    };
    for (const auto& parameter : module_.named_parameters()) {
      move(parameter.value);
    }
    for (const auto& buffer : module_.named_buffers()) {
      move(buffer.value);
    }
  }

  void train(bool is_training) override {
    module_.train(is_training);
    is_training_ = is_training;
  }

  torch::Tensor forward(const torch::Tensor& input, const torch::Tensor& labels) override {
    const torch::jit::GraphOptimizerEnabledGuard no_optimiser(/*state=*/false);
    std::vector<torch::jit::IValue> given{input};
    if (labels.defined()) {
      given.emplace_back(labels);
    }
    require(arguments_ <= given.size(),
            "{}: forward() takes {} arguments, and gets {}; the inputs, and with loss = \"output\" "
            "the labels, if there are any",
            name_,
            arguments_,
            given.size());
    const bool looks = is_training_ && !has_looked_;
    const std::vector<Buffer> before = looks ? buffers() : std::vector<Buffer>();
    const torch::jit::IValue output = module_.forward(std::move(given));
    require(
        output.isTensor(), "{}: forward() returns no tensor, but a {}", name_, output.tagKind());
    if (looks) {
      check_buffers(before);
      has_looked_ = true;
    }
    return output.toTensor();
  }

  std::string origin() const override { return name_; }

 private:
  struct Buffer {
    std::string name;
    torch::Tensor tensor;
    std::uint32_t version = 0;
  };

  std::vector<Buffer> buffers() const {
    std::vector<Buffer> all;
    for (const auto& buffer : module_.named_buffers()) {
      const torch::Tensor tensor = buffer.value;
      all.push_back({.name = buffer.name,
                     .tensor = tensor,
                     .version = static_cast<std::uint32_t>(tensor._version())});
    }
    return all;
  }

  /// A gradient must be a function of parameters, statistics and samples: of the other buffers only
  /// the count of batches, which nothing reads, may change.
  void check_buffers(const std::vector<Buffer>& before) const {
    const std::vector<Buffer> after = buffers();
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool may_change =
          is_running_statistic(before[i].name) || before[i].name.ends_with("num_batches_tracked");
      const bool changed =
          !before[i].tensor.is_same(after[i].tensor) || before[i].version != after[i].version;
      require(may_change || !changed,
              "{}: forward() changes the buffer '{}'; only running_mean and running_var of batch "
              "normalisation may change",
              name_,
              before[i].name);
    }
  }

  void collect_parameters() {
    bool has_any = false;
    for (const auto& parameter : module_.named_parameters()) {
      const torch::Tensor tensor = parameter.value;
      has_any = true;
      require(tensor.is_floating_point(),
              "{}: parameter '{}' is of type {}; parameters are real floating-point numbers",
              name_,
              parameter.name,
              c10::toString(tensor.scalar_type()));
      if (tensor.requires_grad() && tensor.numel() > 0) {
        add_parameter(parameter.name, tensor);
      }
    }
    require(has_any, "{}: its module has no parameters, so there is nothing to train", name_);
    require(!parameters_.empty(),
            "{}: all parameters of its module are frozen (requires_grad is False), so there is "
            "nothing to train",
            name_);
  }

  void add_parameter(const std::string& name, const torch::Tensor& tensor) {
    for (ModuleParameter& known : parameters_) {
      torch::Tensor& first = known.tensors.front();
      if (are_shared(first, tensor)) {
        if (!first.is_same(tensor)) {
          known.tensors.push_back(tensor);
        }
        return;
      }
      require(!first.is_alias_of(tensor),
              "{}: parameters '{}' and '{}' are different views of the same numbers",
              name_,
              known.name,
              name);
    }
    parameters_.push_back({.name = name, .tensors = {tensor}});
  }

  std::string name_;
  torch::jit::Module module_;
  std::size_t arguments_ = 1;
  std::vector<ModuleParameter> parameters_;
  std::vector<torch::Tensor> statistics_;
  bool is_training_ = true;
  bool has_looked_ = false;
};

/// Returns the parameters as they were saved, rounded to float.
std::vector<double> saved_numbers(const std::vector<ModuleParameter>& parameters) {
  std::vector<double> numbers;
  for (const auto& parameter : parameters) {
    const torch::Tensor flat =
        parameter.tensors.front().detach().to(torch::kFloat32).contiguous().flatten();
    const auto* const begin = flat.data_ptr<float>();
    numbers.insert(numbers.end(), begin, begin + flat.numel());
  }
  return numbers;
}

}  // namespace

Networks script_networks(std::shared_ptr<const ScriptFile> file, NetworkLoss loss) {
  be_deterministic();
  const ScriptModel model(*file);
  double count = 0;
  for (const auto& parameter : model.parameters()) {
    count += static_cast<double>(parameter.tensors.front().numel());
  }
  check_parameters(count, file->name);
  Networks networks = make_model_networks(
      [file = std::move(file)] { return std::make_unique<ScriptModel>(*file); }, loss);
  networks.saved_start = saved_numbers(model.parameters());
  if (loss == NetworkLoss::output) {
    networks.lower_bound = std::nullopt;
  }
  networks.averaging = "(by the momentum of each layer)";
  return networks;
}

}  // namespace residuum
