#pragma once
// A FigureWriter draws the figures of the page into files and remembers them for the page's data.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/output_file.h"
#include "reports/figures/draw.h"
#include "reports/figures/heat_map.h"
#include "reports/figures/report_figures.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// The names of a gnuplot drawing inside a page.
struct SvgNames {
  std::string_view prefix;       // of the ids
  std::string_view description;  // for those who cannot see the drawing
};

/// Makes a drawing of gnuplot a part of a page: black becomes the colour of the page's text, and
/// ids get a prefix, because a page holds many drawings. Parts without effect, half of the bytes,
/// are left out.
std::string inline_svg(std::string_view svg, const SvgNames& names);

/// Returns the data of a path with steps from point to point instead of places, to a tenth of a
/// pixel; no error adds up along the path. Data with other commands than M, L and z are returned as
/// they are.
std::string short_path(std::string_view data);

/// Returns the closed path through the points of a polygon, "1,2 3,4", in steps to a tenth of a
/// pixel too.
std::string path_of_points(std::string_view points);

class FigureWriter {
 public:
  explicit FigureWriter(OutputPath folder) : folder_(std::move(folder)) {}

  /// Draws the figures into the folder and returns them as HTML; empty for none.
  std::string draw(std::vector<ReportFigure> figures);

  /// Draws a heat map's files and returns links to them; the page has its own form of the map.
  std::string draw(const HeatMap& map);

  /// Removes the figures that an earlier report has left in the folder and this one does not have.
  void remove_old() const { remove_other_figures(folder_, names_); }

  const std::vector<ReportFigure>& figures() const { return figures_; }
  /// Returns why figures could not be drawn, in one line; empty where all were.
  std::string problem() const;

 private:
  DrawnFigure noted(DrawnFigure drawn);

  OutputPath folder_;
  std::vector<ReportFigure> figures_;
  std::vector<std::string> names_;  // of all that was drawn
  std::string first_problem_;
  std::size_t not_drawn_ = 0;
};

// The data that the page's script draws figures and filters rows with, as JSON.

/// Returns {"methods": [...], "places": [...], "figures": [...]}. A curve has at most some 600
/// points, fewer in very large studies, and numbers have five digits; an undefined number is null.
/// A curve names its method, or that of each point if it joins several. It also names the places of
/// its points, which many curves share.
std::string page_data(const Summary& summary, const std::vector<ReportFigure>& figures);

}  // namespace residuum::reports
