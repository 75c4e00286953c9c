// `residuum plan` prints the runs of a study, their ids, size and state, or the layers of their
// models. It runs nothing.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "assumptions/theorems/tight.h"
#include "core/schedules/tight_rate.h"
#include "core/text.h"
#include "core/vectors/cuda/cuda_device.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/commands/plan_formats.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/runs/planned_runs.h"
#include "experiments/program/runs/run_batches.h"
#include "experiments/program/runs/run_folder.h"
#include "experiments/program/runs/run_status.h"
#include "experiments/program/study/foreign_code.h"
#include "experiments/program/study/prepare_all.h"
#include "experiments/program/study/run_config.h"
#include "experiments/program/study/worker_smoothness.h"
#include "objectives/data/catalogue.h"
#include "reports/results/result_folder.h"
#include "reports/terminal/table.h"

namespace residuum {
namespace {

std::string state_in(const std::filesystem::path& result_dir, const PreparedRun& run) {
  if (!run.failure.empty()) {
    return "unprepared";
  }
  const auto status = result_dir / "runs" / run.id / "status.json";
  std::error_code error;
  if (!std::filesystem::exists(status, error)) {
    if (error) {
      resource_error("cannot look for '{}': {}", status.string(), error.message());
    }
    return "planned";
  }
  try {
    auto state = harmless(reports::text_at(reports::read_json(status), "state"));
    return is_over_state(state) && !is_done(result_dir, run.id) ? "damaged" : state;
  } catch (const Error&) {
    return "damaged";  // it is run again
  }
}

std::string varying_text(const nlohmann::json& varying) {
  std::string text;
  for (const auto& [key, value] : varying.items()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, harmless(shown(value)));
  }
  return text;
}

/// A model that runs of the study train.
struct PlannedModel {
  std::string objective;  // its section as it was written
  std::string kind;
  std::vector<Layer> layers;
};

/// Returns the models of the study, one per [objective], also if the study names layers wrongly:
/// the user may be looking for the right names.
std::vector<PlannedModel> models_of(const Study& study, ObjectiveCache& objectives) {
  std::vector<PlannedModel> models;
  for (RunSpec spec : study.runs) {
    const std::string objective =
        Section::with_places("objective", spec.sections["objective"]).given().dump();
    const bool is_known = std::any_of(models.begin(), models.end(), [&](const auto& model) {
      return model.objective == objective;
    });
    if (is_known) {
      continue;
    }
    spec.sections["probes"].erase("layers");
    KnownKeys ignored;
    const auto run = prepare(spec, objectives, ignored);
    models.push_back({.objective = objective,
                      .kind = run.config["objective"]["kind"].get<std::string>(),
                      .layers = run.objective->layers()});
  }
  return models;
}

std::string shape_text(const Layer& layer) {
  return fmt::format("{}", fmt::join(layer.shape, "x"));
}

void print_models(const std::vector<PlannedModel>& models) {
  for (const auto& model : models) {
    if (models.size() > 1) {
      fmt::print("{} {}\n", model.kind, model.objective);
    }
    std::vector<std::vector<std::string>> rows{{"layer", "shape", "offset", "size"}};
    rows.reserve(model.layers.size() + 1);
    for (const auto& layer : model.layers) {
      rows.push_back({layer.name,
                      shape_text(layer),
                      fmt::format("{}", layer.offset),
                      fmt::format("{}", layer.size)});
    }
    fmt::print("{}", reports::aligned(rows));
  }
}

nlohmann::json as_json(const std::vector<PlannedModel>& models) {
  auto list = nlohmann::json::array();
  for (const auto& model : models) {
    auto layers = nlohmann::json::array();
    for (const auto& layer : model.layers) {
      layers.push_back({{"name", layer.name},
                        {"shape", layer.shape},
                        {"offset", layer.offset},
                        {"size", layer.size}});
    }
    list.push_back({{"objective", nlohmann::json::parse(model.objective)}, {"layers", layers}});
  }
  return list;
}

/// Prints the layers that probes.layers may name, and where they lie in the model.
void plan_layers(const Options& options, const Study& study, ObjectiveCache& objectives) {
  require(plan_format(options.plan_format).lists_layers,
          "--layers: a plan for an engine lists no layers; leave --format {} out",
          options.plan_format);
  const auto models = models_of(study, objectives);
  if (options.plan_format == "json") {
    print_json(as_json(models));
  } else {
    print_models(models);
  }
}

/// Returns the gradients of an iteration. If they vary, or the run was not prepared, one of each
/// worker is counted.
std::uint64_t gradients_of(const PreparedRun& run) {
  const auto workers = static_cast<std::uint64_t>(run.workers);
  return run.protocol ? law_of(run).contributions.value_or(workers) : workers;
}

/// Returns the number of gradients that the run's workers compute within the given virtual seconds,
/// at their pace and by their protocol.
double gradients_within(double seconds, const PreparedRun& run) {
  const auto of_all = run.protocol->gradients_within(seconds, run.training, run.workers);
  const double taking_part = static_cast<double>(run.participants()) / std::max(run.workers, 1);
  return of_all ? *of_all * taking_part : 0;
}

/// Returns the gradients of all workers in a run; an estimate where they vary.
std::uint64_t all_gradients_of(const PreparedRun& run) {
  const OpenBudget& budget = run.training.budget;
  if (budget.gradients) {
    return *budget.gradients;
  }
  if (budget.virtual_s && run.protocol) {
    constexpr double kMost = 1e18;
    return static_cast<std::uint64_t>(std::min(kMost, gradients_within(*budget.virtual_s, run)));
  }
  return run.training.iterations * gradients_of(run);
}

/// The least and the most gradients of a method's seeds.
struct MadeGradients {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;

