#pragma once
// What the files of benchmarks share: a line of the result, and a body that is timed.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/world.h"
#include "experiments/options.h"

namespace residuum {

/// One line of the result.
struct Measure {
  std::string id;  // of the performance targets, where there is one
  std::string name;
  std::string benchmark;         // whose time is the value
  std::string baseline;          // empty: the value stands for itself
  bool faster_than = true;       // ratio = baseline / value, else value / baseline
  std::optional<double> target;  // the ratio must be at least that, else at most
  std::string unit = "ms";       // of value and baseline
  /// How many of the unit one run does: value and baseline are then rates per second, and a target
  /// is one for the value itself.
  std::optional<double> per_run = std::nullopt;
  bool of_value = false;  // the target is what the value may be at most, not the ratio
};

/// Milliseconds of every repetition, by the benchmark's name.
using Times = std::map<std::string, std::vector<double>>;

inline constexpr int kRepetitions = 7;

/// Times `body` under `name`, interleaved with all others.
void add_benchmark(const std::string& name,
                   const std::function<void()>& body,
                   int repetitions = kRepetitions);

/// Two sorted lists to one of k entries and the rest.
void bench_merge(std::vector<Measure>& measures, const Options& options);

/// One exchange of four workers in one process.
void bench_aggregate(std::vector<Measure>& measures, const Options& options);

/// The same on the processes of `world`: the longest time of all ranks. Collective.
Times time_aggregate(std::vector<Measure>& measures, World& world);

/// Whole trainings with and without probes.
void bench_probes(std::vector<Measure>& measures, const Options& options);

/// Worker-iterations per second of logistic regression.
void bench_logistic(std::vector<Measure>& measures, const Options& options);

/// Whole trainings with and without files.
void bench_io(std::vector<Measure>& measures, const Options& options);

/// The fused step on the device. A resource error without one, if asked for by name.
void bench_cuda(std::vector<Measure>& measures, const Options& options);

}  // namespace residuum
