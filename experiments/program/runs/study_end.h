#pragma once
// After its runs a study collects the tables, prints the verdicts and has an exit code.

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/program/console/options.h"

namespace residuum {

/// This lock is held while the tables of a result folder are written, because shards may end at the
/// same time.
inline constexpr const char* kTablesLock = ".residuum.tables.lock";

/// Collects the tables of the whole folder and prints them. The exit code is that of the runs
/// `ids`, read from the folder, so that a second call that finds all runs done says the same.
ExitCode end_study(const std::filesystem::path& result_dir,
                   const std::vector<std::string>& ids,
                   const Options& options);

}  // namespace residuum
