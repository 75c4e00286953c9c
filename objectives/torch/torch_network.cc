// Parameters, gradients and running statistics of a libtorch module are views of flat tensors, so
// that a step copies d numbers in and d numbers out and never walks over tensors. They are in the
// order of named_parameters() and of named_buffers().
//
// Results are deterministic: there is one thread, also in the BLAS behind libtorch, and only
// operations that torch declares deterministic are used. The same machine gives the same bits at
// every call; another thread count or instruction set may round sums differently. On a CUDA device
// products are not shortened to TF32, and where torch has no deterministic kernel (the backward
// pass of max-pooling) it warns.

#include "objectives/torch/torch_network.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <malloc.h>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/error.h"

namespace residuum {
namespace {

template <class Real>
constexpr torch::Dtype kDtype = std::is_same_v<Real, float> ? torch::kFloat32 : torch::kFloat64;

/// Sets OpenBLAS's own thread count, which torch does not know of. Other BLAS libraries lack the
/// function, and the reference BLAS has no threads.
void use_one_blas_thread() {
  // dlsym returns an object pointer for functions too: POSIX wants this cast.
  if (void* found = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"); found != nullptr) {
    reinterpret_cast<void (*)(int)>(found)(1);
  }
}

/// Sets what cuBLAS needs to be deterministic; it must be set before its first use.
void use_full_cuda_precision() {
  constexpr int kKeepTheUsers = 0;
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", kKeepTheUsers);  // NOLINT(concurrency-mt-unsafe)
  at::globalContext().setAllowTF32CuBLAS(false);
  at::globalContext().setAllowTF32CuDNN(false);
}

/// Lets malloc keep what tensors free for the next ones. By default it hands the top of the heap
/// and large blocks back to the system, so that every step of a training asks for the same pages
/// again: a sixth of the time of a small transformer.
void keep_freed_memory() {
  constexpr int kLargestFromHeap = 32 << 20;  // malloc takes no larger threshold
  constexpr int kKept = 512 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargestFromHeap);
  mallopt(M_TRIM_THRESHOLD, kKept);
}

std::vector<Layer> layer_table(const std::vector<ModuleParameter>& parameters) {
  std::vector<Layer> layers;
  std::size_t offset = 0;
  for (const auto& parameter : parameters) {
    const torch::Tensor& tensor = parameter.tensors.front();
    const auto size = static_cast<std::size_t>(tensor.numel());
    layers.push_back({parameter.name, tensor.sizes().vec(), offset, size});
    offset += size;
  }
  return layers;
}

torch::Tensor part(const torch::Tensor& flat, const Layer& layer) {
  const auto offset = static_cast<std::int64_t>(layer.offset);
  return flat.narrow(0, offset, static_cast<std::int64_t>(layer.size)).view(layer.shape);
}

/// A module of our own.
class SequentialModel final : public TorchModel {
 public:
  explicit SequentialModel(torch::nn::Sequential module) : module_(std::move(module)) {}

  std::vector<ModuleParameter> parameters() const override {
    std::vector<ModuleParameter> all;
    for (const auto& parameter : module_->named_parameters()) {
      all.push_back({.name = parameter.key(), .tensors = {parameter.value()}});
    }
    return all;
  }

  /// Returns means and variances without the third buffer of batch normalisation, in which it
  /// counts its batches.
  std::vector<torch::Tensor> running_statistics() const override {
    std::vector<torch::Tensor> running;
    for (const auto& buffer : module_->named_buffers()) {
      const std::string& name = buffer.key();
      if (name.ends_with("running_mean") || name.ends_with("running_var")) {
        running.push_back(buffer.value());
      }
    }
    return running;
  }

  void move_to(torch::Device device, torch::Dtype type) override { module_->to(device, type); }
  void train(bool is_training) override { module_->train(is_training); }
  torch::Tensor forward(const torch::Tensor& input, const torch::Tensor& /*labels*/) override {
    return module_->forward(input);
  }

