#pragma once
// The names of --interval: what the middle of the seeds is, and what stands beside it.

#include <string>

#include "reports/analysis/statistics.h"

namespace residuum {

/// Returns the kind of iqr, student or bootstrap; another name is a usage error.
reports::IntervalKind interval_kind(const std::string& name);

}  // namespace residuum
