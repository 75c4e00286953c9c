#include "experiments/program/study/prepare_all.h"

#include <new>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/fnv1a.h"
#include "core/stop.h"
#include "experiments/program/study/run_words.h"

namespace residuum {
namespace {

/// Frees what a run needs only to be trained, and keeps what tells it from others.
void keep_identity(PreparedRun& run) {
  run.objective.reset();
  run.method.reset();
  Training& training = run.training;
  training.objective = nullptr;
  training.method = nullptr;
  training.shards.clear();
  for (auto* cadence : {&training.plan.measured,
                        &training.plan.evaluated,
                        &training.plan.tested,
                        &training.plan.virtual_points,
                        &training.plan.split,
                        &training.plan.power,
                        &training.plan.sorted,
                        &training.plan.magnitudes}) {
    cadence->reset();  // each may list millions of iterations
  }
}

/// Returns the settings of every section that a study can have.
nlohmann::json given_settings(const RunSpec& spec) {
  auto settings = nlohmann::json::object();
  for (const auto& name : section_names()) {
    const auto found = spec.sections.find(name);
    settings[name] = found == spec.sections.end()
                         ? nlohmann::json::object()
                         : Section::with_places(name, found->second).given();
  }
  return settings;
}

}  // namespace

std::string settings_hash(const RunSpec& spec) {
  return short_hash(nlohmann::json{{"settings", given_settings(spec)}, {"seed", spec.seed}}.dump());
}

PreparedRun unprepared(const RunSpec& spec, const std::string& failure) {
  PreparedRun run;
  run.seed = spec.seed;
  run.varying = spec.varying;
  run.workers = workers_of(spec);
  run.config = given_settings(spec);
  run.id = fmt::format("unprepared-s{}-{}", run.seed, settings_hash(spec));
  run.failure = failure;
  return run;
}

std::vector<PreparedRun> prepare_all(const Study& study, ObjectiveCache& objectives) {
  std::vector<PreparedRun> runs;
  KnownKeys known;
  bool knows_all = true;
  for (const auto& spec : study.runs) {
    stop_if_requested();
    PreparedRun run;
    try {
      run = prepare(spec, objectives, known);
    } catch (const std::bad_alloc&) {
      run = unprepared(spec, "out of memory");
    } catch (const Error& error) {
      if (error.code() != ExitCode::resource) {
        throw;
      }
      run = unprepared(spec, error.what());
    }
    knows_all = knows_all && run.failure.empty();
    keep_identity(run);
    runs.push_back(std::move(run));
  }
  if (knows_all) {  // an unprepared run may be the one that reads a key
    known.check(study);
  }
  std::set<std::string> ids;
  for (const auto& run : runs) {
    require(ids.insert(run.id).second,
            "two runs of the study are the same, {} ({}); remove one of them{}",
            label_of(run.varying, run.seed),
            run.id,
            study.own_settings_are_a_run
                ? ": without [sweep] the study's own settings are a run beside its [[point]]s"
                : "");
  }
  return runs;
}

void require_prepared(const std::vector<PreparedRun>& runs) {
  for (const auto& run : runs) {
    if (!run.failure.empty()) {
      resource_error("{} cannot be prepared: {}", label_of(run.varying, run.seed), run.failure);
    }
  }
}

}  // namespace residuum
