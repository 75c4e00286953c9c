#pragma once
// Options hold what the command line said, for the commands that need it.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residuum {

enum class ProgressStyle { automatic, bar, lines, none };

struct FalsifyOptions {
  std::int64_t workers = 0;
  std::int64_t dimension = 0;
  std::string against = "delta";
  double condition = 100;         // kappa, against the tight rate
  std::string feedback = "ef14";  // against the tight rate
  std::int64_t seed = 1;
  std::int64_t evaluations = 20000;
  std::optional<std::int64_t> steps;  // of a run, against the tight rate
  std::int64_t skip = 0;              // of these, which the average leaves out
  std::string ratio = "average";      // or "largest"
  std::vector<double> nearby;         // sizes by which copies of a run's problem are moved
  std::filesystem::path out;          // empty: worst.npy, or worst.toml with steps
};

/// The options of `rate` are constants of a problem, or a folder that has them.
struct RateOptions {
  std::optional<std::filesystem::path> from;
  std::optional<std::filesystem::path> study;
  std::optional<double> smoothness;
  std::optional<double> strong_convexity;
  std::optional<double> density;
  std::optional<double> contraction;
  std::optional<std::int64_t> workers;    // 1
  std::optional<std::int64_t> dimension;  // 1 000 000
  double accuracy = 1e-6;
  std::optional<double> step;
  std::optional<double> momentum;  // the heavy ball behind the exchange
  std::int64_t local_steps = 1;
  std::optional<double> error_weight;           // of EControl; 0.001, or that of the method
  std::optional<std::filesystem::path> figure;  // of bytes over densities, or of the curve
  bool curve = false;
  std::string method;  // empty: all
};

/// The options of `advise`: a network, and a target.
struct AdviseOptions {
  std::string bandwidth;                // "1gbit"
  std::string latency;                  // "50us"
  std::optional<std::string> gradient;  // "20ms"; else what it takes in the study
  std::optional<std::int64_t> workers;
  std::optional<std::string> target;  // "loss" or "loss=1.9"
};

/// The options of `check` say where a compressor is and what its user claims of it.
struct CheckOptions {
  std::vector<std::string> command;  // a program and its arguments; empty: files are given
  std::filesystem::path input;
  std::filesystem::path output;
  std::optional<double> contraction;
  std::optional<double> omega;
  bool unbiased = false;
  bool random = false;
  bool memory = false;
  double decay = 1;
  bool finite_only = false;
  std::optional<std::string> shape;  // else 60, and longer ones for the law "lengths"
  std::int64_t draws = 2000;
  double timeout_s = 30;
};

/// A share is every n-th run of a study, from the i-th on (--shard i/n). The code does not call it
/// a shard, because shards are the data of workers.
struct Share {
  std::size_t index = 1;  // 1 .. of
  std::size_t of = 1;
  bool has(std::size_t run) const { return run % of == index - 1; }
};

/// The options of `table` say which numbers of which runs are printed.
struct TableOptions {
  std::filesystem::path folder;
  std::vector<std::string> columns;
  std::optional<std::string> table;  // else iterations.csv, or runs.csv for its own columns
  std::string take = "last";         // last, max, mean or rate
  std::vector<std::string> where;    // KEY=VALUE
  std::vector<std::string> minus;    // KEY=VALUE, of the baseline
  std::string by = "all";  // what a baseline shares beside the seed: all other keys, none, or one
  std::optional<std::string> budget;  // COST=AMOUNT
  std::optional<std::string> until;   // COLUMN=LIMIT
  std::optional<std::int64_t> tests;
  double scale = 1;
};

/// The options of `plan` for the jobs of a cluster: what the user knows of it.
struct JobOptions {
  std::optional<std::string> time;       // as Slurm writes it
  std::optional<std::string> memory;     // of a node
  std::optional<std::string> partition;  // the queue
  std::optional<std::string> account;
  std::optional<int> tasks;         // of the job array, at most
  std::optional<int> processes;     // of a task
  std::vector<std::string> before;  // lines of shell before the program starts

  bool are_given() const {
    return time || memory || partition || account || tasks || processes || !before.empty();
  }
};

