// `residuum-bench-cuda [--json]` is `residuum bench cuda` as a program that needs neither libtorch
// nor MPI, for machines that have a GPU and little else.

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "core/error.h"
#include "core/vectors/cuda/device.h"
#include "experiments/benchmarks/bench.h"

int main(int argc, char** argv) {
  using namespace residuum;
  const bool json = argc > 1 && std::string_view(argv[1]) == "--json";
  try {
    fmt::print(stderr, "{:<10} {}\n", "GPU", cuda::description());
    std::vector<Measure> measures;
    bench_cuda(measures, DeviceTopK());
    const auto list = told(measures, time_added());
    if (json) {
      fmt::print("{}\n", list.dump(2));
    } else {
      print_lines(list);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  }
  return static_cast<int>(ExitCode::done);
}
