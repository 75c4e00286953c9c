// This is VGG-16 (Simonyan and Zisserman, ICLR 2015, configuration D) in the form in which it is
// commonly trained on CIFAR-10: the thirteen 3x3 convolutions, each followed by batch
// normalisation, and one linear layer from 512 numbers for the original's three. 14 728 266
// parameters, as in the papers.

#include <fmt/format.h>

#include "objectives/registry.h"
#include "objectives/torch/images.h"
#include "objectives/torch/models.h"
#include "objectives/torch/network.h"
#include "objectives/torch/network_options.h"
#include "objectives/torch/torch_network.h"

namespace residuum {
namespace {

/// Returns the numbers of maps of the convolutions; each group ends in max-pooling.
const std::vector<std::vector<std::int64_t>>& groups() {
  static const std::vector<std::vector<std::int64_t>> all{
      {64, 64}, {128, 128}, {256, 256, 256}, {512, 512, 512}, {512, 512, 512}};
  return all;
}

torch::nn::Sequential build_vgg16() {
  namespace nn = torch::nn;
  nn::Sequential net;
  std::int64_t maps = 3;
  int number = 0;
  int group_number = 0;
  for (const auto& group : groups()) {
    for (const std::int64_t outputs : group) {
      ++number;
      net->push_back(fmt::format("conv{}", number),
                     nn::Conv2d(nn::Conv2dOptions(maps, outputs, 3).padding(1)));
      net->push_back(fmt::format("bn{}", number), nn::BatchNorm2d(outputs));
      net->push_back(fmt::format("relu{}", number), nn::ReLU());
      maps = outputs;
    }
    net->push_back(fmt::format("pool{}", ++group_number), nn::MaxPool2d(2));
  }
  net->push_back("flatten", nn::Flatten());
  net->push_back("fc", nn::Linear(512, 10));
  return net;
}

}  // namespace

Networks vgg16() { return make_networks(kPhotographShape, build_vgg16, convolutional_start); }

std::unique_ptr<Objective> make_vgg16(const Section& section, const ObjectiveContext& context) {
  return make_image_network(load_image_data(section, context, kPhotographShape),
                            vgg16(),
                            section,
                            context,
                            EvaluatePrecision::float32);
}

}  // namespace residuum
