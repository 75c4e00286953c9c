#pragma once
// This file plans the figures of the shares of targets that methods reach.

#include <vector>

#include "reports/analysis/targets.h"
#include "reports/figures/report_figures.h"

namespace residuum::reports {

/// Plans one figure for each cost, objective and facet of the study: ecdf-bytes, ecdf-iterations,
/// ecdf-time, and with a number from the second of its kind on.
std::vector<ReportFigure> plan_target_figures(const ResultFolder& folder,
                                              const std::vector<Group>& groups,
                                              const std::vector<TargetComparison>& comparisons);

}  // namespace residuum::reports
