#pragma once
// A study names its images by the keys data, train_samples, and rows and data_seed of synthetic
// images, which have the size that the network takes.

#include "core/config/section.h"
#include "objectives/registry.h"
#include "objectives/torch/samples.h"

namespace residuum {

constexpr ImageShape kDigitShape{.channels = 1, .height = 28, .width = 28, .classes = 10};
constexpr ImageShape kPhotographShape{.channels = 3, .height = 32, .width = 32, .classes = 10};

ImageData load_image_data(const Section& section,
                          const ObjectiveContext& context,
                          const ImageShape& synthetic = kDigitShape);

}  // namespace residuum
