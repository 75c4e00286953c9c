#pragma once
// The looks of a search as search.csv and in summary.json.

#include <string>
#include <string_view>
#include <vector>

#include "reports/summaries/collect.h"

namespace residuum::reports {

/// The columns of search.csv, a row for each look.
const std::vector<RunColumn>& search_columns();
std::string search_csv(const CriticalRatio& search);

Json search_json(const CriticalRatio& search);

// The tuning of a study as tuning.csv, in runs.csv and in summary.json.

/// The columns of tuning.csv, a row for each tuning run, with one `tuned_<key>` for each of `keys`.
std::vector<RunColumn> tuning_columns(const std::vector<std::string>& keys);
std::string tuning_csv(const TunedStudy& study, const ResultFolder& folder);

/// Returns the keys that a study tunes; none where it tunes nothing.
std::vector<std::string> tuned_keys(const ResultFolder& folder);

/// "step.value" -> "tuned_step_value".
std::string tuned_column_name(std::string_view key);

Json tuning_json(const TunedStudy& study);

}  // namespace residuum::reports
