// `residuum plan` prints the runs of a study, their ids, size and state, or the layers of their
// models. It runs nothing.

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "experiments/commands/commands.h"
#include "experiments/console/streams.h"
#include "experiments/runs/provenance.h"
#include "experiments/runs/run_folder.h"
#include "experiments/study/prepare_all.h"
#include "experiments/study/run_config.h"
#include "objectives/data/catalogue.h"
#include "reports/tables/result_folder.h"
#include "reports/terminal/table.h"

namespace residuum {
namespace {

struct PlannedRun {
  std::string id;
  std::string state;
  std::uint64_t seed;
  std::uint64_t iterations;
  int workers;
  int processes;  // at most
  std::uint64_t worker_iterations;
  bool needs_pilot;
  std::string varying;
};

bool is_over(const std::string& state) { return state == "finished" || state == "diverged"; }

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
    return is_over(state) && !is_done(result_dir, run.id) ? "damaged" : state;
  } catch (const Error&) {
    return "damaged";  // it is run again
  }
}

std::string varying_text(const nlohmann::json& varying) {
  std::string text;
  for (const auto& [key, value] : varying.items()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, harmless(value.dump()));
  }
  return text;
}

nlohmann::json as_json(const std::vector<PlannedRun>& runs) {
  auto list = nlohmann::json::array();
  for (const auto& run : runs) {
    list.push_back({{"run_id", run.id},
                    {"state", run.state},
                    {"seed", run.seed},
                    {"iterations", run.iterations},
                    {"workers", run.workers},
                    {"worker_iterations", run.worker_iterations},
                    {"needs_pilot", run.needs_pilot},
                    {"varying", run.varying}});
  }
  return list;
}

void print_table(const std::vector<PlannedRun>& runs) {
  std::uint64_t work = 0;
  std::size_t left = 0;
  std::size_t pilots = 0;
  for (const auto& run : runs) {
    fmt::print("{:<10} {:<50} P={:<5} T={:<8} {}\n",
               run.state,
               run.id,
               run.workers,
               run.iterations,
               run.varying);
    if (!is_over(run.state)) {
      work += run.worker_iterations;
      ++left;
      pilots += run.needs_pilot ? 1U : 0U;
    }
  }
  fmt::print("{} runs, {} to do: {} worker-iterations\n", runs.size(), left, work);
  if (pilots > 0) {
    fmt::print(
        "{} of them find a threshold first: 1 pilot run (\"pilot\") or about 10 "
        "(\"matched\") of the same size, not counted above\n",
        pilots);
  }
}

/// The command that does one task's share of the study, for a shell.
std::string share_command(const Options& options) {
  std::vector<std::string> words{"residuum", "run", options.study.string(), "--progress=lines"};
  for (const auto& change : options.overrides) {
    words.insert(words.end(), {"--set", change});
  }
  if (options.out) {
    words.insert(words.end(), {"--out", options.out->string()});
  }
  if (options.data_dir) {
    words.insert(words.end(), {"--data-dir", *options.data_dir});
  }
  return quoted_command(words) + " --shard \"$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT\"";
}

/// Prints a job array with a task per run that is left; each takes as many processes as
/// every run can have. Tasks that are stopped in time put themselves back into the queue.
void print_slurm(const Options& options, const std::vector<PlannedRun>& runs) {
  const auto left = std::count_if(
      runs.begin(), runs.end(), [](const PlannedRun& run) { return !is_over(run.state); });
  int processes = runs.front().processes;
  for (const auto& run : runs) {
    processes = std::min(processes, run.processes);
  }
  fmt::print(
      "#!/bin/bash\n"
      "# {} of {} runs are left. Any array from 1 on divides them; finished ones are skipped.\n"
      "#SBATCH --job-name=residuum\n"
      "#SBATCH --array=1-{}\n"
      "#SBATCH --ntasks={}\n"
      "#SBATCH --cpus-per-task=1\n"
      "#SBATCH --signal=USR1@60\n"
      "srun {}\n"
      "code=$?\n"
      "if [ $code -eq {} ] || [ $code -eq {} ]; then\n"
      "  scontrol requeue \"${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID\"\n"
      "fi\n"
      "exit $code\n",
      left,
      runs.size(),
      std::max<std::ptrdiff_t>(1, left),
      processes,
      share_command(options),
      static_cast<int>(ExitCode::stopped),
      static_cast<int>(ExitCode::time_limit));
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
    const std::string objective = Section("objective", spec.sections["objective"]).given().dump();
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
  require(options.plan_format != "slurm", "--layers: a job array lists no layers");
  const auto models = models_of(study, objectives);
  if (options.plan_format == "json") {
    print_json(as_json(models));
  } else {
    print_models(models);
  }
}

/// Returns the gradients of an iteration. Where they vary, or the run was not prepared, one of each
/// worker is counted.
std::uint64_t gradients_of(const PreparedRun& run) {
  const auto workers = static_cast<std::uint64_t>(run.workers);
  return run.protocol ? run.protocol->law(run.workers).contributions.value_or(workers) : workers;
}

}  // namespace

ExitCode plan_command(const Options& options) {
  const Study study =
      parse_study(read_study_file(options.study), options.study.string(), options.overrides);
  ObjectiveCache objectives(
      {.data_dir = data_directory(options.data_dir), .cache_dir = cache_folder(), .workers = 1});
  if (options.layers) {
    plan_layers(options, study, objectives);
    return ExitCode::done;
  }
  const auto result_dir = output_folder(options, study.name);
  std::vector<PlannedRun> planned;
  constexpr std::size_t kMany = 10000;
  if (study.runs.size() >= kMany) {
    say(fmt::format("preparing {} runs", study.runs.size()));
  }
  const auto runs = prepare_all(study, objectives);
  planned.reserve(runs.size());
  for (const auto& run : runs) {
    planned.push_back({.id = run.id,
                       .state = state_in(result_dir, run),
                       .seed = run.seed,
                       .iterations = run.training.iterations,
                       .workers = run.workers,
                       .processes = run.protocol != nullptr
                                        ? run.protocol->most_processes(run.workers)
                                        : run.workers,
                       .worker_iterations = run.training.iterations * gradients_of(run),
                       .needs_pilot = run.needs_pilot,
                       .varying = varying_text(run.varying)});
  }
  if (options.plan_format == "json") {
    print_json(as_json(planned));
  } else if (options.plan_format == "slurm") {
    print_slurm(options, planned);
  } else {
    print_table(planned);
  }
  require_prepared(runs);
  return ExitCode::done;
}

}  // namespace residuum
