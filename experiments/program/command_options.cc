#include "experiments/program/command_options.h"

#include <CLI/CLI.hpp>
#include <regex>
#include <string>

#include "core/text.h"

namespace residuum {
namespace {

/// Returns the fault of a text that messages will quote; empty: nothing.
std::string utf8_text(const std::string& text) {
  return is_utf8(text) ? std::string() : "is no UTF-8 text";
}

void add_compression(CLI::App& command, Options& options) {
  command.add_option("--sparsifier", options.sparsifier, "with a k: residuum list sparsifiers")
      ->check(utf8_text);
  command.add_option("--block", options.block, "entries of a block, for a sparsifier of blocks");
  command.add_option(
      "--rows", options.rows, "powersgd, arc-top-k: rows of the matrix that the accumulator forms");
  command.add_option("--rank",
                     options.rank,
                     "powersgd: rank of the approximation; arc-top-k: columns of the sketch");
  command.add_option("--quantiser", options.quantiser, "residuum list quantisers")
      ->check(utf8_text);
  command.add_option("--bits", options.bits, "bits of a value, for qsgd and linear");
}

}  // namespace

void add_flag(CLI::App& command, const char* name, bool& value, const char* description) {
  command.add_flag(name, value, description)->check([](const std::string& given) {
    return given == "true" ? std::string() : "takes no value, got '" + given + "'";
  });
}

void add_inspect(CLI::App& command, Options& options) {
  command
      .add_option("FILE",
                  options.file,
                  "P accumulators: .csv rows, .npy of shape (P, d) or (T, P, d), .npz, "
                  ".safetensors, or a folder")
      ->required();
  command
      .add_option(
          "--member", options.member, "the array of a .npz or .safetensors; all of them without")
      ->check(utf8_text);
  command.add_option("--step", options.step, "which of T steps, from 0");
  command.add_option("--gradient", options.gradient, "the gradients alone, for xi");
  command.add_option("--aggregator", options.aggregator, "residuum list aggregators")
      ->check(utf8_text);
  command.add_option("--putback", options.put_back, "captured, published or discard")
      ->check(utf8_text);
  command.add_option("--k", options.k, "entries a worker keeps");
  command.add_option("--density", options.density, "k/d instead of --k");
  command.add_option("--threshold", options.threshold, "hard threshold instead of --k");
  add_compression(command, options);
  add_flag(command, "--fits", options.fits, "fit laws to the magnitudes");
  add_flag(command, "--entries", options.entries, "indices and values of the update");
  add_flag(command, "--json", options.json, "all quantities as JSON, on one line");
}

void add_falsify(CLI::App& command, Options& options) {
  auto& own = options.falsify;
  command.add_option("--aggregator", options.aggregator, "residuum list aggregators")
      ->required()
      ->check(utf8_text);
  command.add_option("--workers", own.workers, "P")->required();
  command.add_option("--k", options.k, "entries a worker keeps");
  command.add_option("--dim", own.dimension, "d, the length of an accumulator")->required();
  command.add_option("--against", own.against, "delta, conservation, contraction or tight-rate");
  command.add_option("--condition", own.condition, "L/mu, with --against tight-rate (100)");
  command.add_option("--feedback", own.feedback, "ef14 or ef21, with --against tight-rate (ef14)")
      ->check(utf8_text);
  command.add_option(
      "--steps", own.steps, "with tight-rate: search runs of N iterations, from e = 0");
  command.add_option(
      "--skip", own.skip, "with --steps: iterations that the average leaves out (0)");
  command.add_option("--ratio", own.ratio, "with --steps: average, or largest of one iteration")
      ->check(utf8_text);
  command
      .add_option(
          "--nearby",
          own.nearby,
          "with --steps: the least of a problem and of copies moved by these sizes, by commas")
      ->delimiter(',');
  command.add_option("--putback", options.put_back, "captured, published or discard")
      ->check(utf8_text);
  add_compression(command, options);
  command.add_option("--seed", own.seed, "the same seed finds the same vectors");
  command.add_option(
      "--evaluations", own.evaluations, "steps, or with --steps runs, that are tried (20000)");
  command.add_option(
      "--out", own.out, "the worst vectors (worst.npy); with --steps the study of the worst run");
  add_flag(command, "--json", options.json, "on one line");
}

void add_rate(CLI::App& command, Options& options) {
  auto& own = options.rate;
  command.add_option("--smoothness", own.smoothness, "L, of every worker's objective");
  command.add_option("--strong-convexity", own.strong_convexity, "mu, of every worker's objective");
  command.add_option("--density", own.density, "k/d, the share of the entries that is sent");
  command.add_option(
      "--contraction", own.contraction, "|C(x) - x|^2 <= (1 - this)|x|^2, instead of --density");
  command.add_option("--workers", own.workers, "P (1)");
  command.add_option("--dim", own.dimension, "d, for bytes (1000000)");
  command.add_option("--accuracy", own.accuracy, "as a share of the start (1e-6)");
  command.add_option(
      "--step",
      own.step,
      "what is known at this step; the worst case by a solver of our own, whose proof is checked");
  command.add_option("--momentum", own.momentum, "of the worst case: the heavy ball, in [0, 1)");
  command.add_option(
      "--local-steps", own.local_steps, "of the worst case: gradients before an exchange (1)");
  command.add_option("--error-weight", own.error_weight, "of worst-econtrol (0.001)");
  add_flag(command, "--curve", own.curve, "rates over steps, instead of densities");
  command
      .add_option("--method", own.method, "one row: a theorem, memoryless, dense, worst-ef14, ...")
      ->check(utf8_text);
  command.add_option(
      "--figure", own.figure, "draw bytes over densities, or the curve: .svg, .pdf, .tex");
  command.add_option("--from", own.from, "a result folder, for its constants");
  command.add_option("--study", own.study, "a study, for the constants of its methods");
  command.add_option("--data-dir", options.data_dir, "where data sets lie ($RESIDUUM_DATA, data/)");
  add_flag(command, "--json", options.json, "as JSON");
}

void add_advise(CLI::App& command, Options& options) {
  auto& own = options.advise;
  command.add_option("DIR", options.result_dirs, "result folders, which are read as one")
      ->required();
  command.add_option("--bandwidth", own.bandwidth, "of every link, such as 1gbit or 100mbit")
      ->required();
  command.add_option("--latency", own.latency, "of a message, such as 50us")->required();
  command.add_option("--workers", own.workers, "only methods with so many (all)");
  command.add_option(
      "--gradient", own.gradient, "time of a gradient, such as 20ms (that of the study)");
  command.add_option("--target",
                     own.target,
                     "loss=1.9, loss-gap=1e-3 or accuracy=0.7; without a number the best value "
                     "that every run has reached");
  add_flag(command, "--json", options.json, "as JSON");
}

void add_check(CLI::App& command, Options& options) {
  auto& own = options.check;
  command
      .add_option(
          "COMMAND", own.command, "after --: a program and its arguments; no shell reads it")
      ->check(utf8_text);
  command.add_option("--input", own.input, "vectors, instead of a command: .npy or .csv");
  command.add_option("--output", own.output, "what the compressor made of each");
  command.add_option("--k", options.k, "at most so many entries of an answer are not zero");
  command.add_option("--contraction", own.contraction, "E|C(x) - x|^2 <= (1 - this) |x|^2 (k/d)");
  command.add_option("--omega", own.omega, "E|C(x) - x|^2 <= omega |x|^2, in place of k/d");
  add_flag(command, "--unbiased", own.unbiased, "E C(x) = x");
  add_flag(command, "--random", own.random, "answers differ from run to run");
  add_flag(command, "--memory", own.memory, "it keeps a residual of every tensor itself");
  command.add_option("--decay", own.decay, "of the residual, in every step (1)");
  add_flag(command, "--finite-only", own.finite_only, "it is given no nan and no inf");
  command.add_option("--shape", own.shape, "of all tensors, e.g. 6x10 (60, and 300 and 70000)")
      ->check(utf8_text);
  command.add_option("--draws", own.draws, "of each vector, for an expectation (2000)");
  command.add_option("--timeout", own.timeout_s, "seconds for an answer (30)");
  add_flag(command, "--json", options.json, "on one line");
}

namespace {

/// Returns a check that the whole text has the form of the pattern.
CLI::Validator has_form(const char* pattern, const std::string& complaint) {
  return {[pattern, complaint](std::string& text) {
            constexpr std::size_t kLongest = 200;
            const bool is_good =
                text.size() <= kLongest && std::regex_match(text, std::regex(pattern));
            return is_good ? std::string() : complaint + ", got '" + harmless(text) + "'";
          },
          ""};
}

CLI::Validator is_count() {
  return has_form("[1-9][0-9]{0,8}", "must be a whole number from 1 on");
}

/// A line of the script stays one line, whatever the terminal of its reader makes of it.
std::string shell_line_complaint(const std::string& text) {
  return !text.empty() && harmless(text) == text
             ? std::string()
             : "must be one line of shell, got '" + harmless(text) + "'";
}

/// The forms that `man sbatch` names, in which what is below the first number has its usual range:
/// minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM and D-HH:MM:SS.
std::string time_complaint(const std::string& text) {
  const char* const forms =
      "([0-9]{1,6}|[0-9]{1,6}(:[0-5]?[0-9]){1,2}|[0-9]{1,6}-([01]?[0-9]|2[0-3])(:[0-5]?[0-9]){0,2}"
      ")";
  constexpr std::size_t kLongest = 30;
  const bool is_good = text.size() <= kLongest && std::regex_match(text, std::regex(forms));
  return is_good ? std::string()
                 : "must be a time of Slurm such as 90 (minutes), 2:00:00 or 1-12:00, with hours "
                   "below 24 behind days, and minutes and seconds below 60; got '" +
                       harmless(text) + "'";
}

}  // namespace

void add_job(CLI::App& command, JobOptions& job) {
  constexpr const char* kName = "[A-Za-z0-9_][A-Za-z0-9_.,@+-]*";
  command.add_option("--time", job.time, "slurm: most time of a task: minutes, H:MM:SS or D-HH:MM")
      ->check(time_complaint);
  command.add_option("--mem", job.memory, "slurm: memory of a node, such as 4G")
      ->check(has_form("[0-9]+[KMGT]?", "must be a size of Slurm such as 500M or 16G"));
  command.add_option("--partition", job.partition, "slurm: the partition")
      ->check(has_form(kName, "must be a name of letters, digits and _ . , @ + -"));
  command.add_option("--account", job.account, "slurm: the account")
      ->check(has_form(kName, "must be a name of letters, digits and _ . , @ + -"));
  command.add_option("--tasks", job.tasks, "slurm: most tasks of the array (short runs share one)")
      ->check(is_count());
  command
      .add_option("--processes",
                  job.processes,
                  "slurm: processes of a task (one where runs are short, else its workers)")
      ->check(is_count());
  command.add_option("--before", job.before, "slurm: a line of shell before the program starts")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(shell_line_complaint);
}

}  // namespace residuum
