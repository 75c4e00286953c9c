#pragma once
// Phase diagrams: what became of a study that sweeps two keys, one table per quantity, its cells
// coloured by value.

#include <filesystem>
#include <string>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns the diagrams of the two keys with the largest full grid, whose files it writes into the
/// folder of figures; empty where no two keys were swept together.
std::string phase_diagrams(const Summary& summary, const std::filesystem::path& folder);

}  // namespace residuum::reports
