#pragma once
// The first table of the page: which assumption held for which method, in every iteration and on
// average, how far it was from failing, and where.

#include <string>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// A table with a row per method and a column per assumption. A cell has one colour: green where
/// nothing failed, red where the average failed, amber between; empty where nothing was measured.
std::string verdict_matrix(const Summary& summary);

/// A table with a row per method and assumption: both verdicts, the worst ratio and its place.
std::string verdict_places(const Summary& summary);

}  // namespace residuum::reports
