// `residuum bench start` takes the CPU time until the program does what it was asked for. libtorch
// and its three hundred libraries are loaded for networks alone; `info`, which asks for its
// version, shows what they cost.

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "core/child_program.h"
#include "core/error.h"
#include "experiments/benchmarks/bench.h"

namespace residuum {
namespace {

constexpr double kMost = 50;  // milliseconds

/// Runs the program beside this one with the command, its output thrown away, and returns the CPU
/// seconds that it took.
double cpu_seconds(const std::string& command) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").replace_filename("residuum");
  std::error_code failure;
  const auto end = run_program_to_end({.words = {program.string(), command}}, failure);
  if (!end) {
    resource_error("cannot start {}: {}", program.string(), failure.message());
  }
  if (end->code != 0) {
    resource_error("'residuum {}' failed", command);
  }
  return end->cpu_seconds;
}

}  // namespace

void bench_start(std::vector<Measure>& measures, const Options& /*options*/) {
  for (const char* command : {"list", "info"}) {
    add_clocked_benchmark(
        fmt::format("start/{}", command), [command] { return cpu_seconds(command); }, kRepetitions);
  }
  measures.push_back({.id = "",
                      .name = "CPU time of residuum list, faster than info with libtorch",
                      .benchmark = "start/list",
                      .baseline = "start/info",
                      .faster_than = true,
                      .target = kMost,
                      .of_value = true});
}

}  // namespace residuum
