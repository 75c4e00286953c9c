#pragma once
// The LaTeX form of a figure: a tikzpicture of pgfplots that reads the figure's CSV. Names in a
// figure are untrusted: `latex_text` leaves none of TeX's special characters in them.

#include <string>
#include <string_view>

#include "reports/figures/figure.h"

namespace residuum::reports {

/// <name>.tex: to \input in a document that loads pgfplots and its library fillbetween, in the
/// folder of the CSV or with \pgfplotstableset{search path}.
std::string figure_tex(const FigureSpec& spec);

/// The text for LaTeX: special characters escaped, Greek letters and signs as mathematics. Other
/// characters beyond Latin-1 are printed by LuaLaTeX and XeLaTeX alone; pdfLaTeX prints a '?'.
std::string latex_text(std::string_view text);

}  // namespace residuum::reports
