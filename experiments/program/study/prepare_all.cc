#include "experiments/program/study/prepare_all.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <new>
#include <utility>

#include "core/error.h"
#include "core/fnv1a.h"
#include "core/stop.h"
#include "reports/results/result_folder.h"

namespace residuum {

namespace {

std::string words_of(const nlohmann::json& varying, const nlohmann::json& names) {
  std::string words;
  for (const auto& [key, value] : varying.items()) {
    const auto dot = key.find('.');
    const std::string name = key.substr(dot + 1);
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const auto of_key = names.value(key, nlohmann::json::object());
    const std::string label = of_key.value(reports::plain_text(value), std::string());
    const bool speaks_for_itself = !label.empty() || name == "kind" || name == "putback";
    words +=
        fmt::format("{}{} ", speaks_for_itself ? "" : name + "=", label.empty() ? text : label);
  }
  return words;
}

}  // namespace

std::string label_of(const nlohmann::json& varying, std::uint64_t seed) {
  return words_of(varying, nlohmann::json::object()) + "seed=" + std::to_string(seed);
}

std::string label_of(const RunSpec& run, const Study& study) {
  const std::string words =
      run.label.empty() ? words_of(run.varying, study.labels) : run.label + ' ';
  return words + "seed=" + std::to_string(run.seed);
}

Notice notice_of(const Outcome& outcome) {
  constexpr double kLong = 5;
  if (outcome.state == Outcome::State::diverged) {
    return Notice::trouble;
  }
  const bool is_short = outcome.state == Outcome::State::finished && outcome.wall_s <= kLong;
  return is_short ? Notice::quiet : Notice::progress;
}

std::string describe(const Outcome& outcome) {
  if (outcome.state != Outcome::State::finished) {
    return outcome.message;
  }
  std::string text = fmt::format("{:.2f} s", outcome.wall_s);
  if (outcome.evaluation) {
    text += fmt::format(", loss {:.6g}", outcome.evaluation->loss);
  }
  if (outcome.test) {
    if (outcome.test->perplexity) {
      text += fmt::format(", test perplexity {:.2f}", *outcome.test->perplexity);
    } else if (std::isnan(outcome.test->accuracy)) {
      text += fmt::format(", test loss {:.6g}", outcome.test->loss);
    } else {
      text += fmt::format(", test accuracy {:.4f}", outcome.test->accuracy);
    }
  }
  return text;
}

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

/// Returns whether an evaluation on held-out data has an accuracy.
bool has_accuracy(const Objective& objective, std::uint64_t seed) {
  std::vector<double> w(objective.dimension());
  std::vector<double> statistics(objective.statistics());
  objective.initial_point(seed, w);
  objective.initial_statistics(statistics);
  const auto result = objective.test(Point(w, statistics));
  return result && !std::isnan(result->accuracy);
}

/// Returns whether the run has virtual time, which messages or gradients take.
bool has_virtual_time(const PreparedRun& run) {
  const ProtocolLaw law = law_of(run);
  return !law.is_on_wall_clock && (!run.training.networks.empty() || law.times_gradients);
}

/// Throws a usage error where the run measures no such quantity.
void require_measured(const std::string& quantity,
                      const std::string& place,
                      const PreparedRun& run) {
  const Objective& objective = *run.objective;
  const std::string kind = run.config.at("objective").at("kind").get<std::string>();
  require(objective.has_function(),
          "{}: nothing can be tuned on objective '{}', which has gradients alone",
          place,
          kind);
  require(quantity != "accuracy" || has_accuracy(objective, run.seed),
          "{}: runs on objective '{}' have no accuracy, as there are no held-out data that it "
          "classifies; take loss",
          place,
          kind);
  require(quantity != "loss-gap" || objective.facts().minimum.has_value(),
          "{}: the minimum of objective '{}' is not known, and so no loss-gap; take loss",
          place,
          kind);
  require(quantity != "time" || has_virtual_time(run),
          "{}: messages and gradients take no virtual time; give [network] or protocol.compute, or "
          "take bytes",
          place);
}

/// Refuses a tuning by what no run measures. Runs on the objective that was looked at last, which
/// is shared by its neighbours, are not looked at again.
void check_tuned_quantity(const StudyTune& tune,
                          const PreparedRun& run,
                          std::weak_ptr<const Objective>& last) {
  require_measured(tune.plan.quantity == "time" ? "time" : "loss", tune.place, run);
  if (run.objective == last.lock()) {
    return;
  }
  last = run.objective;
  require_measured(tune.plan.quantity, tune.place, run);
  require_measured(tune.plan.target_of, tune.place, run);
}

/// Returns in words which two runs are the same, and what to do about it.
std::string words_on_equal_runs(const Study& study,
                                std::size_t first,
                                std::size_t run,
                                const PreparedRun& prepared) {
  const std::string name = label_of(study.runs[run], study);
  const std::string other = label_of(study.runs[first], study);
  if (study.tune && study.runs[run].is_tuning) {
    return fmt::format("{}: two of the values make the same run, {}; tune what every method reads",
                       fmt::join(study.tune->places, " and "),
                       name);
  }
  return fmt::format(
      "two runs of the study are the same, {} ({}); remove one of them{}",
      name == other ? name : fmt::format("'{}' and '{}'", other, name),
      prepared.id,
      study.own_settings_are_a_run
          ? ": without [sweep] the study's own settings are a run beside its [[point]]s"
          : "");
}

/// Prepares a run that values beyond the grid of a tuning may refuse.
PreparedRun prepare_or_refuse(const RunSpec& spec, ObjectiveCache& objectives, KnownKeys& known) {
  try {
    return prepare(spec, objectives, known);
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage || !spec.is_extension) {
      throw;
    }
    PreparedRun run = unprepared(spec, error.what());
    run.id.clear();
    run.is_refused = true;
    return run;
  }
}

/// Prepares a run, or says which memory, file or other resource it lacks.
PreparedRun prepare_or_say_why(const Study& study,
                               const RunSpec& spec,
                               ObjectiveCache& objectives,
                               KnownKeys& known,
                               std::weak_ptr<const Objective>& looked_at) {
  try {
    PreparedRun run = prepare_or_refuse(spec, objectives, known);
    if (study.tune && run.objective) {
      check_tuned_quantity(*study.tune, run, looked_at);
    }
    return run;
  } catch (const std::bad_alloc&) {
    return unprepared(spec, "out of memory");
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) {
      throw;
    }
    return unprepared(spec, error.what());
  }
}

void require_different(const Study& study, const std::vector<PreparedRun>& runs) {
  std::map<std::string, std::size_t> first;  // by id
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool is_new = runs[i].is_refused || first.emplace(runs[i].id, i).second;
    require(is_new, "{}", is_new ? "" : words_on_equal_runs(study, first[runs[i].id], i, runs[i]));
  }
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
  std::weak_ptr<const Objective> looked_at;  // it may be freed for the next one
  for (const auto& spec : study.runs) {
    stop_if_requested();
    PreparedRun run = prepare_or_say_why(study, spec, objectives, known, looked_at);
    knows_all = knows_all && (run.failure.empty() || run.is_refused);
    keep_identity(run);
    runs.push_back(std::move(run));
  }
  if (knows_all) {  // an unprepared run may be the one that reads a key
    known.check(study);
  }
  require_different(study, runs);
  return runs;
}

void require_prepared(const Study& study, const std::vector<PreparedRun>& runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].failure.empty() && !runs[i].is_refused) {
      resource_error("{} cannot be prepared: {}", label_of(study.runs[i], study), runs[i].failure);
    }
  }
}

}  // namespace residuum
