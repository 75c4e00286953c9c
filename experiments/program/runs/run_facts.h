#pragma once
// The record of a run, from the objects that train it.

#include "core/record/run_facts.h"
#include "experiments/program/study/run_config.h"

namespace residuum {

/// Names what the method loses by design; nothing where it conserves. Neighbours exchange models,
/// whose mean mixing leaves alone whatever is left out.
std::vector<std::string> known_losses(const PreparedRun& run);

/// Returns all fields of the record but its names. Under a density schedule the sparsifier's law is
/// the weakest of the stages'. Its threshold acts on step-multiplied accumulators, and is absent
/// where the step size changes.
RunFacts run_facts(const PreparedRun& run);

}  // namespace residuum
