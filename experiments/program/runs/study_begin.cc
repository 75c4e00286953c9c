#include "experiments/program/runs/study_begin.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "core/error.h"
#include "experiments/program/runs/planned_runs.h"
#include "experiments/program/runs/study_end.h"
#include "experiments/program/study/prepare_all.h"
#include "experiments/program/study/run_config.h"
#include "experiments/program/study/search_section.h"
#include "experiments/program/study/study_keys.h"
#include "reports/analysis/tuning_folder.h"
#include "reports/results/files.h"
#include "reports/results/result_folder.h"

namespace residuum {
namespace {

namespace fs = std::filesystem;

StudyData recorded_data(const reports::Json& study) {
  StudyData data;
  for (const auto& entry : reports::value_at(study, "data")) {
    const auto& settings = reports::value_at(entry, "settings");
    const auto fingerprint = reports::text_at(entry, "fingerprint");
    if (settings.is_object() && !fingerprint.empty()) {
      data.emplace(nlohmann::json(settings).dump(), fingerprint);
    }
  }
  return data;
}

}  // namespace

StudyData data_in(const fs::path& result_dir) {
  try {
    const auto study = reports::read_json(result_dir / "study.resolved.json");
    return recorded_data(study);
  } catch (const Error&) {
    return {};
  }
}

StudyData study_data(const fs::path& result_dir, const std::vector<PreparedRun>& runs) {
  StudyData data = data_in(result_dir);
  for (const auto& run : runs) {
    if (run.data_fingerprint.empty() || !run.failure.empty()) {
      continue;
    }
    const auto settings = data_settings(run.config).dump();
    const auto [known, is_new] = data.emplace(settings, run.data_fingerprint);
    require(known->second == run.data_fingerprint,
            "{} is of other data: {} had the fingerprint {}, now {}; put them back, use another "
            "--out, or remove {}",
            result_dir.string(),
            settings,
            known->second,
            run.data_fingerprint,
            result_dir.string());
  }
  return data;
}

nlohmann::json to_json(const StudyData& data) {
  auto entries = nlohmann::json::array();
  for (const auto& [settings, fingerprint] : data) {
    entries.push_back(
        {{"settings", nlohmann::json::parse(settings)}, {"fingerprint", fingerprint}});
  }
  return entries;
}

namespace {

namespace fs = std::filesystem;

/// True for a folder that a start has left before it wrote study.resolved.json: an empty lock and
/// what else comes before.
bool is_begun(const fs::path& result_dir) {
  std::error_code ignored;
  const fs::path lock = result_dir / kStudyLock;
  if (!fs::is_regular_file(fs::symlink_status(lock, ignored)) || fs::file_size(lock, ignored) > 0) {
    return false;
  }
  const fs::directory_iterator entries(result_dir);
  return std::all_of(begin(entries), end(entries), [](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return name == kStudyLock || name == kTablesLock || is_temporary(name);
  });
}

/// Refuses a folder that is not ours before anything is written.
void refuse_foreign_folder(const fs::path& result_dir) {
  if (!fs::exists(result_dir)) {
    return;
  }
  require(fs::is_directory(result_dir), "{} is a file; give another --out", result_dir.string());
  require(fs::is_empty(result_dir) || is_begun(result_dir) ||
              fs::exists(result_dir / "study.resolved.json"),
          "{} is not empty and holds no study; give another --out",
          result_dir.string());
}

/// Locks the folder; shares of one study may be made side by side, each on runs of its own.
std::unique_ptr<FileLock> lock_folder(const fs::path& result_dir, const Share& share) {
  const auto kind = share.of > 1 ? FileLock::Kind::shared : FileLock::Kind::exclusive;
  auto lock = FileLock::attempt(result_dir / kStudyLock, kind);
  require(lock != nullptr,
          "another process is writing {}; wait for it or give another --out",
          result_dir.string());
  return lock;
}

/// The study whose results lie there.
nlohmann::json study_in(const fs::path& resolved) {
  try {
    return reports::read_json(resolved);
  } catch (const Error& error) {
    usage_error("{}; remove it if the results beside it are of this study, else give another --out",
                error.what());
  }
}

/// The error of a search holds for a plan that was made before its runs.
void refuse_other_plan(const fs::path& resolved, const nlohmann::json& there, const Study& study) {
  auto before = nlohmann::json(reports::value_at(there, "search"));
  if (before.is_null() || !study.search) {
    return;
  }
  before.erase("runs");
  require(before == plan_of(*study.search),
          "{} holds a search with another plan, and the error of a search holds for one that was "
          "made before its runs; give another --out",
          resolved.parent_path().string());
}

/// Returns the search with the ids of the runs that it may need, by method.
nlohmann::json search_record(const StudySearch& search, const std::vector<std::string>& ids) {
  auto record = plan_of(search);
  auto runs = nlohmann::json::array();
  for (std::size_t method = 0; method <= search.values.size(); ++method) {
    auto of_method = nlohmann::json::array();
    for (std::size_t seed = 0; seed < search.seeds; ++seed) {
      of_method.push_back(ids[search.run_of(method, seed)]);
    }
    runs.push_back(std::move(of_method));
  }
  record["runs"] = std::move(runs);
  return record;
}

/// Returns the tuning with the ids of the runs that it may need, by method, trial and level.
reports::Json tuning_record(const StudyTune& tune, const Study& study, const RunBatches& batches) {
  auto record = reports::tuning_record(tune.plan);
  auto methods = reports::Json::array();
  for (std::size_t method = 0; method < tune.methods; ++method) {
    const RunSpec& spec = study.runs[tune.final_run(method, 0, 0)];
    reports::Json one{{"varying", reports::Json(spec.varying)}, {"label", spec.label}};
    for (std::size_t trial = 0; trial < tune.plan.trials(); ++trial) {
      one["tuning"].push_back(batches.tuning_ids(method, trial));
    }
    for (std::size_t level = 0; level < tune.plan.levels(); ++level) {
      one["final"].push_back(batches.final_ids(method, level));
    }
    methods.push_back(std::move(one));
  }
  record["methods"] = std::move(methods);
  return record;
}

/// A list of runs as study.resolved.json has it: ids, settings, and the plan of each.
struct RunRecords {
  std::vector<std::string> ids;
  std::vector<std::string> hashes;
  nlohmann::json plan = nlohmann::json::array();

