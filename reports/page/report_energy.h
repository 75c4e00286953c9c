#pragma once
// The energy that the applied update captures, against the share of entries that is sent.

#include <vector>

#include "reports/figures/report_figures.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Plans the figure; none unless some methods differ in k alone.
std::vector<ReportFigure> plan_energy_figures(const Summary& summary);

}  // namespace residuum::reports
