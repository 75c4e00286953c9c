// `residuum bench probes` times what measuring costs: whole trainings with the default probes
// against the same trainings without, rows and checks written to files as in a run. Evaluations of
// f on all data are not the probes' and cost what the data set makes them; they are timed on a line
// of their own.

#include <fmt/format.h>

#include <memory>
#include <string_view>

#include "experiments/benchmarks/bench.h"
#include "experiments/benchmarks/bench_training.h"

namespace residuum {
namespace {

constexpr std::string_view kLenet = R"(schema = 1
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

// A training long enough for the cadences to matter takes too long to be repeated. In one this
// short almost every iteration is measured, and only the share outside libtorch says anything.
constexpr int kResnetIterations = 6;
constexpr int kResnetRepetitions = 3;
constexpr std::string_view kResnet = R"(schema = 1
name = "bench-resnet20"
seeds = 1
[objective]
kind = "resnet20"
data = "synthetic-images"
rows = 500
evaluate_samples = 32
test_samples = 32
device = "cpu"
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
iterations = {}
)";

/// Times how much of an iteration is not libtorch's forward and backward.
void time_resnet(std::vector<Measure>& measures, const Options& options) {
  constexpr double kShare = 0.05;
  const auto training = std::make_shared<TimedTraining>(
      fmt::format(fmt::runtime(kResnet), kResnetIterations), options);
  add_clocked_benchmark(
      "resnet20/outside", [training] { return training->clock().outside; }, kResnetRepetitions);
  add_clocked_benchmark(
      "resnet20/all", [training] { return training->clock().all; }, kResnetRepetitions);
  measures.push_back(
      {.id = "",
       .name = fmt::format("ResNet-20, P = 4, {} iterations, outside libtorch", kResnetIterations),
       .benchmark = "resnet20/outside",
       .baseline = "resnet20/all",
       .faster_than = false,
       .target = kShare});
}

struct ProbesCase {
  const char* name;
  const char* probes;
};

}  // namespace

void bench_probes(std::vector<Measure>& measures, const Options& options) {
  const auto time_logistic = [&](const ProbesCase& one) {
    const auto training =
        std::make_shared<TimedTraining>(logistic_study(options, one.probes), options);
    add_benchmark(fmt::format("logistic/{}", one.name), [training] { (*training)(); });
  };
  const auto time_network = [&](const ProbesCase& one) {
    const auto training =
        std::make_shared<TimedTraining>(fmt::format(fmt::runtime(kLenet), one.probes), options);
    add_benchmark(
        fmt::format("lenet/{}", one.name), [training] { (*training)(); }, 3);
  };
  time_logistic({"off", "names = []"});
  time_logistic({"few", "every = { geometric = 1.1 }\nevaluate = 20000"});
  time_logistic({"default", "evaluate = 20000"});
  time_logistic({"default-evaluated", ""});
  time_logistic({"every", "every = 1\nevaluate = 20000"});
  time_network({"off", "names = []"});
  time_network({"few", "every = { geometric = 1.1 }\nevaluate = 1000"});
  time_network({"default", "evaluate = 1000"});
  const std::string logistic = fmt::format("{}, P = {}, {} iterations",
                                           logistic_data_name(options),
                                           kLogisticWorkers,
                                           kLogisticIterations);
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
  const std::string network = "LeNet (in place of ResNet-20), P = 4, 1000 iterations";
  line("P4", logistic + ", every = { geometric = 1.1 }", "logistic/few", "logistic/off", 1.05);
  line("", logistic + ", default probes (2000 rows)", "logistic/default", "logistic/off", {});
  line("", logistic + ", and f evaluated", "logistic/default-evaluated", "logistic/off", {});
  line("", logistic + ", every iteration", "logistic/every", "logistic/off", {});
  line("", network + ", every = { geometric = 1.1 }", "lenet/few", "lenet/off", 1.02);
  line("", network + ", default probes (every iteration)", "lenet/default", "lenet/off", {});
  time_resnet(measures, options);
}

}  // namespace residuum
