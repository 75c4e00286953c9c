#include "experiments/program/runs/file_lock.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace residuum {
namespace {

/// Opens the file, and makes it and its folder if need be.
Descriptor open_lock(const OutputPath& file) {
  make_folder(file.parent());
  return open_output(file, O_RDWR | O_CREAT);
}

}  // namespace

FileLock::FileLock(const OutputPath& file) : file_(file), descriptor_(open_lock(file)) {}

/// Returns false if another process holds the lock; any other failure is the file system's.
bool FileLock::lock(int operation) const {
  while (flock(descriptor_.get(), operation) != 0) {
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

std::unique_ptr<FileLock> FileLock::attempt(const OutputPath& file, Kind kind) {
  std::unique_ptr<FileLock> opened(new FileLock(file));
  const int wanted = kind == Kind::exclusive ? LOCK_EX : LOCK_SH;
  return opened->lock(wanted | LOCK_NB) ? std::move(opened) : nullptr;
}

std::unique_ptr<FileLock> FileLock::wait(const OutputPath& file) {
  std::unique_ptr<FileLock> opened(new FileLock(file));
  opened->lock(LOCK_EX);
  return opened;
}

std::string FileLock::text() const {
  constexpr std::size_t kMost = 256;
  std::string text(kMost, '\0');
  const ssize_t length = pread(descriptor_.get(), text.data(), text.size(), 0);
  if (length < 0) {
    const int cause = errno;
    resource_error("cannot read {}: {}", file_.string(), std::generic_category().message(cause));
  }
  text.resize(static_cast<std::size_t>(length));
  return text;
}

void FileLock::set_text(const std::string& text) const {
  const auto length = static_cast<ssize_t>(text.size());
  if (pwrite(descriptor_.get(), text.data(), text.size(), 0) != length ||
      ftruncate(descriptor_.get(), length) != 0) {
    const int cause = errno;
    resource_error("cannot write {}: {}", file_.string(), std::generic_category().message(cause));
  }
}

namespace {

std::size_t number_in(const FileLock& lock, const std::filesystem::path& file) {
  const auto number = parsed<std::size_t>(lock.text());
  if (!number) {
    resource_error("{} was changed by somebody else", file.string());
  }
  return *number;
}

}  // namespace

std::optional<std::size_t> RunQueue::next() {
  std::unique_ptr<FileLock> lock;
  if (!file_.empty()) {
    lock = FileLock::wait(file_);
    next_ = number_in(*lock, file_);
  }
  if (next_ >= runs_) {
    return std::nullopt;
  }
  const std::size_t mine = next_++;
  if (lock) {
    lock->set_text(std::to_string(next_));
  }
  return mine;
}

void RunQueue::remove() const {
  std::error_code ignored;  // one that is left does no harm: `start` begins it anew
  if (!file_.empty()) {
    std::filesystem::remove(file_, ignored);
  }
}

void RunQueue::note(std::size_t next) {
  next_ = next;
  if (!file_.empty()) {
    FileLock::wait(file_)->set_text(std::to_string(next));
  }
}

}  // namespace residuum
