#include "experiments/program/commands/plan_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "experiments/program/console/streams.h"

namespace residuum {
namespace {

using Json = nlohmann::json;

void print_plan_as_json(const Options& /*options*/, const Plan& plan) {
  auto list = nlohmann::json::array();
  for (const auto& run : plan.runs) {
    if (run.is_open) {
      continue;
    }
    list.push_back({{"run_id", run.id},
                    {"state", run.state},
                    {"seed", run.seed},
                    {"iterations", run.iterations ? Json(*run.iterations) : Json()},
                    {"workers", run.workers},
                    {"worker_iterations", run.worker_iterations},
                    {"needs_pilot", run.needs_pilot},
                    {"varying", run.varying},
                    {"label", run.label}});
    if (plan.tuned) {
      list.back()["tuning"] = run.is_tuning;
    }
  }
  print_json(list);
}

struct PlanCosts {
  std::size_t runs = 0;
  std::size_t left = 0;
  std::uint64_t work = 0;

  void add(const PlannedRun& run) {
    ++runs;
    if (!run.is_over()) {
      ++left;
      work += run.worker_iterations;
    }
  }
  std::string words() const {
    return fmt::format(
        "{} {}, {} to do: {} worker-iterations", runs, runs == 1 ? "run" : "runs", left, work);
  }
};

/// Prints what the tuning takes, and what the runs at the best values take.
void print_tuned_costs(const TunedPlan& tuned, const PlanCosts& tuning, PlanCosts own) {
  fmt::print("tuning: {}\n", tuning.words());
  own.left += tuned.final_runs - own.runs;
  own.runs = tuned.final_runs;
  own.work += tuned.undecided_work;
  fmt::print("at the best values: {}{}\n",
             own.words(),
             tuned.undecided == 0 ? std::string()
                                  : fmt::format("; {} of {} methods have no best value yet",
                                                tuned.undecided,
                                                tuned.methods));
  if (tuned.most_further > 0 && tuning.left + own.left > 0) {
    fmt::print("{}: at most {} further tuning runs\n",
               tuned.halves ? "in later rounds of halving" : "past the edges of the grid",
               tuned.most_further);
  }
}

/// Prints the line of a run.
void print_run(const PlannedRun& run) {
  fmt::print("{:<10} {:<50} P={:<5} T={:<8} {}{}{}\n",
             run.state,
             run.id,
             run.workers,
             run.iterations ? fmt::to_string(*run.iterations) : "?",
             harmless(run.label),
             run.varying.empty() ? "" : ": ",
             run.varying);
}

void print_plan_as_table(const Options& /*options*/, const Plan& plan) {
  PlanCosts own;
  PlanCosts tuning;
  std::size_t pilots = 0;
  for (const auto& run : plan.runs) {
    if (run.is_open) {
      continue;
    }
    print_run(run);
    (run.is_tuning ? tuning : own).add(run);
    pilots += run.needs_pilot && !run.is_over() ? 1U : 0U;
  }
  if (plan.tuned) {
    print_tuned_costs(*plan.tuned, tuning, own);
  } else {
    fmt::print("{}\n", own.words());
  }
  for (const auto& note : plan.notes) {
    fmt::print("{}\n", note);
  }
  if (plan.most_runs > 0) {
    fmt::print("a search makes {} of them at most: as many as its looks need\n", plan.most_runs);
  }
  if (pilots > 0) {
    fmt::print(
        "{} of them find a threshold first: 1 pilot run (\"pilot\") or about 10 "
        "(\"matched\") of the same size, not counted above\n",
        pilots);
  }
}

}  // namespace

bool is_over_state(const std::string& state) { return state == "finished" || state == "diverged"; }

int shared_processes(const Plan& plan) {
  int processes = plan.runs.front().processes;
  for (const auto& run : plan.runs) {
    processes = std::min(processes, run.processes);
  }
  return processes;
}

const std::vector<PlanFormat>& plan_formats() {
  static const std::vector<PlanFormat> formats{
      {.name = "table", .print = print_plan_as_table, .lists_layers = true, .has_notes = true},
      {.name = "json", .print = print_plan_as_json, .lists_layers = true},
      {.name = "slurm",
       .print = print_plan_as_slurm,
       .lists_layers = false,
       .is_an_engine = true,
       .starts_again = true,
       .takes_job_options = true},
      {.name = "parallel",
       .print = print_plan_as_parallel,
       .lists_layers = false,
       .is_an_engine = true},
      {.name = "snakemake",
       .print = print_plan_as_snakemake,
       .lists_layers = false,
       .is_an_engine = true}};
  return formats;
}

std::vector<std::string> plan_format_names() {
  std::vector<std::string> names;
  for (const auto& format : plan_formats()) {
    names.emplace_back(format.name);
  }
  return names;
}

const PlanFormat& plan_format(const std::string& name) {
  const auto& formats = plan_formats();
  const auto found = std::find_if(
      formats.begin(), formats.end(), [&](const auto& format) { return format.name == name; });
  return found != formats.end() ? *found : formats.front();
}

}  // namespace residuum
