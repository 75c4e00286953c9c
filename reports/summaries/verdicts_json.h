#pragma once
// These functions write verdicts for programs: parts of summary.json, and bounds.csv.

#include <string>
#include <vector>

#include "reports/verdicts/delta_workers.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// {"delta": {"verdict", "value", ...}, ...}.
Json assumptions_json(const GroupSummary& group);
/// {"gaussian": {"delta", "largest_workers"}, "laplace": {...}}, null where nothing is predicted.
Json prediction_json(const GroupSummary& group);

/// One theorem's verdict, sides, terms, preconditions and constants.
Json to_json(const TheoremSummary& summary);

Json to_json(const std::vector<WorkersCurve>& curves);

/// bounds.csv: method,theorem,iterations,lhs,rhs; the curves of the bounds that could be formed.
std::string bounds_csv(const Summary& summary);

}  // namespace residuum::reports
