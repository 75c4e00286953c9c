// `residuum bench logistic` counts the worker-iterations per second of a small convex problem,
// where what surrounds the arithmetic counts most. The same iteration, written with libtorch's
// operators as training code writes it, stands beside it.

#include <fmt/format.h>

#include <benchmark/benchmark.h>
#include <memory>
#include <utility>
#include <vector>

#include "core/vectors/dense.h"
#include "experiments/benchmarks/bench.h"
#include "experiments/benchmarks/bench_training.h"
#include "experiments/benchmarks/triad.h"
#include "objectives/data/synthetic.h"
#include "objectives/logistic_objective.h"
#include "objectives/network_module.h"

namespace residuum {
namespace {

constexpr std::size_t kRowsOfA9a = 32561;

using Numbers = std::shared_ptr<std::vector<double>>;

/// Adds a benchmark of f and its gradient over dense rows of a9a's width, and returns their bytes.
std::size_t add_dense_rows(const char* name, std::size_t count) {
  auto data = make_logistic_data({.rows = count, .features = 123, .seed = 1, .noise = 0.05}).data;
  auto labels = data.labels;
  const auto loss = std::make_shared<LogisticLoss>(std::make_unique<FeatureMatrix>(std::move(data)),
                                                   std::move(labels));
  const Numbers w = std::make_shared<std::vector<double>>(loss->dimension(), 0.1);
  const Numbers gradient = std::make_shared<std::vector<double>>(loss->dimension());
  add_benchmark(name, [=] { benchmark::DoNotOptimize(loss->mean(*w, *gradient)); });
  return loss->samples() * loss->dimension() * sizeof(double);
}

/// Times f and its gradient where no cache holds the rows, against a triad that moves as many
/// bytes, and at a9a's size, against a pass that only reads as many.
void bench_dense_rows(std::vector<Measure>& measures) {
  const std::size_t many = add_dense_rows("logistic-many-rows", 4 * kRowsOfA9a);
  constexpr std::size_t kBytesOfTriad = 3 * sizeof(float);
  const auto m = std::make_shared<std::vector<float>>(gaussian_vector(many / kBytesOfTriad, 0));
  const auto g = std::make_shared<std::vector<float>>(gaussian_vector(m->size(), 1));
  add_benchmark("logistic-triad", [=] { triad(*m, *g, 1e-3F); });
  const std::size_t few = add_dense_rows("logistic-rows", kRowsOfA9a);
  const Numbers numbers = std::make_shared<std::vector<double>>(few / sizeof(double), 0.1);
  add_benchmark("logistic-read", [=] { benchmark::DoNotOptimize(norm_sq<double>(*numbers)); });
  measures.push_back(
      {.id = "P12",
       .name = "f and grad f, dense rows, four times a9a's, against a triad of their bytes",
       .benchmark = "logistic-many-rows",
       .baseline = "logistic-triad",
       .faster_than = false,
       .target = 2,
       .bytes = many});
  measures.push_back({.id = "",
                      .name = "the same, as many rows as a9a has, against a read of their bytes",
                      .benchmark = "logistic-rows",
                      .baseline = "logistic-read",
                      .faster_than = false,
                      .target = std::nullopt,
                      .bytes = few});
}

}  // namespace

void bench_logistic(std::vector<Measure>& measures, const Options& options) {
  const auto training = std::make_shared<TimedTraining>(
      logistic_study(options, "names = []"), options, Output::nothing);
  add_benchmark("logistic-rate", [training] { (*training)(); });
  // A network adds rows of the table along its times, with f. Here neither run has more than the
  // first row and f at the end.
  constexpr const char* kOnce = "names = []\nevaluate = 20000\nevery = 20000";
  const auto unclocked =
      std::make_shared<TimedTraining>(logistic_study(options, kOnce), options, Output::nothing);
  add_benchmark("logistic-no-clocks", [unclocked] { (*unclocked)(); });
  const auto clocked = std::make_shared<TimedTraining>(
      logistic_study(options, fmt::format("{}\n[network]\nmodel = \"1gbe\"", kOnce)),
      options,
      Output::nothing);
  add_benchmark("logistic-clocks", [clocked] { (*clocked)(); });
  const auto iterate = network_module().logistic({.rows = kRowsOfA9a,
                                                  .features = 123,
                                                  .workers = kLogisticWorkers,
                                                  .batch = 32,
                                                  .k = 12,
                                                  .step_size = 0.1,
                                                  .l2 = 1.0 / static_cast<double>(kRowsOfA9a)});
  add_benchmark(
      "logistic-operators",
      [iterate] {
        for (int t = 0; t < kLogisticIterations; ++t) {
          iterate();
        }
      },
      3);
  // A row of a9a has 14 entries of 123; on dense rows the target would be for another problem.
  const bool real = has_a9a(options);
  const double worker_iterations = double{kLogisticWorkers} * kLogisticIterations;
  measures.push_back({.id = real ? "P5" : "",
                      .name = fmt::format(
                          "logistic regression, {}, P = {}, batch 32, rho = 0.1, gTop-k, no probes",
                          logistic_data_name(options),
                          kLogisticWorkers),
                      .benchmark = "logistic-rate",
                      .baseline = "logistic-operators",
                      .faster_than = true,
                      .target = real ? std::optional(100'000.0) : std::nullopt,
                      .unit = "worker-iterations/s",
                      .per_run = worker_iterations});
  measures.push_back({.id = "P11",
                      .name = "the same with virtual clocks on a network",
                      .benchmark = "logistic-clocks",
                      .baseline = "logistic-no-clocks",
                      .faster_than = false,
                      .target = 1.03});
  bench_dense_rows(measures);
}

}  // namespace residuum
