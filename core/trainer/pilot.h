#pragma once
// Some thresholds depend on the training itself; pilot runs of the same training find them. Sahu et
// al. (NeurIPS 2021): for a frozen sequence of accumulators the least total error at a budget of K
// entries keeps the K largest of the whole sequence, a hard threshold at that order statistic. In a
// run the accumulators depend on what was kept before, so there are two candidates for a threshold:
// the order statistic of a Top-k run, and the one whose own run sends what Top-k would.

#include <cstdint>
#include <functional>
#include <optional>

#include "core/trainer/trainer.h"

namespace residuum {

struct FoundThreshold {
  double threshold = 0;
  int pilot_runs = 0;
};

/// Throws a usage error if the order statistic would take more memory than a process should.
void check_pilot(const Pilot& pilot, int workers, std::uint64_t iterations);

/// Is called on the root after each iteration of a pilot run, with the run's number, from 1 on.
using PilotProgress = std::function<void(int run, std::uint64_t done)>;

/// Finds the threshold; absent if the training's sparsifier needs no pilot. With T iterations, P
/// workers and K = k P T:
/// - order_statistic: the K-th largest magnitude in the accumulators of a Top-k run, 0 if there are
///   fewer non-zero ones; zeros are never sent.
/// - matched_budget: by bisection over whole runs, to 1 % of K sent entries or until the bracket
///   closes; of all runs the nearest counts. A run that diverges counts as sending everything from
///   there on.
/// Pilot runs measure nothing. The call is collective, with the same result on every process at any
/// number of them.
std::optional<FoundThreshold> find_threshold(const Training& training,
                                             const PilotProgress& progress = {});

}  // namespace residuum
