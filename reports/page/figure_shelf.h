#pragma once
// A FigureShelf draws the figures of the page and remembers them for the page's data.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "reports/figures/report_figures.h"

namespace residuum::reports {

class FigureShelf {
 public:
  explicit FigureShelf(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Draws the figures into the folder and returns them as HTML; empty for none.
  std::string draw(std::vector<ReportFigure> figures);

  const std::filesystem::path& folder() const { return folder_; }
  const std::vector<ReportFigure>& figures() const { return figures_; }
  /// Returns what could not be drawn, and why; one line each.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::filesystem::path folder_;
  std::vector<ReportFigure> figures_;
  std::vector<std::string> problems_;
};

}  // namespace residuum::reports
