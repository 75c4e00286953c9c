#pragma once
// The section on magnitudes has the histograms of the workers' accumulators, where
// probes.magnitudes_every counted them.

#include <vector>

#include "reports/figures/report_figures.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// The first and the last histogram of every method, as shares of the entries against their
/// magnitude. The kind is that of middles and bands over the seeds.
std::vector<ReportFigure> plan_magnitude_figures(const Summary& summary, IntervalKind kind);

}  // namespace residuum::reports
