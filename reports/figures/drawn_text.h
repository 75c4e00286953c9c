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

// Texts as gnuplot draws them: with subscripts, and in a PDF without the characters that its fonts
// lack.

/// Returns the text with a '?' for each character that is not in DejaVu Sans. A drawing by cairo
/// fills the page with the frame that stands for a character which no font has.
std::string with_known_glyphs(std::string_view text);

/// Returns the characters that with_known_glyphs replaces, each once.
std::vector<std::string> unknown_glyphs(std::string_view text);

/// A GnuplotText is an argument of title or label, with the mode in which gnuplot reads it. If the
/// text has a character that fonts may lack, `pdf` must be 0 or, while a PDF is drawn, 1.
struct GnuplotText {
  std::string argument;
  std::string mode;  // enhanced or noenhanced
};

/// Returns the text for gnuplot; "f(z_0)" has a subscript, and nothing else in it is a command.
GnuplotText gnuplot_drawn(std::string_view text);

/// Returns the text for gnuplot where it is never enhanced, such as at a tick.
std::string gnuplot_plain(std::string_view text);

}  // namespace residuum::reports
