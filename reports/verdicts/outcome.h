#pragma once
// The outcome of a study: which method that compresses ended best, how it stands to dense training,
// at which cost, and whether δ ≤ 1 was met on the way.

#include <string>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Says the outcome in a sentence; empty where no run has finished. Where the study has several
/// objectives it is that of the first, which is named.
std::string outcome(const Summary& summary);

}  // namespace residuum::reports
