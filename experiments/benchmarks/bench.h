#pragma once
// This file declares what the benchmarks share: a line of the result, a body that is timed, and the
// groups.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/cluster/world.h"
#include "core/error.h"
#include "experiments/program/console/options.h"
#include "reports/results/files.h"

namespace residuum {

/// One line of the result.
struct Measure {
  std::string id;  // of the performance target, where there is one
  std::string name;
  std::string benchmark;         // the benchmark whose time is the value
  std::string baseline;          // empty: the value stands for itself
  bool faster_than = true;       // ratio = baseline / value, else value / baseline
  std::optional<double> target;  // the ratio must be at least that, else at most
  std::string unit = "ms";       // of value and baseline
  /// The amount of the unit that one run does. Value and baseline are then rates per second, and a
  /// target is one for the value itself.
  std::optional<double> per_run = std::nullopt;
  std::size_t entries = 0;                      // of a run; the value is then nanoseconds per entry
  std::size_t of_baseline = 0;                  // of a run of the baseline
  std::function<std::string()> note = nullptr;  // what to print when all has been timed
  std::size_t bytes = 0;                        // that one run has to read and write; 0: not told
  bool of_value = false;  // the target is the most that the value, not the ratio, may be
};

/// Milliseconds of every repetition, by the benchmark's name.
using Times = std::map<std::string, std::vector<double>>;

inline constexpr int kRepetitions = 7;
inline constexpr std::size_t kMillion = 1'000'000;
inline constexpr std::size_t kCompression = 1000;  // d / k
inline constexpr int kStepsBefore = 50;            // thresholds drift slowly from then on

/// Times `body` under `name`, interleaved with all others.
void add_benchmark(const std::string& name,
                   const std::function<void()>& body,
                   int repetitions = kRepetitions);

/// Adds a body that takes its time itself and returns it in seconds.
void add_clocked_benchmark(const std::string& name,
                           const std::function<double()>& body,
                           int repetitions);

/// Times all that was added.
Times time_added();

/// An array with an object for each measure.
reports::Json told(const std::vector<Measure>& measures, const Times& times);

/// The array as a table.
void print_lines(const reports::Json& list);

/// `size` normal numbers, the same for the same worker.
std::vector<float> gaussian_vector(std::size_t size, std::uint32_t worker);

/// Times error feedback with Top-k in one pass, against the memory floor and against libtorch.
void bench_fused(std::vector<Measure>& measures, const Options& options);

/// Times the same from d = 1e4 to 1e8 and rho = 1e-4 to 0.5, and trainings of up to 1024 workers.
void bench_scale(std::vector<Measure>& measures, const Options& options);
/// Times simulated protocols: events alone, and trainings of 1024 workers against bsp.
void bench_protocols(std::vector<Measure>& measures, const Options& options);

/// Times the merge of two sorted lists to one of k entries and the rest.
void bench_merge(std::vector<Measure>& measures, const Options& options);

/// Times how fast quantisers write and read values.
void bench_quantisers(std::vector<Measure>& measures, const Options& options);

/// Times one exchange of four workers in one process.
void bench_aggregate(std::vector<Measure>& measures, const Options& options);

/// Times the same on the processes of `world`, as the longest time of all ranks. Collective.
Times time_aggregate(std::vector<Measure>& measures, World& world);

/// Times whole trainings with and without probes.
void bench_probes(std::vector<Measure>& measures, const Options& options);

/// Times trainings of a transformer, dense and with SparseLoCo.
void bench_gpt(std::vector<Measure>& measures, const Options& options);

/// Counts worker-iterations per second of logistic regression.
void bench_logistic(std::vector<Measure>& measures, const Options& options);

/// Times whole trainings with and without files.
void bench_io(std::vector<Measure>& measures, const Options& options);

/// Times the start of the program, without libtorch and with it.
void bench_start(std::vector<Measure>& measures, const Options& options);

/// Makes |x|.topk(k) of a vector that is on the device already, a call that waits for its end;
/// empty where there is none to compare with.
using DeviceTopK = std::function<std::function<void()>(std::span<const float> x, std::size_t k)>;

/// Times the fused step on the device; without a device it is a resource error.
void bench_cuda(std::vector<Measure>& measures, const DeviceTopK& top_k);

/// Does `residuum bench`. Collective over the world's processes.
ExitCode bench_command(const Options& options, World& world);

}  // namespace residuum
