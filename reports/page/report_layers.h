#pragma once
// What the layers.csv of the runs come to, as a part of the report.

#include <string>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Per method a table of its layers, over its seeds; empty where no run has measured layers.
std::string layers_html(const Summary& summary);

}  // namespace residuum::reports
