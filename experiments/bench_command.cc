// residuum bench: the groups of benchmarks by name, and what their numbers depend on.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <optional>

#include "core/random/random.h"
#include "core/vectors/cuda/device.h"
#include "core/vectors/dense.h"
#include "core/vectors/select.h"
#include "experiments/bench.h"
#include "experiments/commands.h"
#include "experiments/provenance.h"
#include "experiments/triad.h"
#include "objectives/torch/baselines.h"
#include "objectives/torch/device.h"
#include "reports/files.h"

namespace residuum {
namespace {

constexpr std::size_t kMillion = 1'000'000;
constexpr std::array<std::size_t, 2> kSizes{kMillion, 25 * kMillion};
constexpr std::size_t kCompression = 1000;  // d / k

<<<<<<< HEAD
=======
/// Gathers the time of every repetition under the benchmark's name.
class Collector final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const auto& run : runs) {
      if (run.run_type == Run::RT_Iteration && !run.error_occurred) {
        times[run.run_name.function_name].push_back(run.GetAdjustedRealTime());
      }
    }
  }
  Times times;
};

std::vector<float> gaussian_vector(std::size_t size, std::uint32_t worker) {
  std::vector<float> x(size);
  RandomStream random(1, Purpose::test, worker, 0);
  for (float& value : x) {
    value = static_cast<float>(random.normal());
  }
  return x;
}

>>>>>>> help-b
std::string sized(const char* name, std::size_t d) { return fmt::format("{}/{}", name, d); }

/// m += eta g: three streams of memory, the floor under every pass.
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
                        .target = std::nullopt});
  }
}

/// libtorch's selection, std::nth_element on magnitudes, and ours, on the same Gaussian vector.
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
    add_benchmark(sized("torch-topk", d), [x, k] { benchmark::DoNotOptimize(torch_top_k(*x, k)); });
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

<<<<<<< HEAD
/// One exchange of P = 4 workers in one process, merge and put-back lists included.
struct AggregationCase {
  explicit AggregationCase(const char* kind)
      : aggregator(make_aggregator(Section("aggregator", nlohmann::json{{"kind", kind}}))) {
    SelectWorkspace workspace;
    for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
      accumulators.push_back(gaussian_vector(kDimension, worker));
      select_top_k<float>(accumulators.back(), kKept, workspace, messages.emplace_back().entries);
    }
    spans.assign(accumulators.begin(), accumulators.end());
  }

  void run() {
    aggregator->aggregate(
        cluster,
        Contributions<float>{
            .dimension = kDimension, .k = kKept, .messages = messages, .accumulators = spans},
        result);
  }

  static constexpr std::uint32_t kWorkers = 4;
  static constexpr std::size_t kDimension = 25 * kMillion;
  static constexpr std::size_t kKept = 25'000;

  std::unique_ptr<World> world = make_single_process();
  Cluster cluster{*world, static_cast<int>(kWorkers)};
  std::unique_ptr<Aggregator> aggregator;
  std::vector<std::vector<float>> accumulators;
  std::vector<std::span<const float>> spans;
  std::vector<Message<float>> messages;
  Aggregation<float> result;
};

void bench_aggregate(std::vector<Measure>& measures, const Options& /*options*/) {
  for (const auto& entry : aggregators()) {
    const auto step = std::make_shared<AggregationCase>(entry.name.data());
    const std::string name = fmt::format("aggregate/{}", entry.name);
    add_benchmark(name, [step] { step->run(); });
    measures.push_back(
        {.id = entry.name == "gtopk-tree" ? "P3" : "",
         .name = fmt::format("{}, P = 4, k = 25000, d = 25000000, one process", entry.name),
         .benchmark = name,
         .baseline = entry.name == "dense" ? "" : "aggregate/dense",
         .faster_than = true,
         .target = std::nullopt});
  }
}

void bench_device(std::vector<Measure>& measures, const Options& options) {
  if (!cuda::available() && options.benchmarks.empty()) {
    fmt::print(stderr, "note: cuda is left out: no CUDA device, or a build without nvcc\n");
    return;
  }
  bench_cuda(measures, torch_has_cuda() ? torch_device_top_k : DeviceTopK());
}

=======
>>>>>>> help-b
using Group = void (*)(std::vector<Measure>&, const Options&);

const std::vector<std::pair<std::string, Group>>& benchmarks() {
  static const std::vector<std::pair<std::string, Group>> all{{"triad", bench_triad},
                                                              {"select", bench_select},
<<<<<<< HEAD
                                                              {"fused", bench_fused},
                                                              {"scale", bench_scale},
=======
                                                              {"merge", bench_merge},
>>>>>>> help-b
                                                              {"aggregate", bench_aggregate},
                                                              {"probes", bench_probes},
                                                              {"logistic", bench_logistic},
                                                              {"io", bench_io},
                                                              {"cuda", bench_device}};
  return all;
}