/// The options of `report` say how its tables are printed.
struct ReportOptions {
  std::vector<std::string> columns;
  std::vector<std::string> budgets;  // --at: 2MB
  std::optional<int> digits;
  std::vector<std::string> wide;
};

/// The options of `figure`: the quantities that are drawn, and the size.
struct FigureOptions {
  std::filesystem::path folder;
  std::string quantity;
  std::optional<std::string> by;      // else iterations
  std::vector<std::string> methods;   // lists of labels; empty: all
  std::vector<std::string> where;     // KEY=VALUE, of methods in kept tables
  std::optional<std::string> format;  // --for icml, ieee or slides
  std::optional<std::string> width;   // 84mm
  std::optional<std::string> font_size;
  std::filesystem::path file;  // one that ends in / is a folder
};

/// The options of `keep` and of `epochs`.
struct KeepOptions {
  std::filesystem::path results;
  std::filesystem::path kept;
  std::optional<std::int64_t> rows;
  std::vector<std::string> numbers;  // of a run, instead of its rows
  std::vector<std::string> tables;   // that are kept beside these
  std::vector<std::string> figures;  // of the report, with their numbers
  std::optional<std::int64_t> parts;
};

struct Options {
  std::filesystem::path study;               // STUDY.toml
  std::vector<std::string> overrides;        // --set key=value
  std::optional<std::filesystem::path> out;  // --out DIR
  std::optional<std::string> data_dir;       // --data-dir DIR
  ProgressStyle progress = ProgressStyle::automatic;
  bool json = false;
  bool strict = false;  // --strict: a failed assumption is exit code 4
  bool fail_fast = false;
  bool allow_commands = false;  // --allow-commands: code that a study names may be executed
  Share share;
  int groups = 1;           // --groups: how many runs at once
  double time_limit_s = 0;  // 0: none
  double checkpoint_every_s = 300;

  std::string plan_format = "table";
  JobOptions job;                    // of plan
  bool layers = false;               // of plan: print layers, not runs
  std::vector<int> ranks;            // of verify; empty: 1 to 4, as far as there are workers
  std::string room;                  // of list
  std::string list_format = "text";  // of list: or markdown, json-schema
  std::vector<std::filesystem::path> result_dirs;  // of report, export, watch and compare
  std::optional<std::string> theorem;              // that report explains on stdout
  ReportOptions report;
  std::string interval = "iqr";  // of report and figure: iqr, student or bootstrap
  std::vector<std::string> benchmarks;
  std::optional<std::string> simd;  // of bench: a target, as Highway names it

  // export
  bool join = false;
  bool tensorboard = false;

  // watch
  bool once = false;
  bool plot = false;
  double every_s = 2;

  // compare
  std::vector<std::filesystem::path> other_dirs;  // --with; empty: the second of two result_dirs
  double tolerance = 0.01;
  bool anyway = false;
  bool fail_on_regression = false;

  // page
  std::vector<std::filesystem::path> pages;
  bool check_pages = false;

  FigureOptions figure;
  TableOptions table;
  KeepOptions keep;

  // inspect, and falsify where it is the same
  std::filesystem::path file;
  std::optional<std::int64_t> step;   // of an array (T, P, d)
  std::optional<std::string> member;  // of a .npz
  std::optional<std::filesystem::path> gradient;
  bool entries = false;  // print the update, entry by entry
  bool fits = false;     // fit laws to the magnitudes
  std::string aggregator = "gtopk-tree";
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> rows;
  std::string put_back = "captured";
  std::string sparsifier = "top-k";
  std::optional<std::int64_t> block;
  std::optional<std::int64_t> k;
  std::optional<double> density;
  std::optional<double> threshold;
  std::optional<std::string> quantiser;  // none
  std::optional<std::int64_t> bits;

  FalsifyOptions falsify;
  RateOptions rate;
  AdviseOptions advise;
  CheckOptions check;
};

/// results/<study name>, or --out.
std::filesystem::path output_folder(const Options& options, const std::string& study_name);

/// Solved facts are kept in this folder: $RESIDUUM_CACHE, $XDG_CACHE_HOME/residuum,
/// ~/.cache/residuum, or empty (nowhere) if none of these is set.
std::filesystem::path cache_folder();

}  // namespace residuum
