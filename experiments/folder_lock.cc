#include "experiments/folder_lock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include "core/error.h"

namespace residuum {

FolderLock::FolderLock(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    resource_error("cannot make the folder {}: {}", folder.string(), error.message());
  }
  const auto file = folder / ".lock";
  constexpr mode_t kMode = 0644;
  descriptor_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  if (descriptor_ < 0) {
    const int cause = errno;
    resource_error("cannot open {}: {}", file.string(), std::generic_category().message(cause));
  }
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    close(descriptor_);
    usage_error("another process is writing {}; wait for it or give another --out",
                folder.string());
  }
}

FolderLock::~FolderLock() { close(descriptor_); }

}  // namespace residuum
