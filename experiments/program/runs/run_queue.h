#pragma once
// The queue hands out the runs of a batch, in their order and each once, to the groups of processes
// that share the batch.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>

namespace residuum {

class RunQueue {
 public:
  /// The queue has runs 0 to `runs` - 1. A `file` notes the next one for all processes that name
  /// it; without a file the queue is for this process alone.
  RunQueue(std::size_t runs, std::filesystem::path file) : runs_(runs), file_(std::move(file)) {}

  /// Starts at the first run; one process calls it before the others ask.
  void start() { note(0); }
  /// Takes the next run that nobody has, if there is one left. Never waits for a run to end.
  std::optional<std::size_t> next();
  /// Ends the queue: nobody gets a run any more.
  void close() { note(runs_); }
  /// Removes the file, when nobody asks any more.
  void remove() const;

 private:
  void note(std::size_t next);

  std::size_t runs_;
  std::filesystem::path file_;
  std::size_t next_ = 0;
};

}  // namespace residuum
