#pragma once
// A call of MPI waits without end for a process that is stopped. While MPI starts and ends no
// mailbox gives signs of life, so a call watch limits the wait.

#include <chrono>
#include <functional>
#include <thread>

namespace residuum {

class CallWatch {
 public:
  /// Calls `late`, once and on a thread of its own, unless the watch is destroyed before `patience`
  /// has passed. Time in which this process itself was stopped does not count, but for a sixteenth
  /// of `patience`.
  CallWatch(std::chrono::milliseconds patience, std::function<void()> late);

 private:
  std::jthread thread_;
};

}  // namespace residuum
