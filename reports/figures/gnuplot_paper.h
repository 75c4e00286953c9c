#pragma once
// The part of a gnuplot script for a figure in the size of a paper. It sets margins, ticks, titles
// and legend in the places that layout_paper chose.

#include <string>

#include "reports/figures/figure.h"
#include "reports/figures/paper_layout.h"

namespace residuum::reports {

/// Returns the commands that put margins, ticks, titles and legend into their places. `font` is
/// the size of the figure's letters in the terminal's unit.
std::string paper_frame_gp(const FigureSpec& spec, const PaperLayout& layout, double font);

}  // namespace residuum::reports
