#include "experiments/program/runs/method_names.h"

#include <fmt/format.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <set>

#include "experiments/program/study/study_keys.h"
#include "reports/analysis/groups.h"
#include "reports/results/result_folder.h"

namespace residuum {
namespace {

/// Returns what a result folder would know of the run.
reports::Run planned_run(const Study& study,
                         const reports::Json& defaults,
                         const RunSpec& spec,
                         const PreparedRun& run) {
  reports::Run planned;
  planned.id = run.id;
  planned.seed = static_cast<std::int64_t>(run.seed);
  planned.label = spec.label;
  planned.varying = reports::Json(run.varying);
  planned.config = reports::Json{{"config", reports::Json(run.config)}};
  planned.defaults = defaults;
  planned.is_known = true;
  planned.unnamed = unnamed_keys(run);
  reports::take_value_labels(reports::Json(study.labels), planned);
  return planned;
}

}  // namespace

nlohmann::json default_kinds(const Study& study) {
  std::set<std::string> varied;
  for (const auto& run : study.runs) {
    for (const auto& [key, value] : run.varying.items()) {
      varied.insert(key);
    }
  }
  auto defaults = nlohmann::json::object();
  for (const StudyKey& key : study_keys()) {
    const std::string name = fmt::format("{}.{}", key.section, key.name);
    if (key.name == "kind" && !key.fallback.empty() && varied.contains(name)) {
      defaults[name] = key.fallback;
    }
  }
  return defaults;
}

std::vector<std::string> method_names(const Study& study, const std::vector<PreparedRun>& runs) {
  assert(study.runs.size() == runs.size());
  const reports::Json defaults(default_kinds(study));
  reports::ResultFolder own;
  reports::ResultFolder tuning;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto& folder = study.runs[i].is_tuning ? tuning : own;
    folder.runs.push_back(planned_run(study, defaults, study.runs[i], runs[i]));
  }
  std::vector<std::string> names(runs.size());
  for (auto* folder : {&own, &tuning}) {
    reports::relate_runs(*folder);
    const auto labels = reports::method_labels(*folder);
    auto label = labels.begin();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (study.runs[i].is_tuning == (folder == &tuning)) {
        names[i] = *label++;
      }
    }
  }
  return names;
}

std::set<std::string> unnamed_keys(const PreparedRun& run) {
  std::set<std::string> keys;
  if (!run.puts_nothing_back) {
    return keys;
  }
  const auto feedback = run.config.value("feedback", nlohmann::json::object());
  for (const auto& [key, value] : feedback.items()) {
    keys.insert("feedback." + key);
  }
  return keys;
}

}  // namespace residuum
