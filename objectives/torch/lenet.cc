// This is LeNet-5 in the form in which it is commonly trained on MNIST: the layers of LeCun,
// Bottou, Bengio and Haffner (1998) with ReLU for tanh, max-pooling for learned subsampling, every
// map of the second convolution connected to every map of the first, and padding of 2 for the
// original's 32x32 images. 61 706 parameters.

#include "objectives/registry.h"
#include "objectives/torch/images.h"
#include "objectives/torch/models.h"
#include "objectives/torch/network_options.h"
#include "objectives/torch/torch_network.h"

namespace residuum {
namespace {

torch::nn::Sequential build_lenet() {
  namespace nn = torch::nn;
  nn::Sequential net;
  net->push_back("conv1", nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)));
  net->push_back("relu1", nn::ReLU());
  net->push_back("pool1", nn::MaxPool2d(2));
  net->push_back("conv2", nn::Conv2d(nn::Conv2dOptions(6, 16, 5)));
  net->push_back("relu2", nn::ReLU());
  net->push_back("pool2", nn::MaxPool2d(2));
  net->push_back("flatten", nn::Flatten());
  net->push_back("fc1", nn::Linear(16 * 5 * 5, 120));
  net->push_back("relu3", nn::ReLU());
  net->push_back("fc2", nn::Linear(120, 84));
  net->push_back("relu4", nn::ReLU());
  net->push_back("fc3", nn::Linear(84, 10));
  return net;
}

}  // namespace

Networks lenet() { return make_networks(kDigitShape, build_lenet); }

std::unique_ptr<Objective> make_lenet(const Section& section, const ObjectiveContext& context) {
  return make_image_network(
      load_image_data(section, context), lenet(), section, context, EvaluatePrecision::float64);
}

}  // namespace residuum
