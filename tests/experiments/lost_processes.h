#pragma once
// This fixture serves the tests in which a process of a run under mpirun is stopped or killed.

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/experiments/real_study.h"

namespace residuum {

/// By default mpirun ends all processes as soon as one was killed. This is for Open MPI 4 and 5.
inline const std::array<std::string, 3> kOutlive{
    "env", "OMPI_MCA_orte_abort_on_non_zero_status=0", "PRTE_MCA_state_base_recoverable=1"};

class WithLostProcesses : public RealRuns {
 protected:
  static bool is_rank(pid_t process, int rank) {
    const std::string environment =
        '\0' + read_text("/proc/" + std::to_string(process) + "/environ");
    const std::string entry = fmt::format("OMPI_COMM_WORLD_RANK={}", rank);
    return environment.find('\0' + entry + '\0') != std::string::npos;
  }
  /// Waits until the launcher has a process of this rank; 0 if it never has.
  static pid_t process_of(const Started& launcher, int rank) {
    for (int tries = 0; tries < 600; ++tries) {
      for (const pid_t child : launcher.children()) {
        if (is_rank(child, rank)) {
          return child;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return 0;
  }
  bool has_checkpoint() const {
    return std::filesystem::exists(results() / "runs") &&
           !std::filesystem::is_empty(results() / "runs") &&
           std::filesystem::exists(only_run() / "checkpoint") &&
           !std::filesystem::is_empty(only_run() / "checkpoint");
  }
  bool wait_for_checkpoint() const {
    for (int tries = 0; tries < 600; ++tries) {
      if (has_checkpoint()) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
  /// The launcher of Open MPI 5 may end before its processes, which hold the lock of the results.
  static void wait_for_the_end_of(const std::vector<pid_t>& processes) {
    for (int tries = 0; tries < 300; ++tries) {
      if (std::all_of(processes.begin(), processes.end(), [](pid_t one) {
            return kill(one, 0) != 0 || read_text(fmt::format("/proc/{}/cmdline", one)).empty();
          })) {
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
};

}  // namespace residuum
