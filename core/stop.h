#pragma once
// A solver can be at work for minutes before a run begins. Between its steps it looks here whether
// the program was asked to stop.

#include <atomic>

namespace residuum {

/// Names what says that the program is to stop; null for nothing. It must not be called while
/// another thread may call `stop_if_requested`.
void set_stop_flag(const std::atomic<bool>* flag);

/// Throws an Error with ExitCode::stopped if the program is to stop.
void stop_if_requested();

}  // namespace residuum
