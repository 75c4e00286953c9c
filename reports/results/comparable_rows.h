#pragma once
// Two tables of one run are the same but for their columns of wall time.

#include <filesystem>
#include <string>

namespace residuum::reports {

/// Names the first difference between two tables, "first difference in row 3" or "120 rows against
/// 100"; empty where there is none. Wall times may differ; virtual and modelled times may not.
std::string difference_of_tables(const std::filesystem::path& a, const std::filesystem::path& b);

/// Does the same for the tables of two folders: iterations.csv, checks.csv, tuning.csv and
/// the tables of details that either has.
std::string first_difference(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace residuum::reports
