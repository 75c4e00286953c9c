// Plans for engines that start processes: each task is `residuum run` with a share of the study.
// Every engine may stop a task and start it again, since a started run goes on from its checkpoint
// and a finished one is skipped.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>

#include "core/child_program.h"
#include "core/cluster/mpi_world.h"
#include "core/error.h"
#include "core/text.h"
#include "experiments/program/commands/plan_formats.h"
#include "experiments/program/runs/provenance.h"
#include "objectives/data/catalogue.h"

namespace residuum {
namespace {

/// The words that do the study; a share of it comes after them.
std::vector<std::string> study_words(const Options& options) {
  std::vector<std::string> words{"residuum", "run", options.study.string(), "--progress=lines"};
  for (const auto& change : options.overrides) {
    words.insert(words.end(), {"--set", change});
  }
  if (options.allow_commands) {
    words.emplace_back("--allow-commands");
  }
  if (options.out) {
    words.insert(words.end(), {"--out", options.out->string()});
  }
  if (options.data_dir) {
    words.insert(words.end(), {"--data-dir", *options.data_dir});
  }
  return words;
}

/// Does the same where nobody has given processes to the task. Several mpiruns on one machine would
/// all bind their processes to its first cores, and the engine counts the cores already.
std::vector<std::string> started_words(const Options& options, const Plan& plan) {
  auto words = study_words(options);
  if (plan.needs_processes) {
    auto launcher = launch_words(shared_processes(plan));
    launcher.insert(launcher.end(), {"--bind-to", "none"});
    words.insert(words.begin(), launcher.begin(), launcher.end());
  }
  return words;
}

/// The share that has this run and no other one, as --shard takes it.
std::string share_of_one(std::size_t run, const Plan& plan) {
  return fmt::format("{}/{}", run + 1, plan.runs.size());
}

/// Returns which of `shares` shares have runs left: "1-4,7"; empty where none is.
std::string shares_left(const Plan& plan, std::size_t shares) {
  std::vector<bool> has_runs(shares + 2, false);  // by number; none before the first or at the end
  for (std::size_t run = 0; run < plan.runs.size(); ++run) {
    if (!plan.runs[run].is_over()) {
      has_runs[run % shares + 1] = true;
    }
  }
  std::string text;
  for (std::size_t share = 1; share <= shares; ++share) {
    if (!has_runs[share]) {
      continue;
    }
    if (!has_runs[share - 1]) {
      text += fmt::format("{}{}", text.empty() ? "" : ",", share);
    } else if (!has_runs[share + 1]) {
      text += fmt::format("-{}", share);
    }
  }
  return text;
}

/// Counts the runs that are known to be made, and those of them that are left. A tuning decides
/// about further ones.
std::ptrdiff_t runs_known(const Plan& plan) {
  return std::count_if(
      plan.runs.begin(), plan.runs.end(), [](const PlannedRun& run) { return !run.is_open; });
}
std::ptrdiff_t runs_left(const Plan& plan) {
  return std::count_if(plan.runs.begin(), plan.runs.end(), [](const PlannedRun& run) {
    return !run.is_open && !run.is_over();
  });
}

/// A line of shell that runs the words. The quotes of words with control characters are known to
/// bash alone, which therefore gets such a line as a whole, in quotes that every shell knows.
std::string shell_line(const std::vector<std::string>& words) {
  const bool is_plain = std::all_of(
      words.begin(), words.end(), [](const std::string& word) { return harmless(word) == word; });
  const std::string line = quoted_command(words);
  return is_plain ? line : quoted_command({"bash", "-c", line});
}

/// A literal of Python that has the bytes of the text, made of ASCII alone.
std::string python_bytes(const std::string& text) {
  std::string literal = "b\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\') {
      literal += fmt::format("\\x{:02x}", byte);
    } else {
      literal += c;
    }
  }
  return literal + "\"";
}

