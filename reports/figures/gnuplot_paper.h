#pragma once
// What a gnuplot script says of a figure that has the size of a paper: margins, ticks, titles and
// legend stand where layout_paper has put them.

#include <string>

#include "reports/figures/figure.h"
#include "reports/figures/paper_layout.h"

namespace residuum::reports {

/// Returns the commands that put margins, ticks, titles and legend into their places. `font` is
/// the size of the figure's letters in the terminal's unit.
std::string paper_frame_gp(const FigureSpec& spec, const PaperLayout& layout, double font);

}  // namespace residuum::reports