  void add(const RunSpec& spec, const std::string& id, const std::set<std::string>& unnamed) {
    ids.push_back(id);
    hashes.push_back(settings_hash(spec));
    plan.push_back({{"seed", spec.seed}, {"varying", spec.varying}});
    if (!spec.label.empty()) {
      plan.back()["label"] = spec.label;
    }
    if (!unnamed.empty()) {
      plan.back()["unnamed"] = unnamed;
    }
  }
};

/// Adds the ids of a list of runs by their settings.
void add_ids(const reports::Json& study,
             const char* list,
             const char* hashes,
             std::map<std::string, std::string>& ids) {
  const auto& runs = reports::value_at(study, list);
  const auto& settings = reports::value_at(study, hashes);
  for (std::size_t i = 0; i < std::min(runs.size(), settings.size()); ++i) {
    const auto id = reports::plain_text(runs[i]);
    if (reports::is_run_id(id)) {
      ids.emplace(reports::plain_text(settings[i]), id);
    }
  }
}

}  // namespace

std::unique_ptr<FileLock> begin_study(const fs::path& result_dir,
                                      const Study& study,
                                      const std::vector<PreparedRun>& runs,
                                      const RunBatches& batches,
                                      const std::string& command,
                                      const Options& options) {
  const fs::path resolved = result_dir / "study.resolved.json";
  refuse_foreign_folder(result_dir);
  auto lock = lock_folder(result_dir, options.share);
  const auto alone = FileLock::wait(result_dir / kTablesLock);
  remove_leftovers(OutputPath::named(result_dir));
  if (fs::exists(resolved)) {
    const auto there = study_in(resolved);
    reports::require_own_schema(there, resolved);
    const std::string other = reports::text_at(there, "name");
    require(other == study.name,
            "{} holds the results of study '{}', this one is '{}'; give another --out",
            result_dir.string(),
            other,
            study.name);
    refuse_other_plan(resolved, there, study);
  }
  write_study_files(result_dir, study, runs, batches, command, options);
  return lock;
}

void write_study_files(const fs::path& result_dir,
                       const Study& study,
                       const std::vector<PreparedRun>& runs,
                       const RunBatches& batches,
                       const std::string& command,
                       const Options& options) {
  const StudyData data = study_data(result_dir, runs);
  RunRecords records;  // so that reports can name runs that have not begun
  RunRecords tuning;
  for (const std::size_t i : batches.known()) {
    (study.runs[i].is_tuning ? tuning : records)
        .add(study.runs[i], batches.ids()[i], unnamed_keys(runs[i]));
  }
  nlohmann::json resolved{{"schema", reports::kResultSchema},
                          {"name", study.name},
                          {"title", study.title},
                          {"runs", records.ids},
                          {"settings", records.hashes},
                          {"plan", records.plan},
                          {"data", to_json(data)},
                          {"command", command},
                          {"overrides", options.overrides}};
  if (study.search) {
    resolved["search"] = search_record(*study.search, batches.ids());
  }
  if (study.tune) {
    resolved["tune"] = tuning_record(*study.tune, study, batches);
    resolved["tuning_runs"] = tuning.ids;
    resolved["tuning_settings"] = tuning.hashes;
    resolved["tuning_plan"] = tuning.plan;
  }
  if (auto defaults = default_kinds(study); !defaults.empty()) {
    resolved["defaults"] = std::move(defaults);
  }
  if (!study.labels.empty()) {
    resolved["labels"] = study.labels;
  }
  if (!study.expected.empty()) {
    resolved["expected"] = study.expected;
  }
  // First of all: it tells later starts that the folder is ours.
  reports::write_json_atomically(result_dir / "study.resolved.json", resolved);
  write_file_atomically(result_dir / "study.toml", study.text);
}

std::map<std::string, std::string> ids_by_settings(const fs::path& result_dir) {
  std::map<std::string, std::string> ids;
  try {
    const auto study = reports::read_json(result_dir / "study.resolved.json");
    add_ids(study, "runs", "settings", ids);
    add_ids(study, "tuning_runs", "tuning_settings", ids);
  } catch (const Error&) {
    ids.clear();  // there is none, or none that can be read
  }
  return ids;
}

}  // namespace residuum