  void add(std::uint64_t made) {
    least = std::min(least, made);
    most = std::max(most, made);
  }
  std::string words() const {
    return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  }
};

/// Notes on runs, one line for each text.
class RunNotes {
 public:
  /// Runs whose texts are the same share a line.
  void add(const std::string& text) {
    if (counts_[text]++ == 0) {
      order_.push_back(text);
    }
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    lines.reserve(order_.size());
    for (const auto& text : order_) {
      const std::size_t runs = counts_.at(text);
      lines.push_back(fmt::format("{} {}: {}", runs, runs == 1 ? "run" : "runs", text));
    }
    return lines;
  }

 private:
  std::map<std::string, std::size_t> counts_;
  std::vector<std::string> order_;
};

/// Returns a line for each budget that does not say how many gradients its runs make, or not
/// exactly. `planned` has the gradients of each run.
std::vector<std::string> notes_on_budgets(const std::vector<PreparedRun>& runs,
                                          const std::vector<PlannedRun>& planned) {
  std::map<std::string, MadeGradients> of_methods;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].failure.empty() && runs[i].training.budget.virtual_s) {
      of_methods[runs[i].varying.dump()].add(planned[i].worker_iterations);
    }
  }
  RunNotes notes;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const PreparedRun& run = runs[i];
    if (!run.failure.empty()) {
      continue;
    }
    const std::uint64_t made = planned[i].worker_iterations;
    const auto budget = run.config.find("budget");
    const std::uint64_t asked =
        budget == run.config.end() ? 0 : budget->value("gradients", std::uint64_t{0});
    if (run.training.budget.virtual_s) {
      notes.add(
          fmt::format("budget.virtual_s = {} ends after about {} gradients, those of whole "
                      "iterations, if messages take no time",
                      *run.training.budget.virtual_s,
                      of_methods[run.varying.dump()].words()));
    } else if (asked > 0 && made != asked) {
      notes.add(fmt::format("budget.gradients = {} makes {}: whole iterations of {}",
                            asked,
                            made,
                            gradients_of(run)));
    }
  }
  return notes.lines();
}

