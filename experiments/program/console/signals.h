#pragma once
// USR1, USR2, TERM, INT and HUP ask a run to stop after the iteration it is in, unless the program
// was started so that it ignores them. A second INT, some two seconds later, ends the program at
// once, for what the run waits for may never come. PIPE, which comes when nobody reads the progress
// any more, is ignored.

#include <atomic>

namespace residuum {

/// Set by the handlers; valid after `catch_stop_signals`.
const std::atomic<bool>& stop_requested();

void catch_stop_signals();

/// Asks to stop, as a signal does.
void request_stop();

}  // namespace residuum
