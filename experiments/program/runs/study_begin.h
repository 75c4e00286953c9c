#pragma once
// A study is made on one version of its data. Its folder keeps the fingerprint of the data of each
// setting, so that runs that are added later, by another shard, group or start, have the same.

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/program/console/options.h"
#include "experiments/program/runs/file_lock.h"
#include "experiments/program/runs/run_batches.h"
#include "experiments/program/study/run_config.h"
#include "experiments/program/study/study.h"

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

// Before its runs a study locks its result folder and writes there what the folder holds.

/// Locks the folder and writes the study's files. A folder that is not this study's, or that
/// another process is writing, is a usage error, and so is one of other data or of a search with
/// another plan; shards stand side by side. `runs` are all of the study, as they were prepared. The
/// lock is to be held as long as the folder is written.
std::unique_ptr<FileLock> begin_study(const std::filesystem::path& result_dir,
                                      const Study& study,
                                      const std::vector<PreparedRun>& runs,
                                      const RunBatches& batches,
                                      const std::string& command,
                                      const Options& options);

/// Writes study.toml, and study.resolved.json with the runs that are known so far and the data.
void write_study_files(const std::filesystem::path& result_dir,
                       const Study& study,
                       const std::vector<PreparedRun>& runs,
                       const RunBatches& batches,
                       const std::string& command,
                       const Options& options);

/// Returns the ids of the runs that were begun in the folder, by `settings_hash`; none where it
/// holds no study.
std::map<std::string, std::string> ids_by_settings(const std::filesystem::path& result_dir);

}  // namespace residuum
