#pragma once
// workers.csv: what a measured iteration has to say of each worker. Bytes are not in it: those of
// workers that share a process are booked together.

#include "core/measurement/step_view.h"
#include "core/record/record.h"

namespace residuum {

void write_worker_details(const StepView& view, Recorder& recorder);

}  // namespace residuum
