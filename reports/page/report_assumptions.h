#pragma once

#include <string>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns a table of what each assumption means.
std::string assumptions_legend(const Summary& summary);

}  // namespace residuum::reports
