#pragma once
// The energy that the applied update captures, against the share of entries that is sent.

#include <vector>

#include "reports/figures/report_figures.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Plans the figure; none unless some methods differ in k alone. The kind is that of middles and
/// bands over the seeds.
std::vector<ReportFigure> plan_energy_figures(const Summary& summary, IntervalKind kind);

}  // namespace residuum::reports
