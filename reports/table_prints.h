#pragma once
// status.json holds a print of each table of a finished run, so that one that was cut or changed is
// noticed by whoever reads it.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/files.h"

namespace residuum::reports {

/// {"iterations.csv": {"bytes": 1234, "hash": "0123456789ab"}, ...} of the named files in the
/// folder.
Json prints_of(const std::filesystem::path& folder, const std::vector<std::string>& names);

/// Why the tables are not those that the prints were taken of; nothing when they are. Prints of
/// older programs are the hash alone; a run from before there were prints passes.
std::optional<std::string> damage_of(const std::filesystem::path& folder, const Json& prints);

}  // namespace residuum::reports
