#pragma once

#include <filesystem>

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

}  // namespace residuum::reports
