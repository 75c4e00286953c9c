// The program reads the command line, starts MPI where a launcher asks for it, and turns every
// failure into one line on stderr and an exit code.

#include "experiments/program/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "core/cluster/mpi_world.h"
#include "core/text.h"
#include "core/vectors/kernels.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/commands/plan_formats.h"
#include "experiments/program/commands/report_options.h"
#include "experiments/program/console/options.h"
#include "experiments/program/console/signals.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/console/values_option.h"
#include "experiments/program/runs/job_digest.h"
#include "experiments/program/runs/provenance.h"

namespace {

using residuum::add_report;
using residuum::add_values;
using residuum::ExitCode;
using residuum::Options;
using residuum::ProgressStyle;

/// A flag is given or not; CLI11 reads the bare one as "true", and would take any other value too.
void add_flag(CLI::App& command, const char* name, bool& value, const char* description) {
  command.add_flag(name, value, description)->check([](const std::string& given) {
    return given == "true" ? std::string() : "takes no value, got '" + given + "'";
  });
}

void add_study(CLI::App& command, Options& options) {
  command.add_option("STUDY", options.study, "the study, a TOML file")->required();
  command.add_option("--set", options.overrides, "key=value that wins over the file")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--out", options.out, "result folder (results/<study name>)");
  command.add_option("--data-dir", options.data_dir, "where data sets lie ($RESIDUUM_DATA, data/)");
}

/// The option without which no code of a study is executed; see
/// experiments/program/study/foreign_code.h.
void add_allowance(CLI::App& command, Options& options) {
  add_flag(command,
           "--allow-commands",
           options.allow_commands,
           "execute programs and models that the study names; only if you trust it");
}

void add_progress(CLI::App& command, Options& options) {
  const std::map<std::string, ProgressStyle> styles{{"auto", ProgressStyle::automatic},
                                                    {"bar", ProgressStyle::bar},
                                                    {"lines", ProgressStyle::lines},
                                                    {"none", ProgressStyle::none}};
  command
      .add_option_function<std::string>(
          "--progress",
          [&options, styles](const std::string& name) { options.progress = styles.at(name); },
          "auto, bar, lines or none")
      ->check(CLI::IsMember(styles));
}

/// Reads "2/8", the second of eight.
residuum::Share parse_share(const std::string& text) {
  const auto slash = text.find('/');
  const auto number = [](std::string_view digits) {
    return residuum::parsed<std::size_t>(digits).value_or(0);
  };
  const std::string_view all = text;
  const residuum::Share share{.index = number(all.substr(0, slash)),
                              .of = slash == std::string::npos ? 0 : number(all.substr(slash + 1))};
  if (share.index < 1 || share.index > share.of) {
    throw CLI::ValidationError("--shard", "must be i/n with 1 <= i <= n, got '" + text + "'");
  }
  return share;
}

std::string positive_count(const std::string& text) {
  return residuum::parsed<int>(text).value_or(0) > 0
             ? std::string()
             : "must be a whole number from 1 on, got '" + text + "'";
}

std::string positive_time(const std::string& text) {
  const double seconds = residuum::parsed<double>(text).value_or(0);
  return seconds > 0 && std::isfinite(seconds)
             ? std::string()
             : "must be a time above zero such as 90s, 15m, 2h or 1d";
}

std::string tolerance(const std::string& text) {
  const double value = residuum::parsed<double>(text).value_or(-1);
  return value >= 0 && std::isfinite(value)
             ? std::string()
             : "must be a finite number from 0 on, got '" + text + "'";
}

void add_batch(CLI::App& command, Options& options) {
  add_flag(
      command, "--fail-fast", options.fail_fast, "end at the first run that fails or diverges");
  command.add_option_function<std::string>(
      "--shard",
      [&options](const std::string& text) { options.share = parse_share(text); },
      "i/n: every n-th run, from the i-th on");
  command
      .add_option(
          "--groups", options.groups, "runs at once; each gets an equal part of mpirun's processes")
      ->check(positive_count);
  const std::map<std::string, double> units{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  command
      .add_option("--time-limit", options.time_limit_s, "stop after 90, 15m, 2h or 1d; exit 124")
      ->transform(CLI::AsNumberWithUnit(units))
      ->check(positive_time);
  command
      .add_option("--checkpoint-every",
                  options.checkpoint_every_s,
                  "time between checkpoints, such as 90s, 5m or 1h (5m)")
      ->transform(CLI::AsNumberWithUnit(units))
      ->check(positive_time);
}

/// Returns a check that the whole text has the form of the pattern.
CLI::Validator has_form(const char* pattern, const std::string& complaint) {
  return {[pattern, complaint](std::string& text) {
            constexpr std::size_t kLongest = 200;
            const bool is_good =
                text.size() <= kLongest && std::regex_match(text, std::regex(pattern));
            return is_good ? std::string() : complaint + ", got '" + residuum::harmless(text) + "'";
          },
          ""};
}

CLI::Validator is_count() {
  return has_form("[1-9][0-9]{0,8}", "must be a whole number from 1 on");
}

/// A line of the script stays one line, whatever the terminal of its reader makes of it.
std::string shell_line_complaint(const std::string& text) {
  return !text.empty() && residuum::harmless(text) == text
             ? std::string()
             : "must be one line of shell, got '" + residuum::harmless(text) + "'";
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
                       residuum::harmless(text) + "'";
}

/// Adds the options of `plan` for the jobs of a cluster. Values are checked here, because they
/// become lines of a script.
void add_job(CLI::App& command, residuum::JobOptions& job) {
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

void add_export(CLI::App& command, Options& options) {
  command.add_option("DIR", options.result_dirs, "result folders, which are read as one")
      ->required();
  add_flag(command, "--join", options.join, "one flat table with the keys of each run");
  add_flag(command, "--tensorboard", options.tensorboard, "an event file for each run");
  command.add_option("--out", options.out, "file or folder (DIR/joined.csv, DIR/tensorboard)");
}

void add_watch(CLI::App& command, Options& options) {
  command.add_option("DIR", options.result_dirs, "the result folders of a running study")
      ->required();
  add_flag(command, "--once", options.once, "print the table and end");
  add_flag(command, "--plot", options.plot, "curves of loss and delta of the runs under way");
  command.add_option("--every", options.every_s, "seconds between two looks (2)")
      ->check(positive_time);
}

void add_compare(CLI::App& command, Options& options) {
  command.add_option("DIR", options.result_dirs, "two result folders, the later one second")
      ->required();
  command.add_option("--with",
                     options.other_dirs,
                     "the later folders, where each side is several: A1 A2 --with B1 B2");
  command
      .add_option(
          "--tolerance", options.tolerance, "relative worsening that is no regression (0.01)")
      ->check(tolerance);
  add_flag(command,
           "--anyway",
           options.anyway,
           "compare even if objective options, data or dimension differ");
  add_flag(command, "--fail-on-regression", options.fail_on_regression, "a regression is exit 5");
  add_flag(command, "--json", options.json, "as JSON");
}

/// Returns the fault of a text that messages will quote; empty: nothing.
std::string utf8_text(const std::string& text) {
  return residuum::is_utf8(text) ? std::string() : "is no UTF-8 text";
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
  command
      .add_option("--quantiser",
                  options.quantiser,
                  "residuum list quantisers; quantised-ring: qsgd or linear")
      ->check(utf8_text);
  command.add_option(
      "--bits", options.bits, "bits of a value, for qsgd, linear and quantised-ring");
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
  add_values(command,
             "--nearby",
             own.nearby,
             "with --steps: the least of a problem and of copies moved by these sizes, by commas");
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
  command.add_option("--workers", own.workers, "only methods of this many workers (all)");
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
  command.add_option("--k", options.k, "most entries of an answer that are not zero");
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

std::string target_complaint(const std::string& name) {
  const auto known = residuum::kernels::target_names();
  return name == "all" || std::find(known.begin(), known.end(), name) != known.end()
             ? std::string()
             : fmt::format(
                   "must be all, or one that this build and this processor have: {}; got '{}'",
                   fmt::join(known, ", "),
                   residuum::harmless(name));
}

void add_bench(CLI::App& command, Options& options) {
  command.add_option("NAME", options.benchmarks, "which ones; all without");
  command
      .add_option("--simd",
                  options.simd,
                  "instructions of our kernels, such as AVX2; all, one after the other (the best)")
      ->check(target_complaint);
  add_flag(command, "--json", options.json, "as JSON");
}

void add_page(CLI::App& command, Options& options) {
  command.add_option("PAGE", options.pages, "Markdown pages whose tables are marked")->required();
  add_flag(command, "--check", options.check_pages, "write nothing; a stale table is exit 4");
}

void add_figure(CLI::App& command, Options& options) {
  auto& own = options.figure;
  command.add_option("DIR", own.folder, "a result folder, or what is kept of one")->required();
  command
      .add_option(
          "QUANTITY", own.quantity, "loss-gap, delta, ..., or the name of a figure of the report")
      ->required();
  command.add_option("--by",
                     own.by,
                     "what it is drawn against: iterations, bytes, time (virtual), wall, "
                     "gradients or epochs");
  command
      .add_option("--methods", own.methods, "names of the methods that are drawn, parted by commas")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_values(command,
             "--where",
             own.where,
             "KEY=VALUE, of kept tables: methods with one of these values, and those without the "
             "key; with * those that differ in the key alone are one curve");
  command.add_option("--for", own.format, "the size of one column: icml, ieee or slides");
  command.add_option("--width", own.width, "its width, such as 84mm or 3.25in (77mm)");
  command.add_option("--font-size", own.font_size, "the size of its letters, such as 8pt (8pt)");
  command.add_option("--interval", options.interval, "over the seeds: iqr, student or bootstrap");
  command
      .add_option("-o,--out",
                  own.file,
                  "a file that ends in .pdf, .svg or .tex, or FOLDER/ for all files of the figure")
      ->required();
}

void add_table(CLI::App& command, Options& options) {
  auto& own = options.table;
  command.add_option("DIR", own.folder, "a result folder, or what is kept of one")->required();
  command.add_option("COLUMN", own.columns, "columns of iterations.csv or runs.csv")->required();
  command.add_option("--of", own.table, "the table that has them, such as networks.csv");
  command
      .add_option(
          "--take", own.take, "of a run's rows: last, max, mean, or rate, the rise per iteration")
      ->check(CLI::IsMember({"last", "max", "mean", "rate"}));
  add_values(command,
             "--where",
             own.where,
             "KEY=VALUE: only rows with this text, or methods with this setting");
  add_values(command,
             "--minus",
             own.minus,
             "KEY=VALUE: subtract the run of the same seed with this setting; * is any");
  command.add_option("--by", own.by, "keys that both runs of --minus share: all, none, or one key");
  command.add_option("--budget", own.budget, "bytes=3e6, or NETWORK=SECONDS: the value there");
  command.add_option(
      "--until", own.until, "COLUMN=LIMIT: in the first row where it is at most that");
  command.add_option("--tests",
                     own.tests,
                     "mark differences that are significant among this many tests (Bonferroni)");
  command.add_option("--scale", own.scale, "multiplies the numbers");
}

void add_keep(CLI::App& command, Options& options) {
  auto& own = options.keep;
  command.add_option("RESULTS", own.results, "a result folder with its report")->required();
  command.add_option("KEPT", own.kept, "folder of what is kept of the study")->required();
  auto* const rows = command.add_option(
      "--rows", own.rows, "most rows of a run in iterations.csv (all where f was evaluated)");
  add_values(command,
             "--numbers",
             own.numbers,
             "instead, numbers of each finished run: COLUMN, its last, COLUMN:mean, COLUMN:max, "
             "COLUMN:at:ITERATION, or where another column is at most a limit, first "
             "COLUMN:until:OTHER=LIMIT or last COLUMN:within:OTHER=LIMIT");
  add_values(command,
             "--tables",
             own.tables,
             "and tables: TABLE.COLUMN of the last iteration, such as networks.iteration_s; late, "
             "the staleness of gradients; or of the report theorems, checks, rates, equal, "
             "predicted, times and facts");
  add_values(command,
             "--figures",
             own.figures,
             "and figures of the report with their numbers, such as loss-gap,delta");
  rows->excludes("--numbers")->excludes("--tables")->excludes("--figures");
}

void add_epochs(CLI::App& command, Options& options) {
  auto& own = options.keep;
  command.add_option("DIR", own.results, "a result folder, or what is kept of one")->required();
  command.add_option("--parts", own.parts, "equal parts of each run, instead of passes");
}

/// An empty text is not taken for a number that was left out: a script may have lost it.
void refuse_empty_numbers(CLI::App& command) {
  for (auto* const option : command.get_options()) {
    const std::string type = option->get_type_name();
    if (type.starts_with("INT") || type.starts_with("FLOAT")) {
      option->check([](const std::string& text) { return text.empty() ? "has no value" : ""; });
    }
  }
}

struct CommandLine {
  Options options;
  residuum::BenchCommand bench_command = nullptr;
  CLI::App app{"Does the theory of sparsified distributed SGD hold on your problem?", "residuum"};
  CLI::App* run = app.add_subcommand("run", "run a study; finished runs are skipped");
  CLI::App* plan = app.add_subcommand("plan", "print the runs of a study, run nothing");
  CLI::App* report = app.add_subcommand("report", "make report.html from a result folder");
  CLI::App* figure = app.add_subcommand("figure", "one figure in the size of a paper or a talk");
  CLI::App* exported = app.add_subcommand("export", "the measurements in forms of other programs");
  CLI::App* watch = app.add_subcommand("watch", "follow a running study by its files");
  CLI::App* compare = app.add_subcommand("compare", "the same study twice: what changed");
  CLI::App* inspect = app.add_subcommand("inspect", "one aggregation step on your own vectors");
  CLI::App* falsify = app.add_subcommand("falsify", "search for vectors that break an assumption");
  CLI::App* rate = app.add_subcommand("rate", "linear rates at given constants, and the tight one");
  CLI::App* advise = app.add_subcommand("advise", "which method is first on a network of yours");
  CLI::App* check = app.add_subcommand("check", "the laws of a compressor in any language");
  CLI::App* page = app.add_subcommand("page", "make the tables of pages from kept results");
  CLI::App* table = app.add_subcommand("table", "numbers of each method, over the seeds");
  CLI::App* keep = app.add_subcommand("keep", "add runs to the tables kept of a study");
  CLI::App* epochs = app.add_subcommand("epochs", "loss, delta and accuracy of each run by epoch");
  CLI::App* verify =
      app.add_subcommand("verify", "run a study at several process counts, compare the bits");
  CLI::App* bench = app.add_subcommand("bench", "benchmarks, as ratios within one run");
  CLI::App* list = app.add_subcommand("list", "what can be named in a study");
  CLI::App* info = app.add_subcommand("info", "versions of everything");

  CommandLine() {
    app.require_subcommand(1);
    app.set_version_flag("--version", "residuum " + residuum::program_version());
    add_study(*run, options);
    add_allowance(*run, options);
    add_progress(*run, options);
    add_flag(*run, "--json", options.json, "the final table as JSON");
    add_flag(*run, "--strict", options.strict, "a failed assumption is exit code 4");
    add_batch(*run, options);
    add_study(*plan, options);
    add_allowance(*plan, options);
    plan->add_option("--format", options.plan_format, "table, json, slurm, parallel or snakemake")
        ->check(CLI::IsMember(residuum::plan_format_names()));
    add_job(*plan, options.job);
    add_flag(*plan, "--layers", options.layers, "the layers of the models, for probes.layers");
    add_report(*report, options);
    add_figure(*figure, options);
    add_export(*exported, options);
    add_watch(*watch, options);
    add_compare(*compare, options);
    add_inspect(*inspect, options);
    add_falsify(*falsify, options);
    add_rate(*rate, options);
    add_advise(*advise, options);
    add_check(*check, options);
    add_page(*page, options);
    add_table(*table, options);
    add_keep(*keep, options);
    add_epochs(*epochs, options);
    add_study(*verify, options);
    add_allowance(*verify, options);
    add_values(*verify, "--ranks", options.ranks, "process counts, e.g. 1,2,4");
    add_bench(*bench, options);
    list->add_option("ROOM", options.room, "objectives, datasets, sparsifiers, ...; all without");
    list->add_option("--format",
                     options.list_format,
                     "text; markdown, a page of reference; or of keys json-schema, for editors")
        ->check(CLI::IsMember({"text", "markdown", "json-schema"}));
    add_flag(*list, "--json", options.json, "as JSON");
    add_flag(*info, "--json", options.json, "as JSON");
    for (auto* const command : app.get_subcommands(nullptr)) {
      refuse_empty_numbers(*command);
    }
  }
};

residuum::ReferenceGroup reference_of(const CLI::App& command) {
  residuum::ReferenceGroup group{.prefix = command.get_name() + ' ',
                                 .title = "residuum " + command.get_name(),
                                 .text = command.get_description(),
                                 .lines = {}};
  for (const auto* option : command.get_options()) {
    if (option == command.get_help_ptr()) {
      continue;
    }
    const bool is_flag = option->get_items_expected_max() == 0;
    group.lines.push_back(
        {.name = option->get_name() + (is_flag || option->get_positional() ? "" : " VALUE"),
         .summary = option->get_description(),
         .source = option->get_required() ? "required" : ""});
  }
  return group;
}

std::vector<residuum::ReferenceGroup> command_reference(const CLI::App& app) {
  std::vector<residuum::ReferenceGroup> groups;
  for (const auto* command : app.get_subcommands(nullptr)) {
    groups.push_back(reference_of(*command));
  }
  return groups;
}

/// Returns the message about words that a command does not know.
std::string unexpected_words(const CLI::App& command) {
  std::vector<std::string> words = command.remaining(true);
  const auto option = std::find_if(
      words.begin(), words.end(), [](const auto& word) { return word.starts_with('-'); });
  if (option == words.end()) {
    return fmt::format("'{}' is more than '{}' takes", fmt::join(words, " "), command.get_name());
  }
  std::vector<std::string> known;
  for (const auto* one : command.get_options()) {
    for (const auto& name : one->get_lnames()) {
      known.push_back("--" + name);
    }
  }
  const std::string word = option->substr(0, option->find('='));
  const std::string best = residuum::nearest(word, known);
  return fmt::format("'{}' has no option {}{}",
                     command.get_name(),
                     word,
                     best.empty() ? "" : fmt::format("; did you mean '{}'?", best));
}

/// CLI11's sentence about a value, in words of this program.
std::string about_value(std::string text) {
  const auto in_place_of = [&](std::string_view theirs, std::string_view ours) {
    if (const auto at = text.find(theirs); at != std::string::npos) {
      text.replace(at, theirs.size(), ours);
    }
  };
  in_place_of("Could not convert: ", "a value of another kind is wanted: ");
  in_place_of(" unit not recognized. Allowed values: ", " is no unit of time; units are ");
  in_place_of(" not in {", " is none of {");
  return text;
}

/// Returns the error of the command line in one line.
std::string complaint(const CommandLine& line,
                      const std::vector<std::string>& arguments,
                      const CLI::ParseError& error) {
  std::vector<std::string> commands;
  for (const auto* command : line.app.get_subcommands(nullptr)) {
    commands.push_back(command->get_name());
  }
  const bool names_a_command = arguments.size() > 1 && !arguments[1].starts_with('-');
  if (names_a_command &&
      std::find(commands.begin(), commands.end(), arguments[1]) == commands.end()) {
    return fmt::format(
        "unknown command '{}'{}", arguments[1], residuum::suggestion(arguments[1], commands));
  }
  if (line.app.get_subcommands().empty()) {
    return "name a command; residuum --help lists them";
  }
  const CLI::App& command = *line.app.get_subcommands().front();
  const bool has_more = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::string wrong = has_more ? unexpected_words(command) : about_value(error.what());
  return fmt::format("{}{} residuum {} --help",
                     wrong,
                     wrong.ends_with('?') ? " See" : "; see",
                     command.get_name());
}

std::filesystem::path this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

/// Commands of one process.
ExitCode dispatch_alone(const CommandLine& line) {
  const Options& options = line.options;
  using Command = ExitCode (*)(const Options& options);
  const std::array<std::pair<const CLI::App*, Command>, 15> commands{{
      {line.plan, residuum::plan_command},
      {line.report, residuum::report_command},
      {line.figure, residuum::figure_command},
      {line.exported, residuum::export_command},
      {line.watch, residuum::watch_command},
      {line.compare, residuum::compare_command},
      {line.inspect, residuum::inspect_command},
      {line.falsify, residuum::falsify_command},
      {line.rate, residuum::rate_command},
      {line.advise, residuum::advise_command},
      {line.check, residuum::check_command},
      {line.table, residuum::table_command},
      {line.keep, residuum::keep_command},
      {line.epochs, residuum::epochs_command},
      {line.page, residuum::page_command},
  }};
  for (const auto& [app, command] : commands) {
    if (app->parsed()) {
      return command(options);
    }
  }
  if (line.verify->parsed()) {
    return residuum::verify_command(options, this_program());
  }
  return residuum::list_command(options, command_reference(line.app));
}

/// Becomes the program with the benchmarks, if it is beside this one.
void become_benchmarks(char** argv) {
  execv((this_program().parent_path() / "residuum-bench").c_str(), argv);
}

void require_benchmarks(const CommandLine& line) {
  if (line.bench_command == nullptr) {
    throw residuum::SharedError(
        ExitCode::usage,
        "the benchmarks are a program of their own, residuum-bench, which is not beside this one: "
        "build its target, 'cmake --build --preset release --target residuum-bench'");
  }
}

ExitCode dispatch(const CommandLine& line,
                  const std::vector<std::string>& arguments,
                  residuum::World& world) {
  const Options& options = line.options;
  if (line.run->parsed()) {
    return residuum::run_command(options, arguments, world);
  }
  if (line.bench->parsed()) {
    require_benchmarks(line);
    return line.bench_command(options, world);
  }
  if (line.info->parsed()) {
    return residuum::info_command(options, world);
  }
  if (world.size() > 1) {
    throw residuum::SharedError(
        ExitCode::usage,
        "only 'run', 'info', 'bench aggregate' and 'bench network' work on several processes; "
        "start this command without mpirun");
  }
  return dispatch_alone(line);
}

/// Reads the command line. Returns what --help prints, and nothing where there is work to do.
std::string read_command_line(CommandLine& line, const std::vector<std::string>& arguments) {
  std::vector<std::string> backwards(arguments.rbegin(), arguments.rend());
  if (!backwards.empty()) {
    backwards.pop_back();  // the program's name
  }
  try {
    line.app.parse(std::move(backwards));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      throw residuum::Error(ExitCode::usage, complaint(line, arguments, error));
    }
    std::ostringstream help;
    line.app.exit(error, help, help);
    return help.str();
  }
  return {};
}

/// Returns what a command line asks for, as far as it was read.
residuum::JobDigest digest_of(const CLI::App& app) {
  residuum::JobDigest digest{{{.name = "the program", .text = residuum::program_version()}}};
  for (const auto* command : app.get_subcommands()) {
    digest.parts.push_back({.name = "the command", .text = command->get_name()});
    for (const auto* option : command->get_options()) {
      digest.parts.push_back({.name = "option " + option->get_name(),
                              .text = fmt::to_string(fmt::join(option->results(), " "))});
    }
  }
  return digest;
}

/// Does what the command line says, if the processes of the job were all told the same.
ExitCode obey(CommandLine& line,
              const std::vector<std::string>& arguments,
              residuum::World& world) {
  residuum::check_launcher(world);
  std::string help;
  {
    std::optional<residuum::CallWatch> watch;
    if (world.size() > 1) {
      watch = residuum::watch_start("The comparison of command lines");
    }
    residuum::each_together(world, [&] { help = read_command_line(line, arguments); });
    residuum::agree(world, digest_of(line.app));
  }
  if (help.empty()) {
    return dispatch(line, arguments, world);
  }
  if (world.is_root()) {
    fmt::print("{}", help);
  }
  return ExitCode::done;
}

constexpr std::chrono::seconds kPatienceAtEnd{30};

std::unique_ptr<residuum::World> make_world() {
  if (!residuum::started_by_launcher()) {
    return residuum::make_single_process();
  }
  const auto watch = residuum::watch_start("MPI_Init");
  return residuum::make_mpi_world();
}

void end_world(std::unique_ptr<residuum::World> world) {
  std::optional<residuum::CallWatch> watch;
  if (residuum::started_by_launcher()) {
    watch = residuum::watch_call("MPI_Finalize", kPatienceAtEnd, "All results are written");
  }
  world.reset();
}

/// Runs `action`; what it throws becomes a line on stderr and an exit code. The world must end
/// after it, because mpirun stops all processes once one has ended with an error.
ExitCode guarded(residuum::World& world, const std::function<ExitCode()>& action) {
  try {
    return action();
  } catch (const residuum::SharedError& error) {
    return world.is_root() ? residuum::say_what_was_caught() : error.code();
  } catch (const std::exception&) {
    const ExitCode code = residuum::say_what_was_caught();
    if (world.size() > 1) {
      world.abort(code);  // the others may be waiting for this one
    }
    return code;
  }
}

}  // namespace

namespace residuum {

int residuum_main(int argc, char** argv, BenchCommand bench) {
  hold_standard_streams();
  CommandLine line;
  line.bench_command = bench;
  const std::vector<std::string> arguments(argv, argv + argc);
  if (argc > 1 && (arguments[1] == "run" || arguments[1] == "verify" || arguments[1] == "check")) {
    catch_stop_signals();  // a request may come while the program is still loading
  }
  if (argc > 1 && arguments[1] == "bench" && bench == nullptr) {
    become_benchmarks(argv);
  }
  auto world = make_world();
  const ExitCode code = guarded(*world, [&] { return obey(line, arguments, *world); });
  end_world(std::move(world));
  return static_cast<int>(flush_output(code));
}

}  // namespace residuum