std::vector<Measure> register_chosen(const Options& options) {
  const auto& names = options.benchmarks;
  std::vector<std::string> known;
  for (const auto& [name, add] : benchmarks()) {
    known.push_back(name);
  }
  for (const auto& name : names) {
    require(std::find(known.begin(), known.end(), name) != known.end(),
            "unknown benchmark '{}'{}",
            name,
            suggestion(name, known));
  }
  std::vector<Measure> measures;
  for (const auto& [name, add] : benchmarks()) {
    if (names.empty() || std::find(names.begin(), names.end(), name) != names.end()) {
      add(measures, options);
    }
  }
  return measures;
}

<<<<<<< HEAD
=======
constexpr double kMillisecondsPerSecond = 1000;

bool is_met(const Measure& measure, double value, double ratio) {
  const double reached = measure.per_run || measure.of_value ? value : ratio;
  const bool at_least = measure.per_run || (measure.faster_than && !measure.of_value);
  return at_least ? reached >= *measure.target : reached <= *measure.target;
}

reports::Json as_json(const Measure& measure, const Times& all_times) {
  const auto& times = all_times.at(measure.benchmark);
  const auto spread = reports::spread_of(times);
  const double time = spread.median.value();
  const auto value_of = [&](double milliseconds) {
    return measure.per_run ? *measure.per_run * kMillisecondsPerSecond / milliseconds
                           : milliseconds;
  };
  reports::Json json{{"id", measure.id},
                     {"name", measure.name},
                     {"value", value_of(time)},
                     {"unit", measure.unit}};
  json["baseline"] = nullptr;
  json["ratio"] = nullptr;
  double ratio = 0;
  if (!measure.baseline.empty()) {
    const double baseline = reports::median(all_times.at(measure.baseline)).value();
    ratio = measure.faster_than ? baseline / time : time / baseline;
    json["baseline"] = value_of(baseline);
    json["ratio"] = ratio;
  }
  json["target"] = measure.target ? reports::Json(*measure.target) : reports::Json(nullptr);
  json["met"] = nullptr;
  if (measure.target) {
    json["met"] = is_met(measure, value_of(time), ratio);
  }
  json["spread"] = (spread.upper_quartile.value() - spread.lower_quartile.value()) / time;
  json["n"] = times.size();
  return json;
}

std::string number(const reports::Json& line, const char* key, const char* format) {
  return line[key].is_null() ? std::string("-")
                             : fmt::format(fmt::runtime(format), line[key].get<double>());
}

void print(const reports::Json& line) {
  const auto unit = line["unit"].get<std::string>();
  const auto met = line["met"].is_null() ? "" : line["met"].get<bool>() ? "met" : "missed";
  fmt::print("{:<68} {:>10} {:<6} {:>9}x  target {:>6} {:<6}  spread {}\n",
             line["name"].get<std::string>(),
             number(line, "value", unit == "ms" ? "{:.3f}" : "{:.0f}"),
             unit,
             number(line, "ratio", "{:.4g}"),
             number(line, "target", "{:g}"),
             met,
             number(line, "spread", "{:.2f}"));
}

>>>>>>> help-b
/// What the numbers depend on.
void print_header() {
  constexpr std::array<std::string_view, 6> kWanted{
      "CPU", "SIMD", "GPU", "compiler", "BLAS", "libtorch"};
  std::string compiler;
  for (const auto& [name, value] : versions()) {
    if (std::find(kWanted.begin(), kWanted.end(), name) != kWanted.end()) {
      fmt::print("{:<10} {}\n", name, value);
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

/// On several processes every rank must do the same: no benchmark that decides for itself how often
/// it runs.
Times run_on_all(const Options& options, std::vector<Measure>& measures, World& world) {
  together(world, [&] {
    require(options.benchmarks == std::vector<std::string>{"aggregate"},
            "on several processes only 'residuum bench aggregate' runs; start the others without "
            "mpirun");
  });
  return time_aggregate(measures, world);
}

Times run_here(const Options& options, std::vector<Measure>& measures) {
  measures = register_chosen(options);
  std::array<std::string, 2> words{"residuum", "--benchmark_enable_random_interleaving=true"};
  std::array<char*, 2> argv{words[0].data(), words[1].data()};
  int argc = 2;
  benchmark::Initialize(&argc, argv.data());
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  return collector.times;
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

<<<<<<< HEAD
ExitCode bench_command(const Options& options) {
  const auto measures = register_chosen(options);
  const auto list = told(measures, time_added());
=======
ExitCode bench_command(const Options& options, World& world) {
  std::vector<Measure> measures;
  const Times times =
      world.size() > 1 ? run_on_all(options, measures, world) : run_here(options, measures);
  if (!world.is_root()) {
    return ExitCode::done;
  }
  auto list = reports::Json::array();
  for (const auto& measure : measures) {
    list.push_back(as_json(measure, times));
  }
>>>>>>> help-b
  if (options.json) {
    fmt::print("{}\n", list.dump(2));
    return ExitCode::done;
  }
  print_header();
  print_lines(list);
  return ExitCode::done;
}

}  // namespace residuum
