#pragma once
// status.json tells the laws of a run's components, so that theorems and verdicts, which read it,
// need no component's name.

#include "experiments/study/run_config.h"
#include "reports/tables/files.h"

namespace residuum {

/// Returns whether C(a) = a, whatever a is.
bool sends_everything(const PreparedRun& run);

/// Returns {"sparsifier": {...}, "aggregator": {...}, "feedback": {...}}: the fields of
/// SparsifierLaw, of AggregatorLaw and of Feedback. A quantiser adds {"quantiser": {...}}, and the
/// law under "sparsifier" is then that of both together. Under a density schedule the sparsifier's
/// law is the weakest of the stages'. Its `threshold` acts on step-multiplied accumulators and is
/// null where there is none or where the step size changes; with `threshold_follows_step` it is
/// proportional to that.
reports::Json laws_json(const PreparedRun& run);

}  // namespace residuum