std::string absolute_path(const std::filesystem::path& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

/// Returns the options with paths that mean the same in any working directory.
Options from_anywhere(const Options& options, const Plan& plan) {
  Options absolutely = options;
  absolutely.study = absolute_path(options.study);
  absolutely.out = absolute_path(plan.result_dir);
  absolutely.data_dir = absolute_path(data_directory(options.data_dir));
  return absolutely;
}

constexpr double kShort = 60;         // seconds of a run that one process does as well
constexpr double kTaskSeconds = 300;  // of work, which pays for the start of a task

/// Returns how many processes a task has: those that were asked for, one where all runs that are
/// left are short, else as many as every run can have.
int processes_of_task(const JobOptions& job, const Plan& plan) {
  const int most = shared_processes(plan);
  if (job.processes) {
    require(*job.processes <= most && (!plan.needs_processes || *job.processes == most),
            "--processes {}: runs of this study have {}{}",
            *job.processes,
            plan.needs_processes ? "" : "at most ",
            most);
    return *job.processes;
  }
  const bool has_long = std::any_of(plan.runs.begin(), plan.runs.end(), [](const PlannedRun& run) {
    return !run.is_over() && run.seconds > kShort;
  });
  return plan.needs_processes || has_long ? most : 1;
}

/// Returns in how many shares the study is done: one for each run, but several runs in a share
/// where they are short. It goes by all runs of the study, so that a later plan has the same
/// shares.
std::size_t shares_of(const JobOptions& job, const Plan& plan, int processes) {
  constexpr double kMostTasks = 1000;  // MaxArraySize is 1001 by default, for indices from 0
  double seconds = 0;
  for (const auto& run : plan.runs) {
    seconds += run.seconds / processes;
  }
  const auto runs = static_cast<double>(plan.runs.size());
  const double wanted =
      job.tasks ? static_cast<double>(*job.tasks) : std::ceil(seconds / kTaskSeconds);
  return static_cast<std::size_t>(std::clamp(wanted, 1.0, std::min(runs, kMostTasks)));
}

/// Returns the lines by which a job asks for what the user knows of the cluster. The values were
/// checked when the command line was read.
std::string directives(const JobOptions& job) {
  std::string lines;
  const auto add = [&lines](const char* name, const std::optional<std::string>& value) {
    lines += value ? fmt::format("#SBATCH --{}={}\n", name, *value) : "";
  };
  add("time", job.time);
  add("mem", job.memory);
  add("partition", job.partition);
  add("account", job.account);
  return lines;
}

/// Returns whether bash can read a line of its own; true where there is no bash.
bool is_shell(const std::string& line) {
  std::error_code no_bash;
  const auto end = run_program_to_end({.words = {"bash", "-n", "-c", line}}, no_bash);
  return !end || end->code == 0;
}

/// Returns the user's lines, each of which the shell evaluates for itself.
std::string lines_before(const JobOptions& job) {
  std::string lines;
  for (const auto& line : job.before) {
    require(is_shell(line),
            "--before: bash cannot read '{}' (bash -n): is a quote or a bracket open?",
            line);
    lines += fmt::format("{} || exit\n", quoted_command({"eval", line}));
  }
  return lines;
}

/// Returns the lines that submit the array again after itself, as often as the study needs.
std::string further_starts(const Plan& plan) {
  std::string lines;
  for (std::size_t start = 1; start < plan.starts; ++start) {
    lines +=
        "  job=$(sbatch --parsable --dependency=\"afterany:${job%%;*}\" \"$@\" \"$0\") || exit\n";
  }
  return lines;
}

}  // namespace

/// Prints what `bash FILE` does: it submits the array, and a job that reports after it.
void print_submission(const Options& options, const Plan& plan, const std::string& before) {
  const std::string report = quoted_command({"residuum", "report", absolute_path(plan.result_dir)});
  fmt::print(
      "if [ -z \"${{SLURM_ARRAY_TASK_ID:-}}\" ]; then\n"
      "  job=$(sbatch --parsable \"$@\" \"$0\") || exit\n"
      "{}"
      "  echo \"job ${{job%%;*}} does the runs\"\n"
      "  report=()  # the options, without those that the array alone has\n"
      "  while [ $# -gt 0 ]; do\n"
      "    case $1 in\n"
      "      --array=*|--ntasks=*|--job-name=*|-a?*|-n?*|-J?*) ;;\n"
      "      --array|--ntasks|--job-name|-a|-n|-J) shift ;;\n"
      "      *) report+=(\"$1\") ;;\n"
      "    esac\n"
      "    shift\n"
      "  done\n"
      "  sbatch --dependency=\"afterany:${{job%%;*}}\" \"${{report[@]}}\" <<'REPORT'\n"
      "#!/bin/bash\n"
      "#SBATCH --job-name={}-report\n"
      "#SBATCH --ntasks=1\n"
      "{}{}{}\n"
      "REPORT\n"
      "  exit\n"
      "fi\n\n",
      further_starts(plan),
      plan.study,
      directives(options.job),
      before,
      report);
}