bool wants_missing_gpu(const PreparedRun& run) {
  return run.wants_device && run.device_obstacle.empty() &&
         run.device.kind == WantedDevice::Kind::cuda &&
         run.device.index.value_or(0) >= cuda::device_count();
}

/// Adds a line for each reason why something is done on the host in runs that want a device.
void add_notes_on_devices(const std::vector<PreparedRun>& runs, std::vector<std::string>& lines) {
  RunNotes notes;
  for (const PreparedRun& run : runs) {
    if (!run.failure.empty()) {
      continue;
    }
    for (const std::string& note : host_notes(run)) {
      notes.add(note);
    }
    if (wants_missing_gpu(run)) {
      notes.add(
          "would fail here: workers.device is \"cuda\", and this machine shows no such device");
    }
  }
  for (auto& line : notes.lines()) {
    lines.push_back(std::move(line));
  }
}

/// Estimates the seconds of a run on one core: a worker passes over d numbers for its gradient of
/// each sample and twice for its message. The estimate only separates runs that are far shorter or
/// longer than others.
double estimated_seconds(const PreparedRun& run, std::uint64_t gradients) {
  constexpr double kSecondsPerNumber = 1e-9;
  constexpr double kSecondsPerMessage = 1e-5;
  constexpr double kPasses = 2;
  constexpr double kPilots = 11;  // at most, with the run itself
  const auto batch = static_cast<double>(run.training.batch);
  const double samples =
      batch > 0 ? batch : static_cast<double>(run.samples) / std::max(run.workers, 1);
  const double per_gradient = kSecondsPerMessage + kSecondsPerNumber * (kPasses + samples) *
                                                       static_cast<double>(run.dimension);
  return static_cast<double>(gradients) * per_gradient * (run.needs_pilot ? kPilots : 1);
}

/// Returns in words where the step of a run lies against the one that is best in the worst case;
/// empty where the tight theory of error feedback would not apply at its step either.
std::string tight_step_note(const PreparedRun& run) {
  constexpr double kMostNumbers = 1e7;  // to draw more for its facts takes longer than a plan may
  const auto step = run.method->step_rule->constant();
  if (!step || static_cast<double>(run.dimension) * run.workers > kMostNumbers) {
    return {};
  }
  RunFacts facts = run_facts(run);
  if (!facts.gradients.full || !facts.objective.worker_strong_convexity) {
    return {};  // before L_p is computed of data
  }
  const auto of_workers = worker_smoothness(run);
  const auto largest = std::max_element(of_workers.begin(), of_workers.end());
  if (largest != of_workers.end()) {
    facts.objective.worker_smoothness_max = Known{*largest, {}};
  }
  const auto problem = compressed_problem_of(facts);
  const auto known =
      problem ? lyapunov_facts(facts, tight_step(*problem)) : std::optional<LyapunovFacts>();
  if (!known || !known->rate) {
    return {};
  }
  const double best = tight_step(*problem);
  return fmt::format(
      "the step {:.4g} is {:.3g} of η* = {:.4g}, at which V falls by {:.6g}; see residuum rate "
      "--study STUDY --step {:.4g}",
      *step,
      *step / best,
      best,
      *known->rate,
      *step);
}

/// Says each note once, for the methods that it is of: the first ones, by their first seed.
void say_tight_steps(const Study& study,
                     const std::vector<std::string>& methods,
                     ObjectiveCache& objectives) {
  constexpr int kMost = 5;
  std::vector<std::pair<std::string, std::string>> notes;  // and the methods' names
  KnownKeys known;
  int looked_at = 0;
  for (std::size_t i = 0; i < study.runs.size(); ++i) {
    const RunSpec& spec = study.runs[i];
    if (spec.seed != study.runs.front().seed || ++looked_at > kMost) {
      continue;
    }
    const PreparedRun run = prepare(spec, objectives, known);
    const auto note = tight_step_note(run);
    if (note.empty()) {
      continue;
    }
    const auto same = std::find_if(
        notes.begin(), notes.end(), [&](const auto& other) { return other.first == note; });
    const std::string name = harmless(methods[i]);
    if (same == notes.end()) {
      notes.emplace_back(note, name);
    } else {
      same->second += "; " + name;
    }
  }
  for (const auto& [note, names] : notes) {
    say(fmt::format("{}: {}", names, note));
  }
}

