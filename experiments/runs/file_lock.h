#pragma once
// Locks between processes, on files that stay. A lock goes with its process: a killed one leaves
// none behind.

#include <filesystem>
#include <memory>
#include <string>

namespace residuum {

class FileLock {
 public:
  enum class Kind { exclusive, shared };

  /// Null if another process holds a lock that this one cannot stand beside.
  static std::unique_ptr<FileLock> attempt(const std::filesystem::path& file, Kind kind);
  /// Waits for an exclusive lock; for work that is short.
  static std::unique_ptr<FileLock> wait(const std::filesystem::path& file);

  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  FileLock(FileLock&&) = delete;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

  /// What is written in the file, a few bytes; its holder may say something there.
  std::string text() const;
  void set_text(const std::string& text) const;

 private:
  explicit FileLock(const std::filesystem::path& file);
  bool lock(int operation) const;

  std::filesystem::path file_;
  int descriptor_;
};

}  // namespace residuum
