#include "experiments/program/runs/study_data.h"

#include "core/error.h"
#include "experiments/program/study/study_keys.h"
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

}  // namespace residuum
