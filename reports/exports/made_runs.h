#pragma once
// made.json says of the runs that are kept of a study by which program, command and machine they
// were made: a list with an entry for each command and machine.

#include <filesystem>
#include <string>
#include <vector>

#include "reports/tables/files.h"
#include "reports/tables/run_list.h"

namespace residuum::reports {

/// Returns the entries of these runs of a folder of results, by its summary.json and the
/// status.json of each run. If --shard divided the command, the entry is of the whole one. Runs
/// that were copied from another study's results say themselves how they were made. A file that
/// says nothing of the program is a usage error that names it.
Json made_entries(const std::filesystem::path& results,
                  const Json& summary,
                  const std::vector<ListedRun>& runs);

/// Returns how a whole study was made: program, command and machine of its summary, the seeds of
/// these runs and the programs that made them.
Json made_study(const std::filesystem::path& results,
                const Json& summary,
                const std::vector<ListedRun>& runs);

/// Returns `old`, read from `file`, with the entries of runs that were made later: an entry is of
/// the runs that are still its own.
Json joined_entries(const Json& old, const Json& added, const std::filesystem::path& file);

}  // namespace residuum::reports
