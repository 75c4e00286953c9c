#pragma once
// The theory of EF21 asks for the smoothness of the workers' own objectives.

#include <vector>

#include "experiments/study/run_config.h"

namespace residuum {

/// Computes L_p of every worker, where worker p has the objective (P n_p / n) f_p, so that the mean
/// over the workers is f; empty where some L_p is not known. It takes a pass over the data or more.
std::vector<double> worker_smoothness(const PreparedRun& run);

}  // namespace residuum
