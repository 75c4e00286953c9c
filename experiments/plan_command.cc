// residuum plan: the runs of a study, their ids, size and state; runs nothing.

#include <fmt/format.h>

#include "experiments/commands.h"
#include "experiments/run_config.h"
#include "experiments/run_folder.h"
#include "objectives/data/catalogue.h"
#include "reports/result_folder.h"

namespace residuum {
namespace {

struct PlannedRun {
  std::string id;
  std::string state;
  std::uint64_t seed;
  std::uint64_t iterations;
  int workers;
  std::uint64_t worker_iterations;
  bool needs_pilot;
  std::string varying;
};

std::string state_in(const std::filesystem::path& result_dir, const std::string& id) {
  const auto status = result_dir / "runs" / id / "status.json";
  return std::filesystem::exists(status) ? reports::text_at(reports::read_json(status), "state")
                                         : "planned";
}

std::string varying_text(const nlohmann::json& varying) {
  std::string text;
  for (const auto& [key, value] : varying.items()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value.dump());
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
    if (run.state != "finished" && run.state != "diverged") {
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

/// One job with as many tasks as the smallest run has workers.
void print_slurm(const Options& options, std::size_t runs, int workers) {
  fmt::print(
      "#!/bin/bash\n"
      "# One job over {} runs; it goes on where it was stopped.\n"
      "#SBATCH --job-name=residuum\n"
      "#SBATCH --ntasks={}\n"
      "#SBATCH --cpus-per-task=1\n"
      "#SBATCH --signal=USR1@60\n"
      "#SBATCH --requeue\n"
      "srun residuum run {}\n",
      runs,
      workers,
      options.study.string());
}

}  // namespace

ExitCode plan_command(const Options& options) {
  const Study study =
      parse_study(reports::read_file(options.study), options.study.string(), options.overrides);
  ObjectiveCache objectives(
      {.data_dir = data_directory(options.data_dir), .cache_dir = cache_folder(), .workers = 1});
  const auto result_dir = output_folder(options, study.name);
  std::vector<PlannedRun> planned;
  int fewest_workers = 0;
  for (const auto& run : prepare_all(study, objectives)) {
    planned.push_back(
        {.id = run.id,
         .state = state_in(result_dir, run.id),
         .seed = run.seed,
         .iterations = run.training.iterations,
         .workers = run.workers,
         .worker_iterations = run.training.iterations * static_cast<std::uint64_t>(run.workers),
         .needs_pilot = run.needs_pilot,
         .varying = varying_text(run.varying)});
    fewest_workers = fewest_workers == 0 ? run.workers : std::min(fewest_workers, run.workers);
  }
  if (options.plan_format == "json") {
    fmt::print("{}\n", as_json(planned).dump(2));
  } else if (options.plan_format == "slurm") {
    print_slurm(options, planned.size(), fewest_workers);
  } else {
    print_table(planned);
  }
  return ExitCode::done;
}

}  // namespace residuum