 private:
  torch::nn::Sequential module_;
};

/// Copies the buffers into one tensor and makes them views of it.
torch::Tensor flattened(std::vector<torch::Tensor> buffers, const torch::TensorOptions& where) {
  std::vector<torch::Tensor> pieces{torch::zeros({0}, where)};
  for (const auto& buffer : buffers) {
    pieces.push_back(buffer.flatten());
  }
  torch::Tensor flat = torch::cat(pieces);
  std::int64_t offset = 0;
  for (auto& buffer : buffers) {
    buffer.set_data(flat.narrow(0, offset, buffer.numel()).view(buffer.sizes()));
    offset += buffer.numel();
  }
  return flat;
}

/// Counts correct labels. Comparisons with NaN are false, so an image with a NaN among its logits
/// is never correct.
template <class Real>
bool is_correct(std::span<const Real> logits, std::size_t label) {
  for (std::size_t c = 0; c < logits.size(); ++c) {
    const bool beaten = c < label ? logits[c] < logits[label] : logits[c] <= logits[label];
    if (c != label && !beaten) {
      return false;
    }
  }
  return true;
}

bool is_out_of_memory(const std::string& failure) {
  return failure.find("not enough memory") != std::string::npos ||
         failure.find("out of memory") != std::string::npos;
}

/// Runs a call of a module from a file. A failure is reported in one line, as a mistake of the file
/// or a lack of memory.
template <class Action>
auto blaming(const std::string& origin, const Action& action) {
  if (origin.empty()) {
    return action();
  }
  try {
    return action();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& failed) {
    const std::string failure = torch_failure(failed);
    if (is_out_of_memory(failure)) {
      resource_error("{}: {}", origin, failure);
    }
    usage_error("{}: the module fails: {}", origin, failure);
  }
}

template <class Real>
class TorchNetwork final : public Network<Real> {
 public:
  TorchNetwork(std::unique_ptr<TorchModel> model, torch::Device device, NetworkLoss loss)
      : model_(std::move(model)),
        loss_(loss),
        layers_(layer_table(model_->parameters())),
        device_(device) {
    auto parameters = model_->parameters();
    model_->move_to(device_, kDtype<Real>);
    const auto here = torch::TensorOptions().dtype(kDtype<Real>).device(device_);
    statistics_ = flattened(model_->running_statistics(), here);
    const auto& last = layers_.back();
    const auto d = static_cast<std::int64_t>(last.offset + last.size);
    parameters_ = torch::zeros({d}, here);
    gradient_ = torch::zeros({d}, here);
    gradient_on_host_ = device_.is_cpu() ? gradient_ : torch::zeros({d}, kDtype<Real>);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      for (torch::Tensor& tensor : parameters[i].tensors) {
        tensor.set_data(part(parameters_, layers_[i]));
        tensor.mutable_grad() = part(gradient_, layers_[i]);
      }
    }
  }

  const std::vector<Layer>& layers() const override { return layers_; }

