#pragma once
// The rows of magnitudes.csv are a histogram of the workers' accumulators, mean over the workers.
// There is no row for magnitudes that no entry has; zeros have none.

#include "core/measurement/step_view.h"
#include "core/record/record.h"

namespace residuum {

void write_magnitude_details(const StepView& view, Recorder& recorder);

}  // namespace residuum
