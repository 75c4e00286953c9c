#pragma once
// A FileLock is a lock between processes, on a file that stays. A lock ends with its process, so a
// killed one leaves none behind.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/output_file.h"

namespace residuum {

/// The lock of a study's folder. Nobody else has a file of this name, so that a folder which a
/// start has left right after it is known as ours.
inline constexpr const char* kStudyLock = ".residuum.lock";

class FileLock {
 public:
  enum class Kind { exclusive, shared };

  /// Returns null if another process holds a lock that excludes this one.
  static std::unique_ptr<FileLock> attempt(const OutputPath& file, Kind kind);
  /// Waits for an exclusive lock, which must be held for short work only.
  static std::unique_ptr<FileLock> wait(const OutputPath& file);

  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  FileLock(FileLock&&) = delete;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock() = default;

  /// Returns the text of the file, a few bytes by which the holder may name itself.
  std::string text() const;
  void set_text(const std::string& text) const;

 private:
  explicit FileLock(const OutputPath& file);
  bool lock(int operation) const;

  std::filesystem::path file_;
  Descriptor descriptor_;
};

// The queue hands out the runs of a batch, in their order and each once, to the groups of processes
// that share the batch.

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
