#include "core/protocols/actors/compute_thread.h"

#include <utility>

namespace residuum {

ComputeThread::ComputeThread() : thread_([this] { work(); }) {}

ComputeThread::~ComputeThread() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void ComputeThread::add(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  changed_.notify_all();
}

void ComputeThread::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_over_ || !jobs_.empty(); });
    if (is_over_) {
      return;
    }
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace residuum
