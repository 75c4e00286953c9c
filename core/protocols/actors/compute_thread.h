#pragma once
// A compute thread does jobs one after the other, in the order in which they are given.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace residuum {

class ComputeThread {
 public:
  ComputeThread();
  ComputeThread(const ComputeThread&) = delete;
  ComputeThread& operator=(const ComputeThread&) = delete;
  ComputeThread(ComputeThread&&) = delete;
  ComputeThread& operator=(ComputeThread&&) = delete;
  /// Waits for the job that is being done and drops the others.
  ~ComputeThread();

  /// Gives the thread a job, which must not throw, and returns at once.
  void add(std::function<void()> job);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace residuum
