#include "experiments/program/runs/run_queue.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "core/error.h"
#include "experiments/program/runs/file_lock.h"

namespace residuum {
namespace {

std::size_t number_in(const FileLock& lock, const std::filesystem::path& file) {
  const std::string text = lock.text();
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    resource_error("{} was changed by somebody else", file.string());
  }
  return number;
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
