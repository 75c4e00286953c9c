#pragma once
// This file makes the tables of a study that a paper may print.

#include <optional>
#include <vector>

#include "reports/analysis/expected.h"
#include "reports/analysis/statistics.h"
#include "reports/analysis/targets.h"
#include "reports/latex/table_spec.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns what methods had reached at budgets of bytes that a user names: a table at-bytes for
/// each objective, with a column for each budget, in bytes; none without budgets. A method that
/// ended before a budget has no number there, and the caption says so. A budget that no method has
/// reached is a usage error with the most that any has sent.
std::vector<TableSpec> budget_specs(const Summary& summary,
                                    const std::vector<double>& budgets,
                                    IntervalKind kind);

/// Returns the table of what a paper has and what the study gave: a row for each expectation and
/// method that it is about; nothing where the study expects nothing. Ours is the mean with its 95 %
/// interval: a spread of the seeds is none for a paper's value.
std::optional<TableSpec> expected_spec(const std::vector<ExpectedResult>& results,
                                       const std::vector<Group>& groups,
                                       IntervalKind kind);

/// Returns, as far as the study has them: results, equal-iterations, equal-bytes, equal-time,
/// at-bytes (with a column for each of the budgets, in bytes), time-to-target-iterations, -bytes
/// and -time, network-times, rates, tuning, and expected; with a number from the second objective
/// on. Values over the seeds are of that kind; times to targets are medians, because misses are
/// infinite.
std::vector<TableSpec> study_tables(const Summary& summary,
                                    const std::vector<TargetComparison>& targets,
                                    IntervalKind kind,
                                    const std::vector<double>& budgets = {});

}  // namespace residuum::reports
