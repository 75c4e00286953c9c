#pragma once
// The networks that a study can name, and how to build them from data at hand.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/config/section.h"
#include "core/objective.h"
#include "objectives/torch/device.h"
#include "objectives/torch/network_objective.h"

namespace residuum {

struct ObjectiveContext;

/// Keys: device, data, train_samples, rows and data_seed of synthetic images, and `hidden`: the
/// width of each hidden layer, a number or a list.
std::unique_ptr<Objective> make_mlp(const Section& section, const ObjectiveContext& context);

/// Keys: device, data, train_samples, rows and data_seed of synthetic images.
std::unique_ptr<Objective> make_lenet(const Section& section, const ObjectiveContext& context);

/// Fully connected layers with ReLU between them; no hidden layer is softmax regression.
Networks mlp(const ImageShape& shape,
             const std::vector<std::int64_t>& hidden,
             Device device = Device::cpu);

/// LeNet-5 as commonly trained on MNIST; takes 1x28x28 images in 10 classes.
Networks lenet(Device device = Device::cpu);

}  // namespace residuum
