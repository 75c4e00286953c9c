#pragma once
// This file makes the table of what a paper has and what the study gave.

#include <optional>
#include <vector>

#include "reports/analysis/expected.h"
#include "reports/typeset/table_spec.h"

namespace residuum::reports {

/// Returns a row for each expectation and method that it is about; nothing where the study expects
/// nothing. Ours is the mean with its 95 % interval: a spread of the seeds is none for a paper's
/// value.
std::optional<TableSpec> expected_spec(const std::vector<ExpectedResult>& results,
                                       const std::vector<Group>& groups,
                                       IntervalKind kind);

}  // namespace residuum::reports
