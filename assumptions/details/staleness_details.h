#pragma once
// The rows of staleness.csv are a histogram: how many gradients of each staleness have entered the
// model up to and with the measured version. There is no row for a staleness that no gradient had,
// and none at all where gradients cannot be late.

#include "core/measurement/step_view.h"
#include "core/record/record.h"

namespace residuum {

void write_staleness_details(const StepView& view, Recorder& recorder);

}  // namespace residuum
