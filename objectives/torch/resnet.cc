// ResNets for CIFAR-10 (He, Zhang, Ren, Sun, CVPR 2016, section 4.2) have a convolution, three
// stages of (depth - 2) / 6 blocks with 16, 32 and 64 maps, global average pooling and a linear
// layer. A block is two 3x3 convolutions with batch normalisation around which its input passes;
// where a stage begins, the input that passes is every second pixel with maps of zeros appended
// (option A: no parameters). Convolutions have no biases. Depth 20 has 269 722 parameters and 1376
// running statistics, depth 8 has 75 290 and 480.

#include <fmt/format.h>

#include "core/error.h"
#include "objectives/registry.h"
#include "objectives/torch/images.h"
#include "objectives/torch/models.h"
#include "objectives/torch/network.h"
#include "objectives/torch/network_options.h"
#include "objectives/torch/torch_network.h"

namespace residuum {
namespace {

namespace nn = torch::nn;

/// The paper's depths end at 110; one of 1202 did not pay.
constexpr std::int64_t kLargestDepth = 110;

nn::Conv2d convolution(std::int64_t inputs, std::int64_t outputs, std::int64_t stride) {
  return nn::Conv2d(nn::Conv2dOptions(inputs, outputs, 3).stride(stride).padding(1).bias(false));
}

class BlockImpl : public nn::Module {
 public:
  BlockImpl(std::int64_t inputs, std::int64_t outputs)
      : grows_(outputs != inputs), added_(outputs - inputs) {
    const std::int64_t stride = grows_ ? 2 : 1;
    conv1_ = register_module("conv1", convolution(inputs, outputs, stride));
    bn1_ = register_module("bn1", nn::BatchNorm2d(outputs));
    conv2_ = register_module("conv2", convolution(outputs, outputs, 1));
    bn2_ = register_module("bn2", nn::BatchNorm2d(outputs));
  }

  /// Works in place if no backward pass needs the old values, because the speed of these steps is
  /// that of memory.
  torch::Tensor forward(const torch::Tensor& x) {
    auto inner = bn1_->forward(conv1_->forward(x));
    inner.relu_();
    auto sum = bn2_->forward(conv2_->forward(inner));
    sum += passed(x);
    return sum.relu_();
  }

 private:
  torch::Tensor passed(const torch::Tensor& x) const {
    if (!grows_) {
      return x;
    }
    // Windows of one pixel take every second one as slices do, but in the layout of x both ways.
    const auto half = torch::avg_pool2d(x, /*kernel_size=*/1, /*stride=*/2);
    return nn::functional::pad(half, nn::functional::PadFuncOptions({0, 0, 0, 0, 0, added_}));
  }

  bool grows_;
  std::int64_t added_;
  nn::Conv2d conv1_{nullptr};
  nn::BatchNorm2d bn1_{nullptr};
  nn::Conv2d conv2_{nullptr};
  nn::BatchNorm2d bn2_{nullptr};
};
TORCH_MODULE(Block);

/// Puts the channels of a pixel side by side, which all further layers keep: a training takes four
/// fifths of the time. Only the kernels for float gain by it.
torch::Tensor channels_last(const torch::Tensor& images) {
  return images.scalar_type() == torch::kFloat32 ? images.contiguous(at::MemoryFormat::ChannelsLast)
                                                 : images;
}

nn::Sequential build_resnet(std::int64_t depth) {
  nn::Sequential net;
  net->push_back("layout", nn::Functional(channels_last));
  net->push_back("conv1", convolution(3, 16, 1));
  net->push_back("bn1", nn::BatchNorm2d(16));
  net->push_back("relu1", nn::ReLU(nn::ReLUOptions(/*inplace=*/true)));
  std::int64_t maps = 16;
  int stage = 0;
  for (const std::int64_t outputs : {16, 32, 64}) {
    ++stage;
    for (std::int64_t block = 1; block <= (depth - 2) / 6; ++block) {
      net->push_back(fmt::format("stage{}block{}", stage, block), Block(maps, outputs));
      maps = outputs;
    }
  }
  net->push_back("pool", nn::AvgPool2d(8));
  net->push_back("flatten", nn::Flatten());
  net->push_back("fc", nn::Linear(64, 10));
  return net;
}

}  // namespace

Networks resnet(std::int64_t depth) {
  return make_networks(
      kPhotographShape, [depth] { return build_resnet(depth); }, convolutional_start);
}

std::unique_ptr<Objective> make_resnet20(const Section& section, const ObjectiveContext& context) {
  return make_image_network(load_image_data(section, context, kPhotographShape),
                            resnet(20),
                            section,
                            context,
                            EvaluatePrecision::float32);
}

std::unique_ptr<Objective> make_resnet(const Section& section, const ObjectiveContext& context) {
  const std::int64_t depth = read_size(section, "depth", 20, kLargestDepth);
  require(depth >= 8 && depth % 6 == 2,
          "{} must be 6 n + 2 for n blocks in each of three stages (8, 14, 20, 32, 44, 56, 110), "
          "got {}",
          section.where("depth"),
          depth);
  return make_image_network(load_image_data(section, context, kPhotographShape),
                            resnet(depth),
                            section,
                            context,
                            EvaluatePrecision::float32);
}

}  // namespace residuum
