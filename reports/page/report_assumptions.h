#pragma once

#include <string>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns a table of methods against assumptions, and what each assumption means.
std::string assumptions_table(const Summary& summary);
std::string assumptions_legend(const Summary& summary);

}  // namespace residuum::reports
