// `residuum bench scale` tells whether cost follows the work. It times the step of bench fused per
// entry of the vector from d = 1e4 to 1e8 and from rho = 1e-4 to 0.5, and trainings per worker and
// iteration from P = 4 to 1024 in one process.

#include <fmt/format.h>

#include <memory>

#include "experiments/benchmarks/bench.h"
#include "experiments/benchmarks/bench_training.h"
#include "experiments/program/study/run_config.h"
#include "experiments/program/study/study.h"
#include "objectives/data/catalogue.h"

namespace residuum {
namespace {

// Every P does the same number of worker-iterations.
constexpr int kWorkerIterations = 1 << 16;
constexpr std::string_view kTraining = R"(schema = 1
name = "bench-scale"
seeds = 1
[objective]
kind = "logistic"
data = "synthetic-logistic"
rows = 32561
features = 123
[workers]
count = {}
batch = 32
[sparsifier]
kind = "top-k"
density = 0.1
[aggregator]
kind = "gtopk-tree"
[step]
value = 0.1
[budget]
iterations = {}
[probes]
names = []
)";

struct SizedStep {
  std::size_t d;
  double density;
};

std::string step_name(const SizedStep& one) {
  return fmt::format("scale/{}/{}", one.d, one.density);
}

void add_step(const SizedStep& one) {
  // A second vector of 1e8 fits where a third might not.
  auto gradients = std::make_shared<ErrorFeedbackCase::Gradients>();
  for (const std::uint32_t worker : {0U, 1U}) {
    gradients->push_back(gaussian_vector(one.d, worker));
  }
  const auto step = std::make_shared<ErrorFeedbackCase>(gradients, one.density);
  for (int t = 0; t < 10; ++t) {
    step->step();
  }
  add_benchmark(step_name(one), [step] { step->step(); });
}

/// Times every case against the one of its kind that `baseline` names.
void bench_steps(std::span<const SizedStep> cases,
                 const SizedStep& baseline,
                 std::optional<double> target,
                 std::vector<Measure>& measures) {
  for (const auto& one : cases) {
    add_step(one);
    const bool is_larger = one.d > baseline.d && one.density == baseline.density;
    measures.push_back({.id = "",
                        .name = fmt::format("step, d = {}, rho = {}", one.d, one.density),
                        .benchmark = step_name(one),
                        .baseline = step_name(baseline),
                        .faster_than = false,
                        .target = is_larger ? target : std::nullopt,
                        .entries = one.d,
                        .of_baseline = baseline.d});
  }
}

/// A prepared training without probes that can be run again and again.
class BareTraining {
 public:
  BareTraining(int workers, const Options& options)
      : objectives_({.data_dir = data_directory(options.data_dir), .cache_dir = {}, .workers = 1}) {
    const std::string text =
        fmt::format(fmt::runtime(kTraining), workers, kWorkerIterations / workers);
    KnownKeys known;
    run_ = prepare(parse_study(text, "bench", {}).runs.front(), objectives_, known);
    cluster_.emplace(*world_, run_.workers);
    run_.training.cluster = &*cluster_;
    run_.training.plan.measure = false;
    run_.training.plan.full_gradient = false;
  }

  void operator()() const {
    NoObserver nobody;
    train(run_.training, nobody);
  }

 private:
  ObjectiveCache objectives_;
  std::unique_ptr<World> world_ = make_single_process();
  std::optional<Cluster> cluster_;
  PreparedRun run_;
};

void bench_workers(std::vector<Measure>& measures, const Options& options) {
  const auto name = [](int workers) { return fmt::format("scale/workers/{}", workers); };
  for (const int workers : {4, 64, 1024}) {
    const auto training = std::make_shared<BareTraining>(workers, options);
    add_benchmark(name(workers), [training] { (*training)(); });
    measures.push_back(
        {.id = workers > 4 ? "P6" : "",
         .name = fmt::format("training of a9a's size, a worker's iteration, P = {}", workers),
         .benchmark = name(workers),
         .baseline = workers > 4 ? name(4) : "",
         .faster_than = false,
         .target = workers > 4 ? std::optional(1.3) : std::nullopt,
         .entries = kWorkerIterations,
         .of_baseline = kWorkerIterations});
  }
}

}  // namespace

void bench_scale(std::vector<Measure>& measures, const Options& options) {
  constexpr double kRho = 1e-3;
  constexpr double kFlat = 1.5;
  // From here on vectors are beyond the second cache everywhere.
  const SizedStep out_of_cache{.d = 10 * kMillion, .density = kRho};
  const std::vector<SizedStep> sizes{{.d = 10'000, .density = kRho},
                                     {.d = 100'000, .density = kRho},
                                     {.d = kMillion, .density = kRho},
                                     out_of_cache,
                                     {.d = 25 * kMillion, .density = kRho},
                                     {.d = 100 * kMillion, .density = kRho}};
  bench_steps(sizes, out_of_cache, kFlat, measures);
  for (const std::size_t d : {kMillion, 25 * kMillion}) {
    const std::vector<SizedStep> densities{{.d = d, .density = 1e-4},
                                           {.d = d, .density = 1e-2},
                                           {.d = d, .density = 0.1},
                                           {.d = d, .density = 0.5}};
    bench_steps(densities, {.d = d, .density = kRho}, std::nullopt, measures);
  }
  bench_workers(measures, options);
}

}  // namespace residuum
