#pragma once
// A study names its text by the keys data, level, train_samples, and characters and data_seed of
// synthetic text.

#include "core/config/section.h"
#include "objectives/registry.h"
#include "objectives/torch/samples.h"

namespace residuum {

NetworkData load_text_data(const Section& section,
                           const ObjectiveContext& context,
                           std::size_t sequence,
                           UnknownWord unknown = UnknownWord::always);

}  // namespace residuum
