#pragma once
// Theorems are told what all runs of a method have in common, and what these measured.

#include <cstdint>
#include <vector>

#include "assumptions/theorems/evidence.h"
#include "reports/analysis/groups.h"
#include "reports/analysis/measures.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {

/// Returns for each run how long the runs of its group are: what the longest of them has done, at
/// least 1.
std::vector<std::uint64_t> run_lengths(const ResultFolder& folder);

/// Returns the facts that all the group's runs with tables have, with the weakest of their
/// constants, and what these runs measured.
Evidence evidence_of(const ResultFolder& folder,
                     const Group& group,
                     const std::vector<RunMeasures>& measures);

}  // namespace residuum::reports
