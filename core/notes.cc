#include "core/notes.h"

#include <fmt/format.h>

#include <utility>

#include "core/text.h"

namespace residuum {
namespace {

NoteListener& current_listener() {
  static NoteListener listener;
  return listener;
}

}  // namespace

void tell(NoteKind kind, const std::string& text) {
  if (current_listener()) {
    current_listener()(kind, text);
    return;
  }
  fmt::print(stderr, "{}: {}\n", kind == NoteKind::note ? "note" : "warning", harmless(text));
}

void set_note_listener(NoteListener listener) { current_listener() = std::move(listener); }

}  // namespace residuum
