#pragma once
// The record of a run, from the objects that train it.

#include <string>

#include "assumptions/monitor.h"
#include "core/record/run_facts.h"
#include "core/trainer/trainer.h"
#include "experiments/program/study/run_config.h"
#include "reports/results/files.h"

namespace residuum {

/// Names what the method loses by design; nothing where it conserves. Neighbours exchange models,
/// whose mean mixing leaves alone whatever is left out.
std::vector<std::string> known_losses(const PreparedRun& run);

/// Returns all fields of the record but its names. Under a density schedule the sparsifier's law is
/// the weakest of the stages'. Its threshold acts on step-multiplied accumulators, and is absent
/// where the step size changes.
RunFacts run_facts(const PreparedRun& run);

// status.json has the end of a run, the known facts of its objective, its totals, and the
// invariants that held.

/// "finished", "diverged" or "interrupted".
const char* state_name(Outcome::State state);

/// Returns the status of a run that has come to its end; times, tables and origin are left to the
/// caller.
reports::Json final_status(const Outcome& outcome,
                           const RunSummary& summary,
                           const PreparedRun& run);

/// Returns the present time, as 2026-01-31T12:00:00Z.
std::string utc_now();

}  // namespace residuum
