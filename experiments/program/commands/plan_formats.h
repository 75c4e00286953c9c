#pragma once
// A plan can be printed for a reader, for a program, or for an engine that does the runs: Slurm,
// GNU parallel, Snakemake. A format is a function and its line in plan_formats().

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/program/console/options.h"

namespace residuum {

/// True for a state of a run that is not made again.
bool is_over_state(const std::string& state);

struct PlannedRun {
  std::string id;
  std::string state;
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> iterations = 0;  // absent where a budget decides
  int workers = 0;
  int processes = 0;  // at most
  std::uint64_t worker_iterations = 0;
  bool needs_pilot = false;
  double seconds = 0;  // a rough estimate of its work on one processor core
  std::string label;   // the name of the method
  std::string varying;
  /// A tuning run; or one that is made only if a tuning chooses its values, or goes on to them.
  bool is_tuning = false;
  bool is_open = false;

  bool is_over() const { return is_over_state(state); }
};

/// The runs at the end of a tuned study: those of each method at one of its values.
struct TunedPlan {
  std::size_t methods = 0;
  std::size_t undecided = 0;         // methods without a best value so far
  std::size_t final_runs = 0;        // of all methods
  std::uint64_t undecided_work = 0;  // worker-iterations of these, as at the first value
  std::size_t most_further = 0;      // tuning runs that an extension or later rounds may add
  bool halves = false;               // the tuning is successive halving
};

struct Plan {
  std::string study;               // its name: letters, digits, '.', '-' and '_'
  std::vector<PlannedRun> runs;    // in the order in which --shard counts them, at least one
  std::size_t most_runs = 0;       // that a search makes; 0 without one
  std::size_t starts = 1;          // how often a share is begun: a tuning needs the ends of others
  std::optional<TunedPlan> tuned;  // of a study that tunes keys
  bool needs_processes = false;    // real runs cannot share one process
  std::filesystem::path result_dir;  // where they go
  std::vector<std::string> notes;    // lines for a reader
};

/// A number of processes that every run of the plan can have.
int shared_processes(const Plan& plan);

struct PlanFormat {
  const char* name = "";
  void (*print)(const Options& options, const Plan& plan) = nullptr;
  bool lists_layers = false;       // and so goes together with --layers
  bool is_an_engine = false;       // that is told beforehand what to run
  bool starts_again = false;       // an engine that can start every share several times
  bool takes_job_options = false;  // what JobOptions say
  bool has_notes = false;          // for people, on stderr
};

const std::vector<PlanFormat>& plan_formats();
std::vector<std::string> plan_format_names();
/// The format that was asked for; its name is known.
const PlanFormat& plan_format(const std::string& name);

void print_plan_as_parallel(const Options& options, const Plan& plan);
void print_plan_as_snakemake(const Options& options, const Plan& plan);
void print_plan_as_slurm(const Options& options, const Plan& plan);

}  // namespace residuum
