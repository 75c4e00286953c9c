#pragma once
// status.json holds a print of each table of a finished run and one of itself, so that a reader
// notices a table that was cut or changed.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/results/files.h"

namespace residuum::reports {

/// Returns {"iterations.csv": {"bytes": 1234, "hash": "0123456789ab"}, ...} of the named files in
/// the folder.
Json prints_of(const std::filesystem::path& folder, const std::vector<std::string>& names);

/// Returns what a status.json or config.json holds, with "print", the hash of all else that it
/// says. Layout does not matter.
Json with_print(Json json);

/// Throws a usage error unless the file has a print of its own and says what it said then.
void require_own_print(const Json& json, const std::filesystem::path& file);

/// Returns the reason why status.json or the tables are not as the run left them; nothing when they
/// are. A status.json without prints tells nothing of its tables.
std::optional<std::string> damage_of(const std::filesystem::path& folder, const Json& status);

}  // namespace residuum::reports
