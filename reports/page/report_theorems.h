#pragma once
// The report's section on the theorems tells what each says of each method, with figures of the
// left sides and their bounds.

#include <string>
#include <vector>

#include "reports/figures/report_figures.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns a line per method: the certificate, the tightest bound, and what holds, fails and is
/// missing.
std::string theorem_overview(const Summary& summary);

/// Returns per method a folded table: verdict, both sides, slack, horizon, terms, and why there is
/// none.
std::string theorem_details(const Summary& summary);

/// Returns the bounds of the workers' residuals, of the methods that have one.
std::vector<MethodBound> residual_bounds(const Summary& summary);

/// Plans figures of the left sides over the run with the bounds that could be formed, of the first
/// methods.
std::vector<ReportFigure> plan_bound_figures(const Summary& summary);

}  // namespace residuum::reports
