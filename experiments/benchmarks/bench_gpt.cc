// `residuum bench gpt` times the training of a transformer of nanoGPT's size for a CPU: dense, with
// AdamW, as nanoGPT trains it, in tokens a second, and how much of SparseLoCo is not libtorch's
// forward and backward.

#include <fmt/format.h>

#include <memory>
#include <string_view>

#include "experiments/benchmarks/bench.h"
#include "experiments/benchmarks/bench_training.h"

namespace residuum {
namespace {

constexpr int kBatch = 12;
constexpr int kContext = 64;
constexpr int kDenseIterations = 40;
constexpr int kGptRepetitions = 5;

constexpr std::string_view kDenseGpt = R"(schema = 1
name = "bench-gpt"
seeds = 1
[objective]
kind = "gpt"
characters = 20000
evaluate_samples = 1
test_samples = 1
device = "cpu"
[workers]
count = 1
batch = {}
[sparsifier]
kind = "none"
[aggregator]
kind = "dense"
[feedback]
kind = "none"
[protocol]
kind = "local"
period = 1
[local]
optimiser = "adamw"
beta2 = 0.99
weight_decay = 0.1
[step]
value = 1e-3
[budget]
iterations = {}
[probes]
names = []
)";

constexpr std::string_view kSparseLoCo = R"(schema = 1
name = "bench-sparseloco"
seeds = 1
[objective]
kind = "gpt"
characters = 20000
evaluate_samples = 1
test_samples = 1
device = "cpu"
[workers]
count = 4
batch = {}
[sparsifier]
kind = "chunk-top-k"
density = 0.015625
[quantiser]
kind = "table"
[aggregator]
kind = "allgather"
[feedback]
kind = "ef14"
decay = 0.95
[protocol]
kind = "local"
period = 30
[local]
optimiser = "adamw"
beta2 = 0.95
weight_decay = 0.1
[step]
value = 4e-4
[budget]
iterations = 1
[probes]
names = []
)";

void time_dense(std::vector<Measure>& measures, const Options& options) {
  const auto training = std::make_shared<TimedTraining>(
      fmt::format(fmt::runtime(kDenseGpt), kBatch, kDenseIterations), options, Output::nothing);
  add_benchmark(
      "gpt/dense", [training] { (*training)(); }, kGptRepetitions);
  measures.push_back({.id = "",
                      .name = "gpt of 4 layers of 128, batch 12 of 64 tokens, dense, AdamW",
                      .benchmark = "gpt/dense",
                      .baseline = "",
                      .target = std::nullopt,
                      .unit = "tokens/s",
                      .per_run = double{kBatch} * kContext * kDenseIterations});
}

void time_sparse_loco(std::vector<Measure>& measures, const Options& options) {
  constexpr double kShare = 0.05;
  const auto training =
      std::make_shared<TimedTraining>(fmt::format(fmt::runtime(kSparseLoCo), kBatch), options);
  add_clocked_benchmark(
      "gpt/outside", [training] { return training->clock().outside; }, kGptRepetitions);
  add_clocked_benchmark(
      "gpt/all", [training] { return training->clock().all; }, kGptRepetitions);
  measures.push_back(
      {.id = "",
       .name = "SparseLoCo on it, P = 4, H = 30, AdamW and exchange, outside libtorch",
       .benchmark = "gpt/outside",
       .baseline = "gpt/all",
       .faster_than = false,
       .target = kShare});
}

}  // namespace

void bench_gpt(std::vector<Measure>& measures, const Options& options) {
  time_dense(measures, options);
  time_sparse_loco(measures, options);
}

}  // namespace residuum
