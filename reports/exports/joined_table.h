#pragma once
// The joined table is for programs that read one flat file: every measured iteration of every run,
// with what the run was in columns of its own.

#include <filesystem>

#include "reports/tables/result_folder.h"

namespace residuum::reports {

/// Writes the rows of iterations.csv of all finished and diverged runs to `file`, streamed, each
/// followed by the columns study, seed, state and p_<key> for every key that varies in the study.
/// Returns the number of rows. A damaged table is a usage error that names it.
std::uint64_t write_joined_table(const ResultFolder& folder, const std::filesystem::path& file);

}  // namespace residuum::reports
