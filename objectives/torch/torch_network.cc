// Parameters and gradients of a libtorch module as views of two flat tensors, so that a step copies
// d numbers in and d numbers out and never walks over tensors. Parameters are in the order of
// named_parameters().
//
// Determinism: one thread, also in the BLAS behind libtorch, and only operations that torch
// declares deterministic. The same machine gives the same bits at every call; another thread count
// or instruction set may round sums differently. On a CUDA device products are not shortened to
// TF32, and where torch has no deterministic kernel (the backward pass of max-pooling) it warns.

#include "objectives/torch/torch_network.h"

#include <cassert>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <type_traits>
#include <utility>

#include "core/error.h"

namespace residuum {
namespace {

template <class Real>
constexpr torch::Dtype kDtype = std::is_same_v<Real, float> ? torch::kFloat32 : torch::kFloat64;

/// OpenBLAS has a thread count of its own that torch does not know of; other BLAS libraries lack
/// the function, and the reference BLAS has no threads.
void use_one_blas_thread() {
  // dlsym returns an object pointer for functions too: POSIX wants this cast.
  if (void* found = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"); found != nullptr) {
    reinterpret_cast<void (*)(int)>(found)(1);
  }
}

/// What cuBLAS needs to be deterministic must be known before its first use.
void use_full_cuda_precision() {
  constexpr int kKeepTheUsers = 0;
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", kKeepTheUsers);  // NOLINT(concurrency-mt-unsafe)
  at::globalContext().setAllowTF32CuBLAS(false);
  at::globalContext().setAllowTF32CuDNN(false);
}

/// OpenMP keeps its thread count per calling thread, hence once in each.
void be_deterministic() {
  thread_local const bool done = [] {
    at::set_num_threads(1);
    use_one_blas_thread();
    const bool cuda = torch_has_cuda();
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

/// Comparisons with NaN are false, so an image with a NaN among its logits is never correct.
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
  TorchNetwork(const ImageShape& shape, torch::nn::Sequential module, torch::Device device)
      : shape_(shape), module_(std::move(module)), layers_(layer_table(module_)), device_(device) {
    assert(module_->buffers().empty());
    module_->to(device_, kDtype<Real>);
    const auto& last = layers_.back();
    const auto d = static_cast<std::int64_t>(last.offset + last.size);
    const auto here = torch::TensorOptions().dtype(kDtype<Real>).device(device_);
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

  BatchLoss loss(Batch<Real>& batch) override {
    be_deterministic();
    const torch::NoGradGuard no_gradient;
    const torch::Tensor there = forward(batch);
    BatchLoss result{.sum = sum(losses(there, batch))};
    const torch::Tensor logits = there.to(torch::kCPU).contiguous();
    const auto classes = static_cast<std::size_t>(shape_.classes);
    for (std::size_t i = 0; i < batch.labels.size(); ++i) {
      const std::span<const Real> row(logits.data_ptr<Real>() + i * classes, classes);
      result.correct += is_correct(row, static_cast<std::size_t>(batch.labels[i])) ? 1 : 0;
    }
    return result;
  }

  double add_gradient(Batch<Real>& batch, Real scale) override {
    be_deterministic();
    const torch::Tensor each = losses(forward(batch), batch);
    each.backward(torch::full_like(each, static_cast<double>(scale)));
    return sum(each.detach());
  }

  std::span<const Real> gradient() const override {
    if (!device_.is_cpu()) {
      gradient_on_host_.copy_(gradient_);
    }
    return {gradient_on_host_.data_ptr<Real>(), static_cast<std::size_t>(gradient_.numel())};
  }

 private:
  torch::Tensor forward(Batch<Real>& batch) {
    assert(batch.pixels.size() == batch.labels.size() * shape_.pixels());
    const auto images = torch::from_blob(batch.pixels.data(),
                                         {static_cast<std::int64_t>(batch.labels.size()),
                                          static_cast<std::int64_t>(shape_.channels),
                                          static_cast<std::int64_t>(shape_.height),
                                          static_cast<std::int64_t>(shape_.width)},
                                         kDtype<Real>);
    // Torch's memory starts at multiples of 64 bytes, a vector's wherever the heap is free: with a
    // copy, how a kernel splits its loops cannot depend on the history of the heap.
    return module_->forward(images.to(device_, /*non_blocking=*/false, /*copy=*/true));
  }

  torch::Tensor losses(const torch::Tensor& logits, Batch<Real>& batch) const {
    const auto labels = torch::from_blob(
        batch.labels.data(), {static_cast<std::int64_t>(batch.labels.size())}, torch::kInt64);
    return torch::nn::functional::cross_entropy(
        logits,
        labels.to(device_),
        torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
  }

  static double sum(const torch::Tensor& each) {
    return each.sum(torch::kFloat64).template item<double>();
  }

  ImageShape shape_;
  torch::nn::Sequential module_;
  std::vector<Layer> layers_;
  torch::Device device_;
  torch::Tensor parameters_;
  torch::Tensor gradient_;
  torch::Tensor gradient_on_host_;  // the same tensor where there is no other device
};

}  // namespace

Networks make_networks(const ImageShape& shape, const BuildModule& build, Device device) {
  be_deterministic();
  const torch::Device there(device == Device::cuda ? torch::kCUDA : torch::kCPU);
  try {
    return {.shape = shape,
            .single_precision = std::make_unique<TorchNetwork<float>>(shape, build(), there),
            .double_precision = std::make_unique<TorchNetwork<double>>(shape, build(), there)};
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    resource_error("libtorch cannot build the network: {}", message.substr(0, message.find('\n')));
  }
}

}  // namespace residuum
