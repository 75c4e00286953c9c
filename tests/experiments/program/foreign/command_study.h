#pragma once
// Studies whose sparsifier is a program, and a folder to start them in.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/experiments/python.h"
#include "tests/experiments/resume.h"

namespace residuum {

inline const std::filesystem::path kOwnCompressors =
    std::filesystem::path(RESIDUUM_STUDIES) / "studies/compressors";

/// A study of four workers with these lines in [sparsifier], and more after it.
inline std::string own_study(const std::string& sparsifier,
                             int iterations,
                             const std::string& more = "") {
  return fmt::format(R"(schema = 1
name = "own"
[objective]
kind = "logistic"
rows = 200
features = 20
[workers]
count = 4
batch = 8
[sparsifier]
{}
[aggregator]
kind = "allgather"
[step]
value = 0.2
[budget]
iterations = {}
[probes]
times = false
workers = true
names = ["delta", "contraction", "residual", "conservation", "noise", "smoothness", "certificate",
         "average", "compressor", "traffic"]
{})",
                     sparsifier,
                     iterations,
                     more);
}

/// Waits until a process that was killed is gone, or is a zombie that nobody has waited for.
inline bool is_gone(int process) {
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    const auto stat = read_text(fmt::format("/proc/{}/stat", process));
    if (stat.empty() || stat.find(") Z ") != std::string::npos) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class CommandStudy : public testing::Test {
 protected:
  /// The lines of a command of words.
  static std::string command_of(const std::vector<std::string>& words) {
    return fmt::format("kind = \"command\"\ncommand = [\"{}\"]\n", fmt::join(words, "\", \""));
  }
  /// The lines of a Python file of experiments/studies/compressors with its arguments.
  static std::string python_command(const std::string& file, const std::string& argument) {
    return command_of({python_with("numpy"), (kOwnCompressors / file).string(), argument});
  }

  std::vector<std::string> words_of(const std::string& study,
                                    const std::vector<std::string>& options,
                                    const std::string& command = "run") const {
    std::vector<std::string> words{
        RESIDUUM_PROGRAM, command, folder_.write("s.toml", study).string()};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }
  /// Runs a study that may start commands.
  Finished run(const std::string& study, std::vector<std::string> options = {}) const {
    options.insert(options.end(), {"--allow-commands", "--progress=none"});
    return run_program(words_of(study, options), folder_.path());
  }
  Finished run_on(int processes, const std::string& study, const std::string& out) const {
    auto words = words_of(study, {"--allow-commands", "--progress=none", "--out", out});
    words.insert(words.begin(), {RESIDUUM_MPIRUN, "-n", std::to_string(processes)});
    return run_program(words, folder_.path());
  }

  std::filesystem::path results() const { return folder_.path() / "results" / "own"; }
  TemporaryFolder folder_;
};

}  // namespace residuum
