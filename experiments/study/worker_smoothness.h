#pragma once
// The smoothness of the workers' own objectives, which the theory of EF21 asks for.

#include <vector>

#include "experiments/study/run_config.h"

namespace residuum {

/// L_p of every worker, where worker p has the objective (P n_p / n) f_p, so that the mean over the
/// workers is f; empty where some L_p is not known. A pass over the data or more.
std::vector<double> worker_smoothness(const PreparedRun& run);

}  // namespace residuum
