#pragma once
// One process at a time writes a result folder. The lock goes with the process: a killed run leaves
// none behind.

#include <filesystem>

namespace residuum {

class FolderLock {
 public:
  /// Creates the folder if need be. A usage error if another process holds it.
  explicit FolderLock(const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  FolderLock(FolderLock&&) = delete;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  int descriptor_ = -1;
};

}  // namespace residuum
