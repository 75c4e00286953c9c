#pragma once
// USR1, USR2, TERM, INT and HUP ask a run to stop after the iteration it is in, unless the program
// was started so that it ignores them. A second INT, some two seconds later, ends the program at
// once, for what the run waits for may never come. PIPE, which comes when nobody reads the progress
// any more, is ignored.

#include <atomic>
#include <chrono>
#include <functional>
#include <string_view>
#include <thread>

namespace residuum {

/// Set by the handlers; valid after `catch_stop_signals`.
const std::atomic<bool>& stop_requested();

void catch_stop_signals();

/// Asks to stop, as a signal does.
void request_stop();

// A call of MPI waits without end for a process that is stopped. While MPI starts and ends no
// message queue gives signs of life, so a call watch limits the wait.

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
