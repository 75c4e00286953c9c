// This is AlexNet (Krizhevsky, Sutskever, Hinton, NIPS 2012) in the form in which it is commonly
// trained on CIFAR-10: the five convolutions of its one-column version (Krizhevsky 2014), the first
// with padding 5 for the small images, 2x2 max-pooling, and one linear layer from 256 numbers for
// the original's three; neither local response normalisation nor dropout. 2 472 266 parameters.

#include "objectives/registry.h"
#include "objectives/torch/images.h"
#include "objectives/torch/models.h"
#include "objectives/torch/network_options.h"
#include "objectives/torch/torch_network.h"

namespace residuum {
namespace {

torch::nn::Sequential build_alexnet() {
  namespace nn = torch::nn;
  nn::Sequential net;
  net->push_back("conv1", nn::Conv2d(nn::Conv2dOptions(3, 64, 11).stride(4).padding(5)));
  net->push_back("relu1", nn::ReLU());
  net->push_back("pool1", nn::MaxPool2d(2));
  net->push_back("conv2", nn::Conv2d(nn::Conv2dOptions(64, 192, 5).padding(2)));
  net->push_back("relu2", nn::ReLU());
  net->push_back("pool2", nn::MaxPool2d(2));
  net->push_back("conv3", nn::Conv2d(nn::Conv2dOptions(192, 384, 3).padding(1)));
  net->push_back("relu3", nn::ReLU());
  net->push_back("conv4", nn::Conv2d(nn::Conv2dOptions(384, 256, 3).padding(1)));
  net->push_back("relu4", nn::ReLU());
  net->push_back("conv5", nn::Conv2d(nn::Conv2dOptions(256, 256, 3).padding(1)));
  net->push_back("relu5", nn::ReLU());
  net->push_back("pool5", nn::MaxPool2d(2));
  net->push_back("flatten", nn::Flatten());
  net->push_back("fc", nn::Linear(256, 10));
  return net;
}

}  // namespace

Networks alexnet() { return make_networks(kPhotographShape, build_alexnet); }

std::unique_ptr<Objective> make_alexnet(const Section& section, const ObjectiveContext& context) {
  return make_image_network(load_image_data(section, context, kPhotographShape),
                            alexnet(),
                            section,
                            context,
                            EvaluatePrecision::float32);
}

}  // namespace residuum
