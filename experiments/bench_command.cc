// residuum bench: each number is a ratio of two things timed in the same run, interleaved, because
// absolute times drift with the machine. Google Benchmark measures; medians over repetitions are
// reported with their spread (interquartile range over median).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <map>
#include <optional>

#include "core/aggregators/aggregator.h"
#include "core/random/random.h"
#include "core/vectors/dense.h"
#include "experiments/bench.h"
#include "experiments/commands.h"
#include "experiments/provenance.h"
#include "experiments/triad.h"
#include "objectives/torch/baselines.h"
#include "reports/files.h"
#include "reports/result_folder.h"
#include "reports/statistics.h"

namespace residuum {
namespace {

constexpr std::size_t kMillion = 1'000'000;
constexpr std::array<std::size_t, 2> kSizes{kMillion, 25 * kMillion};
constexpr std::size_t kCompression = 1000;  // d / k

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
  std::map<std::string, std::vector<double>> times;  // milliseconds
};

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

/// One exchange of P = 4 workers in one process, merge and put-back lists included.
struct AggregationCase {
  explicit AggregationCase(const char* kind)
      : aggregator(make_aggregator(Section("aggregator", nlohmann::json{{"kind", kind}}))) {
    for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
      accumulators.push_back(gaussian_vector(kDimension, worker));
      select_top_k<float>(
          accumulators.back(), kKept, result.workspace, messages.emplace_back().entries);
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

using Group = void (*)(std::vector<Measure>&, const Options&);

const std::vector<std::pair<std::string, Group>>& benchmarks() {
  static const std::vector<std::pair<std::string, Group>> all{{"triad", bench_triad},
                                                              {"select", bench_select},
                                                              {"fused", bench_fused},
                                                              {"scale", bench_scale},
                                                              {"aggregate", bench_aggregate},
                                                              {"probes", bench_probes}};
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

/// Milliseconds, or nanoseconds per entry.
double scaled(double milliseconds, std::size_t entries) {
  constexpr double kNanoseconds = 1e6;
  return entries == 0 ? milliseconds : milliseconds * kNanoseconds / static_cast<double>(entries);
}

reports::Json as_json(const Measure& measure, const Collector& collector) {
  const auto& times = collector.times.at(measure.benchmark);
  const auto spread = reports::spread_of(times);
  const double median = spread.median.value();
  const double value = scaled(median, measure.entries);
  reports::Json json{{"id", measure.id},
                     {"name", measure.name},
                     {"value", value},
                     {"unit", measure.entries == 0 ? "ms" : "ns per entry"}};
  json["baseline"] = nullptr;
  json["ratio"] = nullptr;
  if (!measure.baseline.empty()) {
    const double baseline =
        scaled(reports::median(collector.times.at(measure.baseline)).value(), measure.of_baseline);
    json["baseline"] = baseline;
    json["ratio"] = measure.faster_than ? baseline / value : value / baseline;
  }
  json["target"] = measure.target ? reports::Json(*measure.target) : reports::Json(nullptr);
  json["met"] = nullptr;
  if (measure.target) {
    const double ratio = json["ratio"].get<double>();
    json["met"] = measure.faster_than ? ratio >= *measure.target : ratio <= *measure.target;
  }
  json["spread"] = (spread.upper_quartile.value() - spread.lower_quartile.value()) / median;
  json["n"] = times.size();
  if (measure.note) {
    json["note"] = measure.note();
  }
  return json;
}

void print(const reports::Json& line) {
  const auto number = [&](const char* key, const char* format) {
    return line[key].is_null() ? std::string("-")
                               : fmt::format(fmt::runtime(format), line[key].get<double>());
  };
  fmt::print("{:<62} {:>10} {}  {:>8}x  target {:>4}  spread {}\n",
             line["name"].get<std::string>(),
             number("value", "{:.3f}"),
             line["unit"] == "ms" ? "ms" : "ns",
             number("ratio", "{:.2f}"),
             number("target", "{:g}"),
             number("spread", "{:.2f}"));
  if (line.contains("note")) {
    fmt::print("  {}\n", line["note"].get<std::string>());
  }
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

void add_benchmark(const std::string& name, const std::function<void()>& body, int repetitions) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [body](benchmark::State& state) {
                                 for ([[maybe_unused]] auto _ : state) {
                                   body();
                                   benchmark::ClobberMemory();
                                 }
                               })
      ->Unit(benchmark::kMillisecond)
      ->Repetitions(repetitions)
      ->MinTime(0.05);
}

ExitCode bench_command(const Options& options) {
  const auto measures = register_chosen(options);
  std::array<std::string, 2> words{"residuum", "--benchmark_enable_random_interleaving=true"};
  std::array<char*, 2> argv{words[0].data(), words[1].data()};
  int argc = 2;
  benchmark::Initialize(&argc, argv.data());
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  auto list = reports::Json::array();
  for (const auto& measure : measures) {
    list.push_back(as_json(measure, collector));
  }
  if (options.json) {
    fmt::print("{}\n", list.dump(2));
    return ExitCode::done;
  }
  for (const auto& [name, value] : versions()) {
    if (name == "CPU" || name == "SIMD" || name == "BLAS" || name == "compiler" ||
        name == "libtorch") {
      fmt::print("{:<10} {}\n", name, value);
    }
  }
  fmt::print("one thread; medians of {} interleaved repetitions, of whole networks fewer\n",
             kRepetitions);
  for (const auto& line : list) {
    print(line);
  }
  return ExitCode::done;
}

}  // namespace residuum
