#pragma once
// A row of workers.csv describes one worker in a measured iteration. It has no bytes, because the
// bytes of workers that share a process are counted together.

#include "core/measurement/step_view.h"
#include "core/record/record.h"

namespace residuum {

void write_worker_details(const StepView& view, Recorder& recorder);

}  // namespace residuum
