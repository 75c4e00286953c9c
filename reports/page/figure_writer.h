#pragma once
// A FigureWriter draws the figures of the page into files and remembers them for the page's data.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/output_file.h"
#include "reports/figures/draw.h"
#include "reports/figures/heat_map.h"
#include "reports/figures/report_figures.h"

namespace residuum::reports {

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

}  // namespace residuum::reports
