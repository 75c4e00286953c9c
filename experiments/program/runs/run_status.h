#pragma once
// status.json has the end of a run, the known facts of its objective, its totals, and the
// invariants that held.

#include <string>

#include "assumptions/monitor.h"
#include "core/trainer/trainer.h"
#include "experiments/program/study/run_config.h"
#include "reports/results/files.h"

namespace residuum {

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
