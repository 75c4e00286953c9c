#pragma once
// What the theorems are told of a method: the facts in its runs' config.json and status.json. What
// these do not say is not known; nothing is guessed.

#include <cstdint>
#include <vector>

#include "assumptions/theorems/evidence.h"
#include "reports/groups.h"
#include "reports/measures.h"
#include "reports/result_folder.h"

namespace residuum::reports {

MethodFacts method_facts(const Run& run);

/// For each run how long the runs of its group are: what the longest of them has done. At least 1.
std::vector<std::uint64_t> run_lengths(const ResultFolder& folder);

/// The facts of the group's first run with tables, and what all its runs with tables measured.
Evidence evidence_of(const ResultFolder& folder,
                     const Group& group,
                     const std::vector<RunMeasures>& measures);

}  // namespace residuum::reports