/// Prints a job array and a job that reports after it. Tasks that are stopped in time put
/// themselves back into the queue. The number of shares is that of the study: a part of the array
/// that is submitted again does the same runs as before.
void print_plan_as_slurm(const Options& options, const Plan& plan) {
  const int processes = processes_of_task(options.job, plan);
  const std::size_t shares = shares_of(options.job, plan, processes);
  const std::string before = lines_before(options.job);
  if (runs_left(plan) == 0) {
    fmt::print(
        "#!/bin/bash\n"
        "# 0 of {} runs are left: there is nothing to submit, and no array.\n"
        "echo 'no run of the study {} is left to do'\n",
        plan.runs.size(),
        plan.study);
    return;
  }
  fmt::print(
      "#!/bin/bash\n"
      "# {} of {} runs are left, in {} shares; finished ones are skipped. 'bash FILE' submits the "
      "array\n"
      "# and a job that reports after it, 'sbatch FILE' the array alone. Task i does share i: any "
      "part of\n"
      "# the array may be submitted again (sbatch --array=3,7 FILE).\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --array={}\n"
      "#SBATCH --ntasks={}\n"
      "#SBATCH --cpus-per-task=1\n"
      "#SBATCH --signal=USR1@60\n"
      "{}\n",
      runs_left(plan),
      runs_known(plan),
      shares,
      plan.study,
      shares_left(plan, shares),
      processes,
      directives(options.job));
  print_submission(options, plan, before);
  fmt::print(
      "{}srun {} --shard \"$SLURM_ARRAY_TASK_ID/{}\"\n"
      "code=$?\n"
      "if [ $code -eq {} ] || [ $code -eq {} ]; then\n"
      "  scontrol requeue \"${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID\"\n"
      "fi\n"
      "exit $code\n",
      before,
      quoted_command(study_words(from_anywhere(options, plan))),
      shares,
      static_cast<int>(ExitCode::stopped),
      static_cast<int>(ExitCode::time_limit));
}

/// Prints a line of shell for each run that is left. A run has one process, so that the engine
/// fills the cores; results have the same bits.
void print_plan_as_parallel(const Options& options, const Plan& plan) {
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    if (plan.runs[i].is_over()) {
      continue;
    }
    auto words = started_words(options, plan);
    words.insert(words.end(), {"--shard", share_of_one(i, plan)});
    fmt::print("{}\n", shell_line(words));
  }
}

/// Prints a Snakefile with a job for each run. A job is done when its mark is there; the marks lie
/// beside the results, because Snakemake makes the folder of an output before the job begins and
/// removes the outputs of a job that failed. It takes braces in the name of an output for a
/// wildcard and knows no quotes for them.
void print_plan_as_snakemake(const Options& options, const Plan& plan) {
  fmt::print(
      "# {} of {} runs are left; finished ones are skipped. A run that was stopped is started\n"
      "# again and goes on. Remove the marks together with the results.\n"
      "import os\n\n"
      "COMMAND = os.fsdecode({})\n"
      "MARKS = os.fsdecode({}).replace(\"{{\", \"(\").replace(\"}}\", \")\")\n"
      "SHARDS = {{\n",
      runs_left(plan),
      plan.runs.size(),
      python_bytes(quoted_command(started_words(options, plan))),
      python_bytes(plan.result_dir.string() + ".marks"));
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    fmt::print("    \"{}\": \"{}\",\n", plan.runs[i].id, share_of_one(i, plan));
  }
  fmt::print(
      "}}\n\n"
      "rule all:\n"
      "    input: [MARKS + \"/\" + run for run in SHARDS]\n\n"
      "rule run:\n"
      "    output: touch(MARKS + \"/{{run}}\")\n"
      "    wildcard_constraints: run=\"[^/]+\"\n"
      "    params: command=lambda wildcards: COMMAND + \" --shard \" + SHARDS[wildcards.run]\n"
      "    threads: {}\n"
      "    retries: 2\n"
      "    shell: \"{{params.command}}\"\n",
      plan.needs_processes ? shared_processes(plan) : 1);
}

}  // namespace residuum
