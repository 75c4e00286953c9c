#pragma once
// All networks have these keys, which say how they are evaluated and, for images, whether batches
// are augmented.

#include <memory>

#include "core/config/section.h"
#include "objectives/torch/network_objective.h"

namespace residuum {

enum class EvaluatePrecision { float32, float64 };

/// Reads the keys device, evaluate_samples (0: f over all training samples), test_samples (0: all
/// held-out ones) and evaluate_precision, whose default is `usual`.
NetworkOptions read_network_options(const Section& section, EvaluatePrecision usual);

/// Makes a network on images, by the keys above and `augment`.
std::unique_ptr<Objective> make_image_network(ImageData data,
                                              const Networks& networks,
                                              const Section& section,
                                              EvaluatePrecision usual);

}  // namespace residuum
