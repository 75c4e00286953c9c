#pragma once
// The LaTeX form of a figure: a tikzpicture of pgfplots that reads the figure's CSV. Names in a
// figure are untrusted: latex_text.h leaves none of TeX's special characters in them.

#include <string>

#include "reports/figures/figure.h"

namespace residuum::reports {

/// <name>.tex: to \input in a document that loads pgfplots and its library fillbetween. It finds
/// the CSV beside itself, in whatever folder both are. It is as wide as the spec's paper size, or
/// as a line of the text.
std::string figure_tex(const FigureSpec& spec);

/// Returns the TeX that sets \residuumfolder to the folder of the file that it stands in, with a
/// slash. LaTeX knows that folder since 2020; with an older one, and in the document's own folder,
/// it is empty.
std::string tex_folder_of_csv();

}  // namespace residuum::reports
