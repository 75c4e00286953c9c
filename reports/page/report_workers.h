#pragma once

#include <string>
#include <vector>

#include "reports/figures/report_figures.h"
#include "reports/verdicts/delta_workers.h"

namespace residuum::reports {

/// Returns a table of the curves; empty where there are none.
std::string workers_table(const std::vector<WorkersCurve>& curves);
/// Plans their figures. The kind is that of middles and bands over the seeds.
std::vector<ReportFigure> plan_workers_figures(const std::vector<WorkersCurve>& curves,
                                               IntervalKind kind);

}  // namespace residuum::reports
