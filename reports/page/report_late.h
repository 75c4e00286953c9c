#pragma once
// This part of the report is about late gradients: how stale they were, and what waiting and bytes
// they took.

#include <string>
#include <vector>

#include "reports/figures/report_figures.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns a table with a row per method that counts its gradients, mean over its seeds; empty
/// where no method does.
std::string late_table(const Summary& summary);

/// Plans the figures of the gradients' staleness, read from the runs' staleness.csv; none where no
/// run has one. The kind is that of middles and bands over the seeds.
std::vector<ReportFigure> plan_staleness_figures(const Summary& summary, IntervalKind kind);

}  // namespace residuum::reports
