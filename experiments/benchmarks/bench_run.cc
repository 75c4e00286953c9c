// Each number of a benchmark is a ratio of two things timed in the same run, interleaved, because
// absolute times drift with the machine. Google Benchmark measures; medians over repetitions are
// reported with their spread (interquartile range over median).

#include <fmt/format.h>

#include <array>
#include <benchmark/benchmark.h>

#include "core/vectors/kernels.h"
#include "experiments/benchmarks/bench.h"
#include "reports/analysis/statistics.h"

namespace residuum {
namespace {

/// Gathers the time of every repetition under the benchmark's name.
class Collector final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const auto& run : runs) {
      if (run.run_type == Run::RT_Iteration) {
        times[run.run_name.function_name].push_back(run.GetAdjustedRealTime());
      }
    }
  }
  Times times;
};

constexpr double kMillisecondsPerSecond = 1000;

bool is_met(const Measure& measure, double value, double ratio) {
  const double reached = measure.per_run || measure.of_value ? value : ratio;
  const bool at_least = measure.per_run || (measure.faster_than && !measure.of_value);
  return at_least ? reached >= *measure.target : reached <= *measure.target;
}

/// The time of one run as the measure tells it.
double in_unit(const Measure& measure, double milliseconds, std::size_t entries) {
  constexpr double kNanoseconds = 1e6;  // per millisecond
  if (measure.per_run) {
    return *measure.per_run * kMillisecondsPerSecond / milliseconds;
  }
  return entries == 0 ? milliseconds : milliseconds * kNanoseconds / static_cast<double>(entries);
}

reports::Json as_json(const Measure& measure, const Times& all_times) {
  const auto& times = all_times.at(measure.benchmark);
  const auto spread = reports::spread_of(times);
  const double time = spread.median.value();
  const double value = in_unit(measure, time, measure.entries);
  reports::Json json{{"id", measure.id},
                     {"name", measure.name},
                     {"value", value},
                     {"unit", measure.entries == 0 ? measure.unit : "ns"}};
  json["baseline"] = nullptr;
  json["ratio"] = nullptr;
  double ratio = 0;
  if (!measure.baseline.empty()) {
    const double of_baseline = reports::median(all_times.at(measure.baseline)).value();
    const double baseline = in_unit(measure, of_baseline, measure.of_baseline);
    const double slower = measure.per_run ? time / of_baseline : value / baseline;
    ratio = measure.faster_than ? 1 / slower : slower;
    json["baseline"] = baseline;
    json["ratio"] = ratio;
  }
  json["target"] = measure.target ? reports::Json(*measure.target) : reports::Json(nullptr);
  json["met"] = nullptr;
  if (measure.target) {
    json["met"] = is_met(measure, value, ratio);
  }
  json["spread"] = (spread.upper_quartile.value() - spread.lower_quartile.value()) / time;
  json["n"] = times.size();
  json["gb_per_s"] = nullptr;
  if (measure.bytes > 0) {
    constexpr double kPerMillisecond = 1e6;  // bytes, of a gigabyte per second
    json["gb_per_s"] = static_cast<double>(measure.bytes) / (time * kPerMillisecond);
  }
  json["simd"] = kernels::target_name();
  if (measure.note) {
    json["note"] = measure.note();
  }
  return json;
}

std::string number(const reports::Json& line, const char* key, const char* format) {
  return line[key].is_null() ? std::string("-")
                             : fmt::format(fmt::runtime(format), line[key].get<double>());
}

void print_line(const reports::Json& line) {
  const auto unit = line["unit"].get<std::string>();
  const std::string met = line["met"].is_null() ? "" : line["met"].get<bool>() ? "met" : "missed";
  fmt::print("{:<68} {:>10} {:<6} {:>9}x  target {:>6} {:<6}  spread {}\n",
             line["name"].get<std::string>(),
             number(line, "value", unit == "ms" || unit == "ns" ? "{:.3f}" : "{:.0f}"),
             unit,
             number(line, "ratio", "{:.4g}"),
             number(line, "target", "{:g}"),
             met,
             number(line, "spread", "{:.2f}"));
  if (line.contains("note")) {
    fmt::print("  {}\n", line["note"].get<std::string>());
  }
}

}  // namespace

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

void add_clocked_benchmark(const std::string& name,
                           const std::function<double()>& body,
                           int repetitions) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [body](benchmark::State& state) {
                                 for ([[maybe_unused]] auto _ : state) {
                                   state.SetIterationTime(body());
                                 }
                               })
      ->Unit(benchmark::kMillisecond)
      ->Repetitions(repetitions)
      ->Iterations(1)
      ->UseManualTime();
}

Times time_added() {
  std::array<std::string, 2> words{"residuum", "--benchmark_enable_random_interleaving=true"};
  std::array<char*, 2> argv{words[0].data(), words[1].data()};
  int argc = 2;
  benchmark::Initialize(&argc, argv.data());
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::ClearRegisteredBenchmarks();
  return collector.times;
}

reports::Json told(const std::vector<Measure>& measures, const Times& times) {
  auto list = reports::Json::array();
  for (const auto& measure : measures) {
    list.push_back(as_json(measure, times));
  }
  return list;
}

void print_lines(const reports::Json& list) {
  reports::Json target;
  for (const auto& line : list) {
    if (line["simd"] != target) {
      target = line["simd"];
      fmt::print("{}:\n", target.get<std::string>());
    }
    print_line(line);
  }
}

}  // namespace residuum
