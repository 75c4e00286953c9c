#pragma once
// This part of the report sums up the layers.csv of the runs.

#include <string>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns per method a table of its layers, over its seeds; empty where no run has measured
/// layers.
std::string layers_html(const Summary& summary);

}  // namespace residuum::reports
