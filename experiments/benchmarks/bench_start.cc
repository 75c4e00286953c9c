// `residuum bench start` takes the CPU time until the program does what it was asked for. libtorch
// and its three hundred libraries are loaded for networks alone; `info`, which asks for its
// version, shows what they cost.

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "core/error.h"
#include "experiments/benchmarks/bench.h"

namespace residuum {
namespace {

constexpr double kMost = 50;  // milliseconds

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Starts this program with the command, its output thrown away, and waits for its end; returns the
/// CPU seconds that it took.
double cpu_seconds(std::string command) {
  std::string program = "residuum";
  const std::array<char*, 3> arguments{program.data(), command.data(), nullptr};
  posix_spawn_file_actions_t files{};
  ::posix_spawn_file_actions_init(&files);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  const int failure =
      ::posix_spawn(&child, "/proc/self/exe", &files, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failure != 0) {
    resource_error("cannot start this program: {}", std::generic_category().message(failure));
  }
  int status = 0;
  rusage used{};
  while (::wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
  }
  if (status != 0) {
    resource_error("'residuum {}' failed", command);
  }
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
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
