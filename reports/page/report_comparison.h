#pragma once
// Comparisons at equal cost and rates, as parts of the report.

#include <string>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Per objective a table of the methods, a column for each cost; empty where there is nothing to
/// compare.
std::string comparison_tables(const Summary& summary);

/// A line per method and key that varies; empty where nothing can be fitted.
std::string rates_table(const Summary& summary);

}  // namespace residuum::reports
