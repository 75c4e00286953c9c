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

#include <cassert>
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <malloc.h>
#include <string>
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

/// Makes libtorch deterministic in the calling thread, once for each thread, because OpenMP keeps
/// its thread count per calling thread.
void be_deterministic() {
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

std::vector<Layer> layer_table(const torch::nn::Sequential& module) {
  std::vector<Layer> layers;
  std::size_t offset = 0;
  for (const auto& parameter : module->named_parameters()) {
    const auto size = static_cast<std::size_t>(parameter.value().numel());
    layers.push_back({parameter.key(), parameter.value().sizes().vec(), offset, size});
    offset += size;
  }
  return layers;
}

torch::Tensor part(const torch::Tensor& flat, const Layer& layer) {
  const auto offset = static_cast<std::int64_t>(layer.offset);
  return flat.narrow(0, offset, static_cast<std::int64_t>(layer.size)).view(layer.shape);
}

/// Returns means and variances without the third buffer of batch normalisation, in which it counts
/// its batches.
std::vector<torch::Tensor> running_statistics(const torch::nn::Sequential& module) {
  std::vector<torch::Tensor> running;
  for (const auto& buffer : module->named_buffers()) {
    const std::string& name = buffer.key();
    if (name.ends_with("running_mean") || name.ends_with("running_var")) {
      running.push_back(buffer.value());
    }
  }
  return running;
}

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

template <class Real>
class TorchNetwork final : public Network<Real> {
 public:
  TorchNetwork(torch::nn::Sequential module, torch::Device device)
      : module_(std::move(module)), layers_(layer_table(module_)), device_(device) {
    module_->to(device_, kDtype<Real>);
    const auto here = torch::TensorOptions().dtype(kDtype<Real>).device(device_);
    statistics_ = flattened(running_statistics(module_), here);
    const auto& last = layers_.back();
    const auto d = static_cast<std::int64_t>(last.offset + last.size);
    parameters_ = torch::zeros({d}, here);
    gradient_ = torch::zeros({d}, here);
    gradient_on_host_ = device_.is_cpu() ? gradient_ : torch::zeros({d}, kDtype<Real>);
    auto parameters = module_->parameters();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      parameters[i].set_data(part(parameters_, layers_[i]));
      parameters[i].mutable_grad() = part(gradient_, layers_[i]);
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
    const torch::Tensor there = forward(batch, Phase::evaluation);
    BatchLoss result{.sum = sum(losses(there, batch))};
    const torch::Tensor logits = there.to(torch::kCPU).contiguous();
    const auto classes = static_cast<std::size_t>(logits.size(1));
    for (std::size_t i = 0; i < batch.labels.size(); ++i) {
      const std::span<const Real> row(logits.data_ptr<Real>() + i * classes, classes);
      result.correct += is_correct(row, static_cast<std::size_t>(batch.labels[i])) ? 1 : 0;
    }
    return result;
  }

  double add_gradient(Batch<Real>& batch, Real scale, Phase phase) override {
    be_deterministic();
    const torch::Tensor each = losses(forward(batch, phase), batch);
    each.backward(torch::full_like(each, static_cast<double>(scale)));
    return sum(each.detach());
  }

  void tell_ready_layers(std::function<void(std::size_t layer)> listener) override {
    auto parameters = module_->parameters();
    for (std::size_t l = 0; l < parameters.size(); ++l) {
      parameters[l].register_hook([this, l, listener](const torch::Tensor& /*gradient*/) {
        if (!device_.is_cpu()) {
          torch::cuda::synchronize(
              device_.index());  // until here the device has only been asked for it
        }
        listener(l);
      });
    }
  }

  std::span<const Real> gradient() const override {
    if (!device_.is_cpu()) {
      gradient_on_host_.copy_(gradient_);
    }
    return {gradient_on_host_.data_ptr<Real>(), static_cast<std::size_t>(gradient_.numel())};
  }

 private:
  torch::Tensor forward(Batch<Real>& batch, Phase phase) {
    if (module_->is_training() != (phase == Phase::training)) {
      module_->train(phase == Phase::training);
    }
    // The input is copied because torch's memory starts at multiples of 64 bytes, a vector's
    // anywhere in the heap: with a copy, the way a kernel splits its loops cannot depend on the
    // history of the heap.
    return module_->forward(input_of(batch).to(device_, /*non_blocking=*/false, /*copy=*/true));
  }

  static torch::Tensor input_of(Batch<Real>& batch) {
    std::vector<std::int64_t> sizes{static_cast<std::int64_t>(batch.samples())};
    sizes.insert(sizes.end(), batch.shape.begin(), batch.shape.end());
    if (!batch.tokens.empty()) {
      return torch::from_blob(batch.tokens.data(), sizes, torch::kInt64);
    }
    return torch::from_blob(batch.pixels.data(), sizes, kDtype<Real>);
  }

  /// Returns one loss per label, such that those of a sample add up to its loss.
  static torch::Tensor losses(const torch::Tensor& logits, Batch<Real>& batch) {
    const auto labels = torch::from_blob(
        batch.labels.data(), {static_cast<std::int64_t>(batch.labels.size())}, torch::kInt64);
    const auto each = torch::nn::functional::cross_entropy(
        logits,
        labels.to(logits.device()),
        torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
    return batch.labels_per_sample == 1 ? each
                                        : each / static_cast<double>(batch.labels_per_sample);
  }

  static double sum(const torch::Tensor& each) {
    return each.sum(torch::kFloat64).template item<double>();
  }

  torch::nn::Sequential module_;
  std::vector<Layer> layers_;
  torch::Device device_;
  torch::Tensor parameters_;
  torch::Tensor gradient_;
  torch::Tensor gradient_on_host_;  // the same tensor where there is no other device
  torch::Tensor statistics_;
};

template <class Real>
std::unique_ptr<Network<Real>> make_network(const BuildModule& build, Device device) {
  be_deterministic();
  keep_freed_memory();
  const torch::Device there =
      device.cuda ? torch::Device(torch::kCUDA, static_cast<torch::DeviceIndex>(*device.cuda))
                  : torch::Device(torch::kCPU);
  try {
    return std::make_unique<TorchNetwork<Real>>(build(), there);
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    resource_error("libtorch cannot build the network: {}", message.substr(0, message.find('\n')));
  }
}

}  // namespace

Start torch_start(const Layer& /*layer*/, std::int64_t fan_in) {
  return {.law = Start::Law::uniform, .scale = 1 / std::sqrt(static_cast<double>(fan_in))};
}

Networks make_networks(const ImageShape& shape, BuildModule build, StartRule start) {
  return {.shape = shape,
          .make_single = [build](Device device) { return make_network<float>(build, device); },
          .make_double = [build](Device device) { return make_network<double>(build, device); },
          .start = std::move(start)};
}

}  // namespace residuum
