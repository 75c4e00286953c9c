// `residuum bench` runs groups of benchmarks by name and prints what their numbers depend on.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <optional>

#include "core/random/random.h"
#include "core/vectors/cuda/device.h"
#include "core/vectors/dense.h"
#include "core/vectors/kernels.h"
#include "core/vectors/select.h"
#include "experiments/benchmarks/bench.h"
#include "experiments/benchmarks/bench_network.h"
#include "experiments/benchmarks/triad.h"
#include "experiments/program/runs/provenance.h"
#include "objectives/network_module.h"
#include "reports/results/files.h"

namespace residuum {
namespace {

constexpr std::array<std::size_t, 2> kSizes{kMillion, 25 * kMillion};

std::string sized(const char* name, std::size_t d) { return fmt::format("{}/{}", name, d); }

/// Adds m += eta g: its three streams of memory are the floor under every pass.
void add_triad(const std::shared_ptr<std::vector<float>>& x) {
  const auto m = std::make_shared<std::vector<float>>(x->size());
  add_benchmark(sized("triad", x->size()), [x, m] { triad(*m, *x, 0.1F); });
}

void bench_triad(std::vector<Measure>& measures, const Options& /*options*/) {
  for (const std::size_t d : kSizes) {
    add_triad(std::make_shared<std::vector<float>>(gaussian_vector(d, 0)));
    measures.push_back({.id = "",
                        .name = fmt::format("m += eta g, d = {}", d),
                        .benchmark = sized("triad", d),
                        .baseline = "",
                        .faster_than = true,
                        .target = std::nullopt,
                        .bytes = 3 * d * sizeof(float)});
  }
}

/// Times libtorch's selection, std::nth_element on magnitudes, and ours, on the same Gaussian
/// vector.
void bench_select(std::vector<Measure>& measures, const Options& /*options*/) {
  for (const std::size_t d : kSizes) {
    const auto x = std::make_shared<std::vector<float>>(gaussian_vector(d, 0));
    const std::size_t k = d / kCompression;
    add_benchmark(
        sized("select", d),
        [x, k, workspace = SelectWorkspace(), selected = SparseVector<float>()]() mutable {
          select_top_k<float>(*x, k, workspace, selected);
          benchmark::DoNotOptimize(selected.size());
        });
    add_benchmark(sized("torch-topk", d),
                  [x, k] { benchmark::DoNotOptimize(network_module().top_k(*x, k)); });
    const auto magnitudes = std::make_shared<std::vector<float>>();
    add_benchmark(sized("nth-element", d), [x, k, magnitudes] {
      magnitudes->resize(x->size());
      std::transform(
          x->begin(), x->end(), magnitudes->begin(), [](float v) { return std::abs(v); });
      const auto kth = magnitudes->begin() + static_cast<std::ptrdiff_t>(k - 1);
      std::nth_element(magnitudes->begin(), kth, magnitudes->end(), std::greater<>());
      benchmark::DoNotOptimize(*kth);
    });
    const auto line = [&](const char* baseline, std::optional<double> target) {
      measures.push_back(
          {.id = "",
           .name = fmt::format("exact Top-k, d = {}, k = {}, faster than {}", d, k, baseline),
           .benchmark = sized("select", d),
           .baseline = sized(baseline, d),
           .faster_than = true,
           .target = target});
    };
    line("torch-topk", 5.0);
    line("nth-element", std::nullopt);
  }
}

void bench_device(std::vector<Measure>& measures, const Options& options) {
  if (!cuda::available() && options.benchmarks.empty()) {
    fmt::print(stderr, "note: cuda is left out: no CUDA device, or a build without nvcc\n");
    return;
  }
  DeviceTopK top_k;
  if (networks_are_built() && network_module().cuda_devices() > 0) {
    top_k = [](std::span<const float> x, std::size_t k) {
      return network_module().device_top_k(x, k);
    };
  }
  bench_cuda(measures, top_k);
}

struct Group {
  std::string name;
  void (*add)(std::vector<Measure>&, const Options&);
  bool needs_torch = false;
};

const std::vector<Group>& benchmarks() {
  static const std::vector<Group> all{{"triad", bench_triad},
                                      {"select", bench_select, true},
                                      {"fused", bench_fused, true},
                                      {"scale", bench_scale},
                                      {"protocols", bench_protocols},
                                      {"merge", bench_merge},
                                      {"quantisers", bench_quantisers},
                                      {"aggregate", bench_aggregate},
                                      {"probes", bench_probes, true},
                                      {"gpt", bench_gpt, true},
                                      {"logistic", bench_logistic, true},
                                      {"io", bench_io},
                                      {"start", bench_start, true},
                                      {"cuda", bench_device}};
  return all;
}

std::vector<Measure> register_chosen(const Options& options) {
  const auto& names = options.benchmarks;
  std::vector<std::string> known;
  for (const auto& group : benchmarks()) {
    known.push_back(group.name);
  }
  for (const auto& name : names) {
    require(std::find(known.begin(), known.end(), name) != known.end(),
            "unknown benchmark '{}'{}",
            name,
            suggestion(name, known));
  }
  std::vector<Measure> measures;
  for (const auto& group : benchmarks()) {
    const bool is_named = std::find(names.begin(), names.end(), group.name) != names.end();
    if (!is_named && !names.empty()) {
      continue;
    }
    if (group.needs_torch && is_named) {
      require_torch(fmt::format("the benchmark '{}'", group.name));
    } else if (group.needs_torch && !networks_are_built()) {
      fmt::print(stderr, "note: {} is left out: a build without libtorch\n", group.name);
      continue;
    }
    group.add(measures, options);
  }
  return measures;
}

/// Returns the targets that are timed, one after the other.
std::vector<std::string> chosen_targets(const Options& options) {
  const auto all = kernels::target_names();
  if (!options.simd) {
    return {all.front()};
  }
  return *options.simd == "all" ? all : std::vector{*options.simd};
}

/// Prints what the numbers depend on.
void print_header(const std::vector<std::string>& targets) {
  constexpr std::array<std::string_view, 6> kWanted{
      "CPU", "SIMD", "GPU", "compiler", "BLAS", "libtorch"};
  std::string compiler;
  for (const auto& [name, value] : versions()) {
    if (std::find(kWanted.begin(), kWanted.end(), name) != kWanted.end()) {
      const bool is_simd = name == "SIMD";
      fmt::print("{:<10} {}\n", name, is_simd ? fmt::to_string(fmt::join(targets, ", ")) : value);
    }
    compiler = name == "compiler" ? value : compiler;
  }
  if (compiler.find(", Release ") == std::string::npos) {
    fmt::print("warning    this is no Release build: its times say little\n");
  }
  fmt::print(
      "one thread on one core; medians of up to {} interleaved repetitions, spread: interquartile "
      "range over median\n",
      kRepetitions);
}

/// On several processes every rank must do the same, so no benchmark decides for itself how often
/// it runs.
Times run_on_all(const Options& options, std::vector<Measure>& measures, World& world) {
  together(world, [&] {
    require(
        options.benchmarks == std::vector<std::string>{"aggregate"},
        "on several processes only 'residuum bench aggregate' and 'residuum bench network' run; "
        "start the others without mpirun");
  });
  return time_aggregate(measures, world);
}

Times run_here(const Options& options, std::vector<Measure>& measures) {
  measures = register_chosen(options);
  return time_added();
}

}  // namespace

std::vector<float> gaussian_vector(std::size_t size, std::uint32_t worker) {
  std::vector<float> x(size);
  RandomStream random(1, Purpose::test, worker, 0);
  for (float& value : x) {
    value = static_cast<float>(random.normal());
  }
  return x;
}

ExitCode bench_command(const Options& options, World& world) {
  const auto targets = chosen_targets(options);
  if (options.benchmarks == std::vector<std::string>{"network"}) {
    together(world, [&] {
      require(targets.size() == 1, "'residuum bench network' takes one target, not '--simd all'");
    });
    kernels::use_target(targets.front());
    bench_network(options, world);
    return ExitCode::done;
  }
  auto list = reports::Json::array();
  for (const auto& target : targets) {
    kernels::use_target(target);
    std::vector<Measure> measures;
    const Times times =
        world.size() > 1 ? run_on_all(options, measures, world) : run_here(options, measures);
    if (world.is_root()) {
      const auto lines = told(measures, times);
      list.insert(list.end(), lines.begin(), lines.end());
    }
  }
  if (!world.is_root()) {
    return ExitCode::done;
  }
  if (options.json) {
    fmt::print("{}\n", list.dump(2));
    return ExitCode::done;
  }
  print_header(targets);
  print_lines(list);
  return ExitCode::done;
}

}  // namespace residuum
