#pragma once
// These functions return the tables of the report, as HTML.

#include <string>

#include "reports/page/html.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// The cell names the method and says how many of its runs have diverged or not finished.
Cell method_cell(const GroupSummary& group);

/// The table gives per method conservation and the other invariants, the largest delta, q and lost
/// mass, and where each was worst.
std::string invariants_table(const Summary& summary);

/// The table gives per method where the seeds ended, with intervals of that kind.
std::string results_table(const Summary& summary, IntervalKind kind);

/// The table gives per method and invariant how often it was looked at, failures, and the worst
/// ratio.
std::string checks_table(const Summary& summary);

/// The table gives what each method does beside the plain algorithm; empty if none does anything.
std::string practice_table(const Summary& summary);

std::string runs_table(const Summary& summary);

/// The table gives what an object holds, one line per scalar, keys dotted.
std::string facts_table(const Json& object);

}  // namespace residuum::reports
