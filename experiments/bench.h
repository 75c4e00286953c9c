#pragma once
// What the files of benchmarks share: a line of the result, and a body that is timed.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/options.h"

namespace residuum {

/// One line of the result.
struct Measure {
  std::string id;  // of the performance targets, where there is one
  std::string name;
  std::string benchmark;                        // whose time is the value
  std::string baseline;                         // empty: the value stands for itself
  bool faster_than = true;                      // ratio = baseline / value, else value / baseline
  std::optional<double> target;                 // the ratio must be at least that, else at most
  std::size_t entries = 0;                      // values are nanoseconds per entry: of the value,
  std::size_t of_baseline = 0;                  // and of the baseline
  std::function<std::string()> note = nullptr;  // what is to be said when all has been timed
};

inline constexpr int kRepetitions = 7;

/// Times `body` under `name`, interleaved with all others.
void add_benchmark(const std::string& name,
                   const std::function<void()>& body,
                   int repetitions = kRepetitions);

/// `size` normal numbers, the same for the same worker.
std::vector<float> gaussian_vector(std::size_t size, std::uint32_t worker);

/// Error feedback with Top-k in one pass, against the memory floor and against libtorch.
void bench_fused(std::vector<Measure>& measures, const Options& options);

/// The same from d = 1e4 to 1e8 and rho = 1e-4 to 0.5, and trainings of up to 1024 workers.
void bench_scale(std::vector<Measure>& measures, const Options& options);

/// Whole trainings with and without probes.
void bench_probes(std::vector<Measure>& measures, const Options& options);

}  // namespace residuum
