#pragma once
// What is worth telling but no error, from places that know neither ranks nor files.

#include <functional>
#include <string>

namespace residuum {

/// A note is what every process finds alike; a warning may be about this process alone.
enum class NoteKind { note, warning };

/// To whoever listens, else to stderr as one line.
void tell(NoteKind kind, const std::string& text);

using NoteListener = std::function<void(NoteKind kind, const std::string& text)>;

/// Empty: nobody listens any more. Not while threads are telling.
void set_note_listener(NoteListener listener);

}  // namespace residuum
