#pragma once
// All networks have these keys, which say how they are evaluated and, for images, whether batches
// are augmented.

#include <cstdint>
#include <memory>
#include <string>

#include "core/config/section.h"
#include "objectives/registry.h"
#include "objectives/torch/network_objective.h"

namespace residuum {

enum class EvaluatePrecision { float32, float64 };

/// Reads the keys device, evaluate_samples (0: f over all training samples), test_samples (0: all
/// held-out ones) and evaluate_precision, whose default is `usual`.
NetworkOptions read_network_options(const Section& section,
                                    const ObjectiveContext& context,
                                    EvaluatePrecision usual);

/// Reads a size of a network, which lies in 1..`largest`.
std::int64_t read_size(const Section& section,
                       const char* key,
                       std::int64_t usual,
                       std::int64_t largest);

/// Refuses a network whose parameter numbers do not fit in 32 bits, before memory is allocated.
/// `what` names the network and its sizes.
void check_parameters(double parameters, const std::string& what);

/// Makes a network on images, by the keys above and `augment`.
std::unique_ptr<Objective> make_image_network(ImageData data,
                                              const Networks& networks,
                                              const Section& section,
                                              const ObjectiveContext& context,
                                              EvaluatePrecision usual);

}  // namespace residuum
