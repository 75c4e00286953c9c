#pragma once
// This file plans the figures of the report: what is drawn, against what, and how its methods are
// split.

#include <string>
#include <vector>

#include "reports/figures/figure.h"
#include "reports/numbers/groups.h"

namespace residuum::reports {

/// Further facets of a study are not drawn.
inline constexpr std::size_t kMostFacets = 8;

struct ReportFigure {
  std::string title;
  std::string caption;
  FigureSpec spec;
};

struct ReportFigures {
  std::vector<ReportFigure> figures;
  std::size_t groups_left_out = 0;  // methods beyond what a page can show
};

ReportFigures plan_figures(const ResultFolder& folder, const std::vector<Group>& groups);

}  // namespace residuum::reports
