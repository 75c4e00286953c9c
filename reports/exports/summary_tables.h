#pragma once
// Tables of a study that are kept beside the numbers of its runs, made from summary.json.

#include <filesystem>
#include <string>
#include <vector>

#include "reports/results/csv.h"

namespace residuum::reports {

/// Returns the names that `summary_table` knows.
std::vector<std::string> summary_table_names();

/// Returns a table of the results with the name of its file, NAME.csv:
///   theorems   both sides of theorems with a verdict or a reason for none, the slack, the largest
///              term and its share;
///   checks     the worst ratio of each check;
///   rates      slopes with their intervals;
///   equal      quantities at equal costs;
///   predicted  delta of independent normal and Laplace accumulators as theory has it, and the
///              most workers with delta at most 1;
///   facts      L, L without l2 and f* of the problems.
/// Tables of theorems, checks and predictions have the keys in which methods differ (p_*). Results
/// without such rows, and any other name, are a usage error.
TextTable summary_table(const std::filesystem::path& results, const std::string& name);

}  // namespace residuum::reports
