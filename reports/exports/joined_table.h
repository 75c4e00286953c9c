#pragma once
// The joined table is for programs that read one flat file: every measured iteration of every run,
// with what the run was in columns of its own.

#include <filesystem>

#include "reports/tables/result_folder.h"

namespace residuum::reports {

/// Writes the rows of iterations.csv of all finished and diverged runs to `file`, streamed, each
/// followed by the columns study, seed, state, p_<key> for every key that varies in the study, and
/// label where the study names its methods. Beside it lies its data package. Returns the number of
/// rows. A damaged table is a usage error that names it.
std::uint64_t write_joined_table(const ResultFolder& folder, const std::filesystem::path& file);

/// Returns the file with the data package of such a table: joined.datapackage.json of joined.csv.
std::filesystem::path package_beside(std::filesystem::path file);

}  // namespace residuum::reports
