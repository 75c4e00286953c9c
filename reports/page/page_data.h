#pragma once
// The data that the page's script draws figures and filters rows with, as JSON.

#include <string>
#include <vector>

#include "reports/figures/report_figures.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns {"methods": [...], "places": [...], "figures": [...]}. A curve has at most some 600
/// points, fewer in very large studies, and numbers have five digits; what is not a number is null.
/// Curves name their method, or that of each point where they join several, and the places of their
/// points, which many curves share.
std::string page_data(const Summary& summary, const std::vector<ReportFigure>& figures);

}  // namespace residuum::reports
