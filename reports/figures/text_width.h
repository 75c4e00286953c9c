#pragma once
// How wide a text is in a drawing, before anything has drawn it. Widths are in ems: a text of 5 em
// in letters of 8 pt is 40 pt wide.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace residuum::reports {

/// Returns the width of a UTF-8 text in DejaVu Sans, whose letters are wider than those of the
/// other sans-serif fonts that programs draw with. Signs beyond ASCII count as wide ones.
double text_width(std::string_view text);

/// Returns the text in lines of at most `width` ems. Lines break at blanks, else behind one of
/// -=./_,:+ and, where a piece has none, anywhere. There is at least one line, and one has at least
/// one character.
std::vector<std::string> wrapped_text(std::string_view text, double width);

}  // namespace residuum::reports
