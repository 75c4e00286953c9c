#pragma once
// A run's practice has its additions to the plain algorithm: momentum, weight decay, clipping,
// warm-ups, accumulated batches. The theorems are about none of it.
// It is read from the settings: a run has these before it has a record.

#include <string>
#include <vector>

#include "reports/results/result_folder.h"

namespace residuum::reports {

/// Returns the practice in words; empty where everything is off.
std::vector<std::string> practice_of(const Run& run);

}  // namespace residuum::reports
