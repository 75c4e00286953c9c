#pragma once
// The table of what methods had reached at budgets of bytes that a user names.

#include <vector>

#include "reports/analysis/statistics.h"
#include "reports/typeset/table_spec.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns a table at-bytes for each objective, with a column for each budget, in bytes; none
/// without budgets. A method that ended before a budget has no number there, and the caption says
/// so. A budget that no method has reached is a usage error with the most that any has sent.
std::vector<TableSpec> budget_specs(const Summary& summary,
                                    const std::vector<double>& budgets,
                                    IntervalKind kind);

}  // namespace residuum::reports
