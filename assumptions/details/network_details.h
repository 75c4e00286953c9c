#pragma once
// The rows of networks.csv say how long a run in lockstep would have taken up to and with the
// measured iteration, on each network of the study.

#include <span>

#include "core/measurement/step_view.h"
#include "core/objective.h"
#include "core/record/record.h"

namespace residuum {

void write_network_details(const StepView& view, Recorder& recorder);

/// Writes the rows of overlap.csv: how many exchanges the measured iteration had on each network.
void write_overlap_details(const StepView& view, Recorder& recorder);

/// Writes the rows of layer_times.csv in iteration 0: when the gradients of the layers are ready.
void write_layer_times(std::span<const Layer> layers, const StepView& view, Recorder& recorder);

}  // namespace residuum
