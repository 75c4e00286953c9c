#pragma once
// The looks of a search for the largest compression as a part of the report.

#include <string>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns the table of the looks so far, in their order; empty where the study is no search.
std::string search_table(const Summary& summary);

}  // namespace residuum::reports
