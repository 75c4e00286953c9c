#pragma once
// Phase diagrams: what became of a study that sweeps two keys, one table per quantity, its cells
// coloured by value.

#include <string>

#include "reports/page/figure_shelf.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns the diagrams of the two keys with the largest full grid, whose files the shelf draws;
/// empty where no two keys were swept together.
std::string phase_diagrams(const Summary& summary, FigureShelf& shelf);

}  // namespace residuum::reports
