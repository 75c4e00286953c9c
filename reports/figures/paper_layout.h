#pragma once
// The layout of a figure that has the size of a paper: what fits where is known before anything is
// drawn. Lengths are in ems of the figure's letters, unless they say otherwise.

#include <cstddef>
#include <string>
#include <vector>

#include "reports/figures/figure.h"

namespace residuum::reports {

/// A PaperLegend stands below the plot in columns of equal width. Its letters are those of the
/// figure, smaller where labels are long, and labels that are still too wide go on in a new line.
struct PaperLegend {
  double font = 1;          // in proportion to the figure's letters
  std::size_t columns = 1;  // at least 1
  double column_width = 0;
  double line = 0;    // the height of one
  double sample = 0;  // the width of a curve's line and of the gap behind it
  std::vector<std::vector<std::string>> entries;  // the lines of each curve, then of the reference

  /// Returns how many lines stand in the entries above `row`, which has `columns` entries.
  std::size_t lines_above(std::size_t row) const;
  std::size_t rows() const;
  double height() const;
};

/// A PaperTick is a tick of an axis with its text; a small one has none.
struct PaperTick {
  double place = 0;
  std::string text;       // "0.5", or the exponent of a power of ten
  bool is_power = false;  // the text is n of 10ⁿ
};

/// A PaperTitle is the text of an axis: smaller where it is long, then in several lines.
struct PaperTitle {
  double font = 1;
  std::vector<std::string> lines;
};

struct PaperAxis {
  AxisRange range;
  std::vector<PaperTick> ticks;
  PaperTitle title;
};

/// A PaperLayout has the plot between its margins, the axes and the legend.
struct PaperLayout {
  double width = 0;   // of the drawing
  double height = 0;  // of the drawing
  double left = 0;    // from the drawing's edge to the plot
  double right = 0;
  double top = 0;
  double bottom = 0;
  PaperAxis x;
  PaperAxis y;
  PaperLegend legend;
};

/// Returns the layout of a figure that has a paper size.
PaperLayout layout_paper(const FigureSpec& spec);

/// Returns the least width in whole millimetres at which a figure in letters of that size can be
/// read: the plot has room for two numbers on its axis, and no label needs more than three lines.
double least_paper_width(const FigureSpec& spec, double font_pt);

}  // namespace residuum::reports
