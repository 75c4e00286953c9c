#pragma once
// A FileLock is a lock between processes, on a file that stays. A lock ends with its process, so a
// killed one leaves none behind.

#include <filesystem>
#include <memory>
#include <string>

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

}  // namespace residuum