/// Returns the level of the grid's first values.
std::size_t first_grid_level(const reports::TuningPlan& plan) {
  std::vector<std::size_t> places;
  for (const auto& axis : plan.axes) {
    places.push_back(axis.first);
  }
  return plan.level_at(places);
}

/// Returns how often every share has to be begun: for each round of the tuning, each value beyond
/// its grid, and the runs at the best values.
std::size_t starts_of(const Study& study) {
  if (!study.tune) {
    return 1;
  }
  std::size_t beyond = 0;
  for (const auto& axis : study.tune->plan.axes) {
    beyond += std::max(axis.first, axis.values.size() - 1 - axis.last);
  }
  return study.tune->plan.rounds() + 1 + beyond;
}

/// Of the trials in a round of halving as many count as stay; which ones is not known yet.
bool may_stay(const StudyTune& tune, std::size_t run) {
  const auto& plan = tune.plan;
  const std::size_t trial = run % tune.runs_of_method() / plan.seeds.size();
  return plan.halving == 0 || plan.level_of(trial) < plan.kept(plan.round_of(trial));
}

/// Sets the seconds of runs to 0 that only replace others or extend the grid, because shards divide
/// the plan's work. So the work does not depend on how far the tuning is.
void leave_out_alternatives(const Study& study, std::size_t first, Plan& plan) {
  const StudyTune& tune = *study.tune;
  for (std::size_t method = 0; method < tune.methods; ++method) {
    const std::size_t chosen = tune.final_run(method, first, 0);
    const std::size_t end = method * tune.runs_of_method() + tune.runs_of_method();
    for (std::size_t i = method * tune.runs_of_method(); i < end; ++i) {
      const bool counts = study.runs[i].is_tuning ? !study.runs[i].is_extension && may_stay(tune, i)
                                                  : i >= chosen && i < chosen + tune.seeds;
      plan.runs[i].seconds = counts ? plan.runs[i].seconds : 0;
    }
  }
}

/// Returns what a plan says of the run.
PlannedRun planned(const PreparedRun& run, const std::filesystem::path& result_dir) {
  const std::uint64_t gradients = all_gradients_of(run);
  return {.id = run.id,
          .state = state_in(result_dir, run),
          .seed = run.seed,
          .iterations =
              run.training.budget.is_open() ? std::nullopt : std::optional(run.training.iterations),
          .workers = run.workers,
          .processes =
              run.protocol != nullptr ? run.protocol->most_processes(run.workers) : run.workers,
          .worker_iterations = gradients,
          .needs_pilot = run.needs_pilot,
          .seconds = estimated_seconds(run, gradients),
          .label = {},
          .varying = varying_text(run.varying)};
}

