#pragma once
// Notes and warnings are messages that are no errors. Code that knows neither ranks nor files tells
// them here, and the program decides where they go.

#include <functional>
#include <string>

namespace residuum {

/// Every process tells the same notes; a warning may be about this process alone.
enum class NoteKind { note, warning };

/// Hands the text to the listener; without one, prints it as one line on stderr.
void tell(NoteKind kind, const std::string& text);

using NoteListener = std::function<void(NoteKind kind, const std::string& text)>;

/// Replaces the listener; an empty one removes it. It must not be called while another thread may
/// call tell().
void set_note_listener(NoteListener listener);

}  // namespace residuum
