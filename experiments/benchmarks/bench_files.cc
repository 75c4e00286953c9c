// `residuum bench io` times what writing iterations.csv and checks.csv costs. Two runs differ by
// more than a percent, so the writing alone of the rows that a run has recorded is set against the
// run without files; the run with files is shown beside it.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "core/child_program.h"
#include "core/error.h"
#include "experiments/benchmarks/bench.h"
#include "experiments/benchmarks/bench_training.h"

namespace residuum {
namespace {

/// Keeps all that a run records.
class Kept final : public Recorder {
 public:
  void write(const Row& row, const std::vector<Check>& checks) override {
    steps_.emplace_back(row, checks);
  }
  void write_to(Recorder& other) const {
    for (const auto& [row, checks] : steps_) {
      other.write(row, checks);
    }
  }

 private:
  std::vector<std::pair<Row, std::vector<Check>>> steps_;
};

void add_case(std::vector<Measure>& measures,
              const Options& options,
              const char* id,
              const std::string& name,
              const char* probes,
              std::optional<double> target) {
  const std::string study = logistic_study(options, probes);
  const auto with = std::make_shared<TimedTraining>(study, options, Output::files);
  const auto without = std::make_shared<TimedTraining>(study, options, Output::nothing);
  const auto kept = std::make_shared<Kept>();
  without->record(*kept);
  const auto named = [&](const char* what) { return fmt::format("io/{}/{}", what, name); };
  add_benchmark(named("without"), [without] { (*without)(); });
  add_benchmark(named("with"), [with] { (*with)(); });
  const auto add_writing = [&](const char* what, void (RecordFiles::*end)()) {
    add_benchmark(named(what), [kept, end] {
      RecordFiles files;
      kept->write_to(files);
      (files.*end)();
    });
  };
  add_writing("writing", &RecordFiles::flush);
  add_writing("writing and waiting", &RecordFiles::close);
  const auto line = [&](const char* what,
                        const char* of,
                        const char* line_id,
                        std::optional<double> aim) {
    measures.push_back({.id = line_id,
                        .name = fmt::format("{}, {}, {}", name, of, logistic_data_name(options)),
                        .benchmark = named(what),
                        .baseline = named("without"),
                        .faster_than = false,
                        .target = aim});
  };
  line("writing", "writing its rows against the run", id, target);
  line("writing and waiting", "and waiting for the disk", "", std::nullopt);
  line("with", "the run with files against without", "", 1.05);
}

}  // namespace

void bench_io(std::vector<Measure>& measures, const Options& options) {
  constexpr const char* kFewRows = "every = { geometric = 1.1 }";
  add_case(measures, options, "P8", kFewRows, kFewRows, 0.01);
  add_case(measures, options, "", "default probes (2000 rows)", "", std::nullopt);
  add_case(measures, options, "", "every iteration", "every = 1\nevaluate = 20000", std::nullopt);
}

// `residuum bench start` takes the CPU time until the program does what it was asked for. libtorch
// and its three hundred libraries are loaded for networks alone; `info`, which asks for its
// version, shows what they cost.

namespace {

constexpr double kMost = 50;  // milliseconds

/// Runs the program beside this one with the command, its output thrown away, and returns the CPU
/// seconds that it took.
double cpu_seconds(const std::string& command) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").replace_filename("residuum");
  std::error_code failure;
  const auto end = run_program_to_end({.words = {program.string(), command}}, failure);
  if (!end) {
    resource_error("cannot start {}: {}", program.string(), failure.message());
  }
  if (end->code != 0) {
    resource_error("'residuum {}' failed", command);
  }
  return end->cpu_seconds;
}

}  // namespace

void bench_start(std::vector<Measure>& measures, const Options& /*options*/) {
  for (const char* command : {"list", "info"}) {
    add_clocked_benchmark(
        fmt::format("start/{}", command), [command] { return cpu_seconds(command); }, kRepetitions);
  }
  measures.push_back({.id = "",
                      .name = "CPU time of residuum list, faster than info with libtorch",
                      .benchmark = "start/list",
                      .baseline = "start/info",
                      .faster_than = true,
                      .target = kMost,
                      .of_value = true});
}

}  // namespace residuum
