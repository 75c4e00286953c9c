#pragma once
// Tables of a study that are kept beside the numbers of its runs, made from summary.json.

#include <filesystem>
#include <string>
#include <vector>

#include "reports/tables/text_table.h"

namespace residuum::reports {

/// Returns the names that `summary_table` knows.
std::vector<std::string> summary_table_names();

/// Returns a table of the results with the name of its file, NAME.csv:
///   theorems   both sides of theorems with a verdict or a reason for none, the slack, the largest
///              term and its share;
///   checks     the worst ratio of each check;
///   rates      slopes with their intervals;
///   equal      quantities at equal costs;
///   predicted  delta of independent accumulators as theory has it;
///   facts      L, L without l2 and f* of the problems.
/// Results without such rows, and any other name, are a usage error.
TextTable summary_table(const std::filesystem::path& results, const std::string& name);

}  // namespace residuum::reports
