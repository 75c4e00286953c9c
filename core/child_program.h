#pragma once
// Other programs (gnuplot, mpirun, a user's compressor) are started without a shell in between.
// None outlives the thread that has started it, however that ends.

#include <array>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <system_error>
#include <vector>

namespace residuum {

struct ProgramStart {
  static constexpr int kNowhere = -1;  // /dev/null

  std::vector<std::string> words;     // the program, looked for on the PATH, and its arguments
  std::filesystem::path folder = {};  // where it works; empty: where this process does
  /// Descriptors that it has as standard input, output and error.
  std::array<int, 3> streams{kNowhere, kNowhere, kNowhere};
  int signal_at_our_end = SIGTERM;  // what it gets then
  /// True if it leads a process group, and takes even the signals that this process ignores.
  bool is_apart = false;
};

/// Starts the program and returns its process; if it cannot, sets `failure`.
pid_t start_program(const ProgramStart& start, std::error_code& failure);

struct ProgramEnd {
  int code = 0;            // 128 + n if signal n has ended it, as shells say
  double cpu_seconds = 0;  // of it and of those that it has waited for
};

/// Starts the program and waits for its end. Absent, with the cause in `failure`, if it cannot be
/// started or is lost.
std::optional<ProgramEnd> run_program_to_end(const ProgramStart& start, std::error_code& failure);

/// Returns the exit code of what waitpid says, by the rule of ProgramEnd.
int exit_code_of(int wait_status);

}  // namespace residuum