  void load(std::span<const Real> w) override {
    assert(w.size() == static_cast<std::size_t>(parameters_.numel()));
    be_deterministic();
    // from_blob wants a mutable pointer; nothing writes through it.
    auto* const data =
        const_cast<Real*>(w.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    parameters_.copy_(torch::from_blob(data, parameters_.sizes(), kDtype<Real>));
    gradient_.zero_();
  }

  void load_there(DeviceSpan w) override {
    be_deterministic();
    // from_blob wants a mutable pointer; nothing writes through it.
    auto* const data = const_cast<float*>(w.data);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    parameters_.copy_(numbers_at(data, w.size));
    gradient_.zero_();
  }

  void seed(std::uint64_t seed) override { torch::manual_seed(seed); }

  std::vector<double> statistics() const override {
    const torch::Tensor here = statistics_.to(torch::kCPU);
    const Real* const begin = here.data_ptr<Real>();
    return {begin, begin + here.numel()};
  }

  void load_statistics(std::span<const double> statistics) override {
    assert(statistics.size() == static_cast<std::size_t>(statistics_.numel()));
    auto* const data =
        const_cast<double*>(statistics.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    statistics_.copy_(torch::from_blob(data, statistics_.sizes(), torch::kFloat64));
  }

  BatchLoss loss(Batch<Real>& batch) override {
    be_deterministic();
    const torch::NoGradGuard no_gradient;
    return blaming(model_->origin(), [&] {
      const torch::Tensor there = forward(batch, Phase::evaluation);
      BatchLoss result{.sum = sum(losses(there, batch), batch)};
      if (loss_ == NetworkLoss::cross_entropy) {
        count_correct(there, batch, result);
      } else {
        result.outputs = static_cast<std::size_t>(there.numel()) / batch.samples();
      }
      return result;
    });
  }

  double add_gradient(Batch<Real>& batch, Real scale, Phase phase) override {
    be_deterministic();
    return blaming(model_->origin(), [&] {
      const torch::Tensor each = losses(forward(batch, phase), batch);
      each.backward(torch::full_like(each, weight_of(batch, scale)));
      return sum(each.detach(), batch);
    });
  }

  void tell_ready_layers(std::function<void(std::size_t layer)> listener) override {
    auto parameters = model_->parameters();
    for (std::size_t l = 0; l < parameters.size(); ++l) {
      for (torch::Tensor& tensor : parameters[l].tensors) {
        tensor.register_hook([this, l, listener](const torch::Tensor& /*gradient*/) {
          if (!device_.is_cpu()) {
            torch::cuda::synchronize(
                device_.index());  // until here the device has only been asked for it
          }
          listener(l);
        });
      }
    }
  }

  std::span<const Real> gradient() const override {
    if (!device_.is_cpu()) {
      gradient_on_host_.copy_(gradient_);
    }
    return {gradient_on_host_.data_ptr<Real>(), static_cast<std::size_t>(gradient_.numel())};
  }

  /// The copy is queued on the default stream, for which kernels of other streams wait.
  void gradient_there(DeviceRoom room) const override {
    numbers_at(room.data, room.size).copy_(gradient_);
  }

 private:
  /// Returns numbers of the network's device as a tensor.
  torch::Tensor numbers_at(float* data, std::size_t size) const {
    assert(size == static_cast<std::size_t>(parameters_.numel()));
    return torch::from_blob(data,
                            {static_cast<std::int64_t>(size)},
                            torch::TensorOptions().dtype(torch::kFloat32).device(device_));
  }

  torch::Tensor forward(Batch<Real>& batch, Phase phase) {
    if (phase_ != phase) {
      model_->train(phase == Phase::training);
      phase_ = phase;
    }
    // The input is copied because torch's memory starts at multiples of 64 bytes, a vector's
    // anywhere in the heap: with a copy, the way a kernel splits its loops cannot depend on the
    // history of the heap.
    const torch::Tensor input = input_of(batch).to(device_, /*non_blocking=*/false, /*copy=*/true);
    return loss_ == NetworkLoss::output ? samples_loss(input, batch)
                                        : model_->forward(input, torch::Tensor());
  }

  /// Returns the module's own loss, which is the mean over the batch, times its samples.
  torch::Tensor samples_loss(const torch::Tensor& input, Batch<Real>& batch) {
    const torch::Tensor labels = labels_of(batch);
    const torch::Tensor mean =
        model_->forward(input, labels.defined() ? labels.to(device_, false, true) : labels);
    require(
        mean.numel() == 1 && mean.is_floating_point(),
        "{}: with loss = \"output\" the module returns one number, the mean loss of a batch; it "
        "returns a tensor of shape ({})",
        model_->origin(),
        fmt::join(mean.sizes(), ", "));
    return mean.reshape({});
  }

  static torch::Tensor input_of(Batch<Real>& batch) {
    std::vector<std::int64_t> sizes{static_cast<std::int64_t>(batch.samples())};
    sizes.insert(sizes.end(), batch.shape.begin(), batch.shape.end());
    if (!batch.tokens.empty()) {
      return torch::from_blob(batch.tokens.data(), sizes, torch::kInt64);
    }
    return torch::from_blob(batch.pixels.data(), sizes, kDtype<Real>);
  }

  /// Returns labels or targets of shape (samples, ...); undefined where the batch has neither.
  static torch::Tensor labels_of(Batch<Real>& batch) {
    std::vector<std::int64_t> sizes{static_cast<std::int64_t>(batch.samples())};
    sizes.insert(sizes.end(), batch.label_shape.begin(), batch.label_shape.end());
    if (!batch.targets.empty()) {
      return torch::from_blob(batch.targets.data(), sizes, kDtype<Real>);
    }
    return batch.labels.empty() ? torch::Tensor()
                                : torch::from_blob(batch.labels.data(), sizes, torch::kInt64);
  }

  /// Returns losses that add up to those of the samples; a module's own loss is one number.
  torch::Tensor losses(const torch::Tensor& output, Batch<Real>& batch) const {
    switch (loss_) {
      case NetworkLoss::cross_entropy:
        return cross_entropies(output, batch);
      case NetworkLoss::squared_error:
        return squared_errors(output, batch);
      case NetworkLoss::output:
        break;
    }
    return output;
  }

  /// Returns the logits as rows, one for each label.
  torch::Tensor rows_of(const torch::Tensor& logits, const Batch<Real>& batch) const {
    const auto labels = static_cast<std::int64_t>(batch.labels.size());
    const bool has_rows = logits.dim() >= 2 && logits.size(-1) > 0 &&
                          logits.numel() == labels * logits.size(-1) && logits.is_floating_point();
    require(has_rows,
            "{}: {} labels need logits of shape (labels, classes), and the module returns ({})",
            model_->origin(),
            labels,
            fmt::join(logits.sizes(), ", "));
    return logits.dim() == 2 ? logits : logits.reshape({labels, logits.size(-1)});
  }

  /// Returns one loss per label, scaled so that those of a sample add up to its loss.
  torch::Tensor cross_entropies(const torch::Tensor& output, Batch<Real>& batch) const {
    const torch::Tensor logits = rows_of(output, batch);
    const auto labels = torch::from_blob(
        batch.labels.data(), {static_cast<std::int64_t>(batch.labels.size())}, torch::kInt64);
    const auto each = torch::nn::functional::cross_entropy(
        logits,
        labels.to(logits.device()),
        torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
    return batch.labels_per_sample == 1 ? each
                                        : each / static_cast<double>(batch.labels_per_sample);
  }

  /// Returns the squared differences over how many a sample has.
  torch::Tensor squared_errors(const torch::Tensor& output, Batch<Real>& batch) const {
    const auto numbers = static_cast<std::int64_t>(batch.targets.size());
    require(output.numel() == numbers && output.is_floating_point(),
            "{}: {} samples have {} targets, and the module returns a tensor of shape ({})",
            model_->origin(),
            batch.samples(),
            numbers,
            fmt::join(output.sizes(), ", "));
    const torch::Tensor targets =
        torch::from_blob(batch.targets.data(), {numbers}, kDtype<Real>).to(output.device());
    const auto each = torch::mse_loss(output.reshape({numbers}), targets, at::Reduction::None);
    return batch.labels_per_sample == 1 ? each
                                        : each / static_cast<double>(batch.labels_per_sample);
  }

  /// Returns the weight of the losses in the gradient. A module's own loss is a mean, which counts
  /// once for every sample: 1 where the batch is all that `scale` divides by, without rounding.
  double weight_of(const Batch<Real>& batch, Real scale) const {
    const auto weight = static_cast<double>(scale);
    return loss_ == NetworkLoss::output
               ? static_cast<double>(batch.samples()) / std::round(1 / weight)
               : weight;
  }

  void count_correct(const torch::Tensor& output, Batch<Real>& batch, BatchLoss& result) const {
    const torch::Tensor logits = rows_of(output, batch).to(torch::kCPU).contiguous();
    const auto classes = static_cast<std::size_t>(logits.size(1));
    for (std::size_t i = 0; i < batch.labels.size(); ++i) {
      const std::span<const Real> row(logits.data_ptr<Real>() + i * classes, classes);
      result.correct += is_correct(row, static_cast<std::size_t>(batch.labels[i])) ? 1 : 0;
    }
    result.outputs = classes;
  }

  /// Returns the sum over the samples.
  double sum(const torch::Tensor& losses, const Batch<Real>& batch) const {
    const auto sum = losses.sum(torch::kFloat64).template item<double>();
    return loss_ == NetworkLoss::output ? static_cast<double>(batch.samples()) * sum : sum;
  }

  std::unique_ptr<TorchModel> model_;
  NetworkLoss loss_;
  std::vector<Layer> layers_;
  torch::Device device_;
  std::optional<Phase> phase_;
  torch::Tensor parameters_;
  torch::Tensor gradient_;
  torch::Tensor gradient_on_host_;  // the same tensor where there is no other device
  torch::Tensor statistics_;
};

template <class Real>
std::unique_ptr<Network<Real>> make_network(const BuildModel& build,
                                            NetworkDevice device,
                                            NetworkLoss loss) {
  be_deterministic();
  keep_freed_memory();
  const torch::Device there =
      device.cuda ? torch::Device(torch::kCUDA, static_cast<torch::DeviceIndex>(*device.cuda))
                  : torch::Device(torch::kCPU);
  try {
    return std::make_unique<TorchNetwork<Real>>(build(), there, loss);
  } catch (const c10::Error& error) {
    resource_error("libtorch cannot build the network: {}", torch_failure(error));
  }
}

Networks networks_of(const BuildModel& build, NetworkLoss loss) {
  const auto make_single = [build, loss](NetworkDevice device) {
    return make_network<float>(build, device, loss);
  };
  const auto make_double = [build, loss](NetworkDevice device) {
    return make_network<double>(build, device, loss);
  };
  return {.shape = {}, .make_single = make_single, .make_double = make_double};
}

}  // namespace

void be_deterministic() {
  // Once for each thread, because OpenMP keeps its thread count per calling thread.
  thread_local const bool done = [] {
    at::set_num_threads(1);
    use_one_blas_thread();
    const bool cuda = cuda_devices() > 0;
    if (cuda) {
      use_full_cuda_precision();
    }
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/cuda);
    return true;
  }();
  static_cast<void>(done);
}

std::string torch_failure(const std::exception& failure) {
  const auto* const of_torch = dynamic_cast<const c10::Error*>(&failure);
  const std::string message =
      of_torch == nullptr ? failure.what() : of_torch->what_without_backtrace();
  // The interpreter of TorchScript puts a traceback before the line "RuntimeError: ...".
  constexpr std::string_view kKind = "Error: ";
  const std::size_t kind = message.rfind(kKind);
  const std::size_t begin = kind == std::string::npos ? 0 : kind + kKind.size();
  return message.substr(begin, message.find('\n', begin) - begin);
}

Start torch_start(const Layer& /*layer*/, std::int64_t fan_in) {
  return {.law = Start::Law::uniform, .scale = 1 / std::sqrt(static_cast<double>(fan_in))};
}

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

Networks make_networks(const ImageShape& shape, BuildModule build, StartRule start) {
  Networks networks =
      networks_of([build = std::move(build)] { return std::make_unique<SequentialModel>(build()); },
                  NetworkLoss::cross_entropy);
  networks.shape = shape;
  networks.start = std::move(start);
  return networks;
}

Networks make_model_networks(BuildModel build, NetworkLoss loss) {
  return networks_of(build, loss);
}

}  // namespace residuum
