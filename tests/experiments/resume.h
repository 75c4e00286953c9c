#pragma once
// Starting the program, killing it, and starting it again.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iterator>
#include <map>
#include <signal.h>
#include <string>
#include <thread>
#include <vector>

#include "tests/experiments/support.h"

namespace residuum {

/// Everything that a run keeps from one iteration to the next: momentum, both units, gradient
/// estimates, averages, the smoothness between points, shuffled batches, shards
/// drawn from the seed, dropped entries, virtual clocks on two networks.
inline std::string kept_study(int iterations) {
  return fmt::format(R"(schema = 1
name = "kept"
seeds = [3]
[objective]
kind = "logistic"
rows = 200
features = 20
[workers]
count = 4
batch = 8
[sparsifier]
kind = "top-k"
k = 2
[aggregator]
kind = "gtopk-tree"
[protocol]
kind = "bsp"
compute = "exponential:0.01"
straggler_factor = 3
straggler_every_s = 0.1
straggler_lasts_s = 0.05
[network]
model = ["1gbe", "10gbe"]
[step]
value = 0.05
momentum = 0.5
[budget]
iterations = {}
[probes]
times = false
every = 1
workers = true
layers = "all"
names = ["delta", "contraction", "residual", "conservation", "noise", "smoothness", "certificate",
         "average", "compressor", "xi", "traffic", "ef21"]
[sweep]
"feedback.units" = ["step", "gradient"]
[[point]]
feedback.kind = "ef21"
step.momentum = 0.0
[[point]]
feedback.kind = "ef21-sgdm"
step.momentum = 0.0
step.weight_decay = 0.01
[[point]]
feedback.putback = "published"
workers.sampling = "shuffle"
step.momentum = 0.0
[[point]]
sparsifier.kind = "rand-k"
step.rule = "inv-time"
step.shift = 100
objective.precision = "float64"
workers.partition_seed = "run"
)",
                     iterations);
}

/// A started program, which the test must wait for. Its standard error goes to captured.err.
class Started {
 public:
  Started(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
    std::vector<std::string> copies = arguments;
    std::vector<char*> argv;
    for (auto& argument : copies) {
      argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    process_ = fork();
    if (process_ == 0) {
      constexpr mode_t kMode = 0644;
      const auto err = folder / "captured.err";
      dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
      dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_APPEND, kMode), STDERR_FILENO);
      if (chdir(folder.c_str()) == 0) {
        execvp(argv.front(), argv.data());
      }
      _exit(127);
    }
  }

  pid_t process() const { return process_; }
  /// The processes that it has started itself.
  std::vector<pid_t> children() const {
    const auto own = std::to_string(process_);
    std::ifstream file("/proc/" + own + "/task/" + own + "/children");
    return {std::istream_iterator<pid_t>(file), std::istream_iterator<pid_t>()};
  }
  /// Its wait status.
  int wait() const {
    int status = 0;
    waitpid(process_, &status, 0);
    return status;
  }

 private:
  pid_t process_ = 0;
};

/// Starts the program, sends `signal` after some time, and waits for its end; its wait status.
inline int start_and_signal(const std::vector<std::string>& arguments,
                            const std::filesystem::path& folder,
                            std::chrono::microseconds after,
                            int signal) {
  const Started started(arguments, folder);
  std::this_thread::sleep_for(after);
  kill(started.process(), signal);
  return started.wait();
}

/// The bytes of the tables of all runs, by path.
inline std::map<std::string, std::string> run_tables(const std::filesystem::path& results) {
  std::map<std::string, std::string> tables;
  for (const auto& run : std::filesystem::directory_iterator(results / "runs")) {
    for (const char* name :
         {"iterations.csv", "checks.csv", "workers.csv", "layers.csv", "networks.csv"}) {
      tables[(run.path().filename() / name).string()] = read_text(run.path() / name);
    }
  }
  return tables;
}

}  // namespace residuum
