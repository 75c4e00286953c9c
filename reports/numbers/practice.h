#pragma once
// What a run does beside the plain algorithm, in words: momentum, weight decay, clipping, warm-ups,
// accumulated batches. The theorems are about none of it.

#include <string>
#include <vector>

#include "reports/tables/result_folder.h"

namespace residuum::reports {

/// Empty where everything is off.
std::vector<std::string> practice_of(const Run& run);

}  // namespace residuum::reports
