#pragma once
// USR1, USR2, TERM, INT and HUP ask a run to stop after the iteration it is in, unless whoever
// started the program had it ignore them. PIPE, which comes when nobody reads the progress any
// more, asks nothing.

#include <atomic>

namespace residuum {

/// Set by the handlers; valid after `catch_stop_signals`.
const std::atomic<bool>& stop_requested();

void catch_stop_signals();

/// As if a signal had asked.
void request_stop();

}  // namespace residuum
