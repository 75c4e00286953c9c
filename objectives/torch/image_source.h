#pragma once
// Which images a study asks for: the keys data, train_samples, and rows and data_seed of synthetic
// images.

#include "core/config/section.h"
#include "objectives/registry.h"
#include "objectives/torch/network_objective.h"

namespace residuum {

ImageData load_image_data(const Section& section, const ObjectiveContext& context);

}  // namespace residuum
