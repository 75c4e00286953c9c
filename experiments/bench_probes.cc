// residuum bench probes: what looking costs. Whole trainings with the default probes against the
// same trainings without, rows and checks written to files as in a run. Evaluations of f on all
// data are not the probes' and cost what the data set makes them; they are timed on a line of their
// own.

#include <filesystem>
#include <memory>
#include <unistd.h>

#include "assumptions/monitor.h"
#include "experiments/bench.h"
#include "experiments/run_config.h"
#include "experiments/study.h"
#include "objectives/data/catalogue.h"
#include "reports/csv.h"

namespace residuum {
namespace {

constexpr std::string_view kLogistic = R"(schema = 1
name = "bench-probes"
seeds = 1
[objective]
kind = "logistic"
{}
[workers]
count = 4
batch = 32
[sparsifier]
kind = "top-k"
density = 0.1
[aggregator]
kind = "gtopk-tree"
[step]
value = 0.1
[budget]
iterations = 20000
[probes]
{}
)";

constexpr std::string_view kNetwork = R"(schema = 1
name = "bench-probes"
seeds = 1
[objective]
kind = "lenet"
data = "synthetic-images"
rows = 500
[workers]
count = 4
batch = 32
[sparsifier]
kind = "top-k"
density = 0.001
[aggregator]
kind = "gtopk-tree"
[step]
value = 0.05
[budget]
iterations = 1000
[probes]
{}
)";

/// Writes what a run writes, into a folder that goes with it.
class Files final : public Recorder {
 public:
  Files()
      : folder_(std::filesystem::temp_directory_path() /
                fmt::format("residuum-bench-{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
    iterations_ = std::make_unique<reports::IterationsWriter>(folder_ / "iterations.csv", "bench");
    checks_ = std::make_unique<reports::ChecksWriter>(folder_ / "checks.csv", "bench");
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  Files(Files&&) = delete;
  Files& operator=(Files&&) = delete;
  ~Files() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void write(const Row& row, const std::vector<Check>& checks) override {
    iterations_->write(row);
    for (const auto& check : checks) {
      checks_->write(check);
    }
  }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<reports::IterationsWriter> iterations_;
  std::unique_ptr<reports::ChecksWriter> checks_;
};

/// A prepared training that can be run again and again.
class TimedTraining {
 public:
  TimedTraining(const std::string& study, const Options& options)
      : objectives_({.data_dir = data_directory(options.data_dir), .cache_dir = {}, .workers = 1}) {
    const Study parsed = parse_study(study, "bench", {});
    KnownKeys known;
    run_ = prepare(parsed.runs.front(), objectives_, known);
    cluster_.emplace(*world_, run_.workers);
    run_.training.cluster = &*cluster_;
  }

  void operator()() const {
    Files files;
    Monitor monitor(
        make_probes(run_.probes, "a benchmark"), files, [](std::uint64_t, std::uint64_t) {});
    train(run_.training, monitor);
  }

 private:
  ObjectiveCache objectives_;
  std::unique_ptr<World> world_ = make_single_process();
  std::optional<Cluster> cluster_;
  PreparedRun run_;
};

/// The real a9a where it is, else made data of its size.
std::string logistic_data(const Options& options) {
  const auto folder = data_directory(options.data_dir) / "a9a";
  for (const char* name : {"a9a", "a9a.xz", "a9a.gz"}) {
    if (std::filesystem::exists(folder / name)) {
      return "data = \"a9a\"";
    }
  }
  return "data = \"synthetic-logistic\"\nrows = 32561\nfeatures = 123";
}

struct Case {
  const char* name;
  const char* probes;
};

}  // namespace

void bench_probes(std::vector<Measure>& measures, const Options& options) {
  const std::string data = logistic_data(options);
  const auto time_logistic = [&](const Case& one) {
    const auto training = std::make_shared<TimedTraining>(
        fmt::format(fmt::runtime(kLogistic), data, one.probes), options);
    add_benchmark(fmt::format("logistic/{}", one.name), [training] { (*training)(); });
  };
  const auto time_network = [&](const Case& one) {
    const auto training =
        std::make_shared<TimedTraining>(fmt::format(fmt::runtime(kNetwork), one.probes), options);
    add_benchmark(
        fmt::format("lenet/{}", one.name), [training] { (*training)(); }, 3);
  };
  time_logistic({"off", "names = []"});
  time_logistic({"default", "evaluate = 20000"});
  time_logistic({"default-evaluated", ""});
  time_logistic({"every", "every = 1\nevaluate = 20000"});
  time_network({"off", "names = []"});
  time_network({"default", "evaluate = 1000"});
  const bool real = data.find("a9a") != std::string::npos;
  const std::string logistic =
      fmt::format("{}, P = 4, 20000 iterations", real ? "a9a" : "made data of a9a's size");
  const auto line = [&](const char* id,
                        const std::string& name,
                        const char* benchmark,
                        const char* baseline,
                        std::optional<double> target) {
    measures.push_back({.id = id,
                        .name = name,
                        .benchmark = benchmark,
                        .baseline = baseline,
                        .faster_than = false,
                        .target = target});
  };
  line("P4", logistic + ", default probes", "logistic/default", "logistic/off", 1.10);
  line("", logistic + ", and f evaluated", "logistic/default-evaluated", "logistic/off", {});
  line("", logistic + ", every iteration", "logistic/every", "logistic/off", {});
  line("P4", "LeNet, P = 4, 1000 iterations, default probes", "lenet/default", "lenet/off", 1.02);
}

}  // namespace residuum
