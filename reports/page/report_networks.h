#pragma once
// This part of the report says how long each method would have taken on each network of the study.

#include <string>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns two tables per objective: the time until all methods are at the same f, and what the
/// time of a whole run goes to; empty where no run followed a network.
std::string network_tables(const Summary& summary);

}  // namespace residuum::reports
