#pragma once
// A call of MPI waits without end for a process that is stopped. While MPI starts and ends no
// mailbox gives signs of life, so a call watch limits the wait.

#include <chrono>
#include <functional>
#include <string_view>
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

/// Watches a call that waits for other processes: if it takes too long, this process reports it and
/// ends with the code of a resource error, and mpirun ends the others.
CallWatch watch_call(std::string_view call,
                     std::chrono::seconds patience,
                     std::string_view consequence);

/// Watches a call before anything is begun. Its patience is 5 minutes: the processes of a large job
/// start minutes apart where libraries lie on a slow disk.
CallWatch watch_start(std::string_view call);

}  // namespace residuum
