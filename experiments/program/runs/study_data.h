#pragma once
// A study is made on one version of its data. Its folder keeps the fingerprint of the data of each
// setting, so that runs that are added later, by another shard, group or start, have the same.

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/program/study/run_config.h"

namespace residuum {

/// The fingerprint of the data by the settings that decide which are loaded (`data_settings`, as
/// text). Settings whose data have no fingerprint are left out.
using StudyData = std::map<std::string, std::string>;

/// Returns the data of the runs that were prepared, after those that the folder holds already. Data
/// other than these, or two versions of them within the runs, are a usage error.
StudyData study_data(const std::filesystem::path& result_dir, const std::vector<PreparedRun>& runs);

/// Returns what a folder holds, from study.resolved.json. A file that cannot be read counts as
/// absent.
StudyData data_in(const std::filesystem::path& result_dir);

/// Returns the data as study.resolved.json has them: [{"settings", "fingerprint"}].
nlohmann::json to_json(const StudyData& data);

}  // namespace residuum
