#pragma once

#include <vector>

#include "core/measurement/step_view.h"
#include "core/training/training.h"

namespace residuum {

/// What f is at w, from all workers' shards, and with a `gradient` to hold it also grad f and its
/// squared norm. The results are on the root. Collective.
Evaluation evaluate(const Training& training, const Point& at, std::vector<double>* gradient);

}  // namespace residuum
