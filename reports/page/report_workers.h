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

/// Plans figures of f at the end of the runs (less its minimum where that is known) against the
/// number of workers, with a curve for the methods that differ in it alone. A method has no point
/// where one of its seeds has come to no end. There are none unless the number of workers varies.
std::vector<ReportFigure> plan_end_figures(const Summary& summary, IntervalKind kind);

}  // namespace residuum::reports
