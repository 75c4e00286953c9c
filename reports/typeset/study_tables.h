#pragma once
// This file makes the tables of a study that a paper may print.

#include <vector>

#include "reports/analysis/statistics.h"
#include "reports/analysis/targets.h"
#include "reports/typeset/table_spec.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns, as far as the study has them: results, equal-iterations, equal-bytes, equal-time,
/// at-bytes (with a column for each of the budgets, in bytes), time-to-target-iterations, -bytes
/// and -time, network-times, rates, and expected; with a number from the second objective on.
/// Values over the seeds are of that kind; times to targets are medians, because misses are
/// infinite.
std::vector<TableSpec> study_tables(const Summary& summary,
                                    const std::vector<TargetComparison>& targets,
                                    IntervalKind kind,
                                    const std::vector<double>& budgets = {});

}  // namespace residuum::reports
