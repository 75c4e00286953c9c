#pragma once
// The theory of EF21 asks for the smoothness of the workers' own objectives, and the tight theory
// of error feedback for their strong convexity, too.

#include <optional>
#include <vector>

#include "experiments/program/study/run_config.h"

namespace residuum {

/// Computes L_p of every worker, where worker p has the objective (P n_p / n) f_p, so that the mean
/// over the workers is f; empty where some L_p is not known. It takes a pass over the data or more.
std::vector<double> worker_smoothness(const PreparedRun& run);

/// Returns a mu > 0 that the objective of every worker has, in the same units; absent where some
/// worker's is not known.
std::optional<double> worker_strong_convexity(const PreparedRun& run);

}  // namespace residuum