/// Marks the runs of the tuning and those that it has yet to choose, and adds up the work.
void plan_tuning(const Study& study, const std::vector<PreparedRun>& runs, Plan& plan) {
  const StudyTune& tune = *study.tune;
  std::vector<std::string> ids;
  ids.reserve(runs.size());
  for (const auto& run : runs) {
    ids.push_back(run.id);
  }
  RunBatches batches(study, Share{}, std::move(ids), plan.result_dir);
  batches.next();
  std::vector<bool> is_known(runs.size(), false);
  for (const std::size_t run : batches.known()) {
    is_known[run] = true;
  }
  TunedPlan tuned{.methods = tune.methods,
                  .final_runs = tune.methods * tune.seeds,
                  .halves = tune.plan.halving > 0};
  std::size_t all_tuning = 0;
  std::size_t known_tuning = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    PlannedRun& planned = plan.runs[i];
    planned.is_tuning = study.runs[i].is_tuning;
    planned.is_open = !is_known[i];
    known_tuning += planned.is_tuning && is_known[i] ? 1U : 0U;
    all_tuning += planned.is_tuning && !runs[i].is_refused && may_stay(tune, i) ? 1U : 0U;
  }
  tuned.most_further = all_tuning - known_tuning;
  const std::size_t first = first_grid_level(tune.plan);
  leave_out_alternatives(study, first, plan);
  for (std::size_t method = 0; method < tune.methods; ++method) {
    const auto begin = is_known.begin() + static_cast<std::ptrdiff_t>(tune.final_run(method, 0, 0));
    const auto end = begin + static_cast<std::ptrdiff_t>(tune.plan.levels() * tune.seeds);
    if (std::find(begin, end, true) == end) {
      tuned.undecided_work +=
          tune.seeds * plan.runs[tune.final_run(method, first, 0)].worker_iterations;
      ++tuned.undecided;
    }
  }
  plan.tuned = tuned;
}

/// Refuses formats of engines that cannot be told what a search or a tuning decides.
void require_plannable(const Options& options, const Study& study) {
  const auto& format = plan_format(options.plan_format);
  require(!study.search || !format.is_an_engine,
          "--format {}: a search decides run by run what comes next, so no engine can plan it; use "
          "'residuum run' with --groups",
          options.plan_format);
  require(!study.tune || !format.is_an_engine || format.starts_again,
          "--format {}: runs at the best values begin when the tuning has ended, which this engine "
          "cannot be told; use --format slurm, or 'residuum run' with --groups or --shard",
          options.plan_format);
}

}  // namespace

ExitCode plan_command(const Options& options) {
  const Study study =
      parse_study(read_study_file(options.study), options.study.string(), options.overrides);
  ObjectiveCache objectives({.data_dir = data_directory(options.data_dir),
                             .cache_dir = cache_folder(),
                             .workers = 1,
                             .allow_commands = options.allow_commands,
                             .study_dir = options.study.parent_path()});
  require(!options.job.are_given() || plan_format(options.plan_format).takes_job_options,
          "--time, --mem, --partition, --account, --tasks, --processes and --before are for "
          "--format slurm");
  if (options.layers) {
    plan_layers(options, study, objectives);
    return ExitCode::done;
  }
  require_plannable(options, study);
  Plan plan{.study = study.name,
            .runs = {},
            .most_runs = study.search ? study.search->most_runs() : 0,
            .starts = starts_of(study),
            .tuned = std::nullopt,
            .needs_processes = real_execution(study) != nullptr,
            .result_dir = output_folder(options, study.name),
            .notes = {}};
  reports::require_own_schema_in(plan.result_dir);
  constexpr std::size_t kMany = 10000;
  if (study.runs.size() >= kMany) {
    say(fmt::format("preparing {} runs", study.runs.size()));
  }
  const auto runs = prepare_all(study, objectives);
  const auto methods = method_names(study, runs);
  plan.runs.reserve(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    plan.runs.push_back(planned(runs[i], plan.result_dir));
    plan.runs.back().label = methods[i];
  }
  plan.notes = notes_on_budgets(runs, plan.runs);
  add_notes_on_devices(runs, plan.notes);
  if (study.own_settings_are_a_run) {
    plan.notes.emplace_back(
        "the study's own settings are a run too, beside its [[point]]s: without [sweep] they "
        "always "
        "are; a [[point]] with a label alone names it");
  }
  if (study.tune) {
    plan_tuning(study, runs, plan);
  }
  plan_format(options.plan_format).print(options, plan);
  require_prepared(study, runs);
  if (plan_format(options.plan_format).has_notes) {
    say_tight_steps(study, methods, objectives);
  }
  if (const std::string note = foreign_code_note(study); !note.empty()) {
    say(note);
  }
  return ExitCode::done;
}

}  // namespace residuum
