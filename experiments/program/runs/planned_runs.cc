#include "experiments/program/runs/planned_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <span>

#include "core/cluster/mpi_world.h"
#include "experiments/program/runs/job_digest.h"
#include "experiments/program/runs/study_begin.h"
#include "experiments/program/study/prepare_all.h"
#include "experiments/program/study/study_keys.h"
#include "reports/analysis/groups.h"
#include "reports/results/result_folder.h"

namespace residuum {
namespace {

void agree_on_failures(World& world, const Study& study, std::vector<PreparedRun>& runs) {
  std::vector<double> failed;
  failed.reserve(runs.size());
  for (const auto& run : runs) {
    failed.push_back(run.failure.empty() ? 0 : 1);
  }
  world.add_up(std::span<double>(failed));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (failed[i] > 0 && runs[i].failure.empty()) {
      runs[i] = unprepared(study.runs[i], "another process could not prepare it");
    }
  }
}

/// True for a run that could not be prepared here and may have been begun where it could.
bool needs_identity(const PreparedRun& run) { return !run.failure.empty() && !run.is_refused; }

void recall_identities(World& world,
                       const Study& study,
                       const std::filesystem::path& result_dir,
                       std::vector<PreparedRun>& runs) {
  const bool any = std::any_of(
      runs.begin(), runs.end(), [](const PreparedRun& run) { return needs_identity(run); });
  if (!any) {
    return;
  }
  const std::string text =
      text_of_root(world, [&] { return nlohmann::json(ids_by_settings(result_dir)).dump(); });
  const auto known = nlohmann::json::parse(text);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (needs_identity(runs[i])) {
      runs[i].id = known.value(settings_hash(study.runs[i]), runs[i].id);
    }
  }
}

/// Returns what the processes must have found alike: the data first, since other things follow from
/// them. Runs that were not prepared are known by their settings alone, which are the same.
JobDigest digest_of_runs(const std::vector<PreparedRun>& runs) {
  JobDigest digest{{{.name = "the number of runs", .text = std::to_string(runs.size())}}};
  const auto add = [&](const char* what, const auto& text_of) {
    for (const auto& run : runs) {
      if (run.failure.empty()) {
        digest.parts.push_back({.name = fmt::format("{} {}", what, label_of(run.varying, run.seed)),
                                .text = text_of(run)});
      }
    }
  };
  add("the fingerprint of the data of run",
      [](const PreparedRun& run) { return run.data_fingerprint; });
  add("the configuration of run", [](const PreparedRun& run) { return run.config.dump(); });
  add("the id of run", [](const PreparedRun& run) { return run.id; });
  return digest;
}

}  // namespace

std::string text_of_root(World& world, const std::function<std::string()>& make) {
  Bytes bytes;
  together(world, [&] {
    if (world.is_root()) {
      const std::string text = make();
      bytes.resize(text.size());
      std::memcpy(bytes.data(), text.data(), text.size());
    }
  });
  broadcast(world, 0, bytes);
  std::string text(bytes.size(), '\0');
  std::memcpy(text.data(), bytes.data(), bytes.size());
  return text;
}

std::vector<PreparedRun> plan_together(World& world,
                                       const Study& study,
                                       ObjectiveCache& objectives,
                                       const std::filesystem::path& result_dir) {
  std::vector<PreparedRun> runs;
  each_together(world, [&] { runs = prepare_all(study, objectives); });
  agree_on_failures(world, study, runs);
  if (world.size() > 1) {
    agree(world, digest_of_runs(runs));
  }
  recall_identities(world, study, result_dir, runs);
  return runs;
}

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
