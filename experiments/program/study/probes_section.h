#pragma once
// The section [probes] of a study says what is measured, and when.

#include "core/config/section.h"
#include "experiments/program/study/run_config.h"

namespace residuum {

/// Reads the section into a run whose objective and number of iterations are known.
void read_probes(const Section& section, PreparedRun& run);

}  // namespace residuum
