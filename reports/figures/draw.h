#pragma once
// Drawing a figure writes its files: <name>.csv and <name>.curves.csv (of a heat map,
// <name>.axes.csv) with the numbers and names, <name>.gp and <name>.tex that draw them, <name>.svg
// and <name>.pdf drawn by gnuplot.

#include <filesystem>
#include <string>
#include <vector>

#include "core/output_file.h"
#include "reports/figures/figure.h"
#include "reports/figures/heat_map.h"

namespace residuum::reports {

/// Runs `gnuplot -d SCRIPT` in `folder`, without a shell in between; -d keeps the user's own
/// settings out. Returns nothing when it went well, else one line that says why not.
std::string run_gnuplot(const std::filesystem::path& folder, const std::string& script);

struct DrawnFigure {
  std::string svg;       // the drawing, empty when there is none
  bool has_pdf = false;  // <name>.pdf was drawn, too
  std::string problem;   // why there is no drawing
};

/// Writes the figure's files into `folder`. Without gnuplot, or when it fails, tables and scripts
/// are there and `problem` says what happened.
DrawnFigure draw(const FigureSpec& spec, const OutputPath& folder);
DrawnFigure draw(const HeatMap& map, const OutputPath& folder);

/// Removes the files of the figures that were drawn into `folder` before and are not in `names`: a
/// file is taken for one of a figure's if the script of its name is one that draw() has written.
void remove_other_figures(const OutputPath& folder, const std::vector<std::string>& names);

}  // namespace residuum::reports
