#pragma once
// This file writes comparisons at equal cost and rates as parts of the report.

#include <string>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns per objective a table of the methods with a column for each cost; empty where there is
/// nothing to compare.
std::string comparison_tables(const Summary& summary, IntervalKind kind);

/// Returns a line per method and key that varies; empty where nothing can be fitted.
std::string rates_table(const Summary& summary);

}  // namespace residuum::reports
