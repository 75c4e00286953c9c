#pragma once
// The looks of a search as search.csv and in summary.json.

#include <string>
#include <vector>

#include "reports/summaries/collect.h"

namespace residuum::reports {

/// The columns of search.csv, a row for each look.
const std::vector<RunColumn>& search_columns();
std::string search_csv(const CriticalRatio& search);

Json search_json(const CriticalRatio& search);

}  // namespace residuum::reports
