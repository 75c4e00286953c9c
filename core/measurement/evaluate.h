#pragma once

#include <vector>

#include "core/measurement/step_view.h"
#include "core/training/training.h"

namespace residuum {

/// Evaluates f at a point over all workers' shards; if `gradient` is not null, also grad f and its
/// squared norm. The results are on the root. The call is collective.
Evaluation evaluate(const Training& training, const Point& at, std::vector<double>* gradient);

}  // namespace residuum
