#include "core/notes.h"

#include <fmt/format.h>

#include <utility>

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
  fmt::print(stderr, "{}: {}\n", kind == NoteKind::note ? "note" : "warning", text);
}

void set_note_listener(NoteListener listener) { current_listener() = std::move(listener); }

}  // namespace residuum
