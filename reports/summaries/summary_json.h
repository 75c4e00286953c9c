#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Writes summary.json, method after method: all of a large study at once would need more memory
/// than its numbers.
void write_summary(const Summary& summary, const std::filesystem::path& file);

/// Returns where the numbers come from: {"timing", "data", "provenance"}.
Json background_json(const ResultFolder& folder);

/// {"n", "median", "lower_quartile", "upper_quartile", "mean", "interval"}; undefined ones are
/// null.
Json to_json(const Spread& spread);

Json comparisons_json(const Summary& summary);
Json rates_json(const Summary& summary);

// These functions write verdicts for programs: parts of summary.json, and bounds.csv.

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
