#include "experiments/runs/file_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "core/error.h"

namespace residuum {
namespace {

/// Opens the file, and makes it and its folder if need be.
int open_lock(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) {
    resource_error("cannot make the folder {}: {}", file.parent_path().string(), error.message());
  }
  constexpr mode_t kMode = 0644;
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  if (descriptor < 0) {
    const int cause = errno;
    resource_error("cannot open {}: {}", file.string(), std::generic_category().message(cause));
  }
  return descriptor;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& file) : file_(file), descriptor_(open_lock(file)) {}

FileLock::~FileLock() { close(descriptor_); }

/// Returns false if another process holds the lock; any other failure is the file system's.
bool FileLock::lock(int operation) const {
  while (flock(descriptor_, operation) != 0) {
    const int cause = errno;
    if (cause == EWOULDBLOCK) {
      return false;
    }
    if (cause != EINTR) {
      resource_error("cannot lock {}: {}", file_.string(), std::generic_category().message(cause));
    }
  }
  return true;
}

std::unique_ptr<FileLock> FileLock::attempt(const std::filesystem::path& file, Kind kind) {
  std::unique_ptr<FileLock> opened(new FileLock(file));
  const int wanted = kind == Kind::exclusive ? LOCK_EX : LOCK_SH;
  return opened->lock(wanted | LOCK_NB) ? std::move(opened) : nullptr;
}

std::unique_ptr<FileLock> FileLock::wait(const std::filesystem::path& file) {
  std::unique_ptr<FileLock> opened(new FileLock(file));
  opened->lock(LOCK_EX);
  return opened;
}

std::string FileLock::text() const {
  constexpr std::size_t kMost = 256;
  std::string text(kMost, '\0');
  const ssize_t length = pread(descriptor_, text.data(), text.size(), 0);
  if (length < 0) {
    const int cause = errno;
    resource_error("cannot read {}: {}", file_.string(), std::generic_category().message(cause));
  }
  text.resize(static_cast<std::size_t>(length));
  return text;
}

void FileLock::set_text(const std::string& text) const {
  const auto length = static_cast<ssize_t>(text.size());
  if (pwrite(descriptor_, text.data(), text.size(), 0) != length ||
      ftruncate(descriptor_, length) != 0) {
    const int cause = errno;
    resource_error("cannot write {}: {}", file_.string(), std::generic_category().message(cause));
  }
}

}  // namespace residuum
