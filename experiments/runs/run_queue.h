#pragma once
// Hands out the runs of a batch, in their order and each once, to the groups of processes that are
// at it together.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>

namespace residuum {

class RunQueue {
 public:
  /// Runs 0 to `runs` - 1. With a `file` it is there that the next one is noted, for all processes
  /// that name it; with none it is for this one alone.
  RunQueue(std::size_t runs, std::filesystem::path file) : runs_(runs), file_(std::move(file)) {}

  /// From the first run on; by one process, before the others ask.
  void start() { note(0); }
  /// The next run that nobody has, if there is one left. Never waits for a run to end.
  std::optional<std::size_t> next();
  /// Nobody gets any more.
  void close() { note(runs_); }
  /// Leaves no file behind; when nobody asks any more.
  void remove() const;

 private:
  void note(std::size_t next);

  std::size_t runs_;
  std::filesystem::path file_;
  std::size_t next_ = 0;
};

}  // namespace residuum
