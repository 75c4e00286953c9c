#pragma once
// What the theorems say of every method of a study, as JSON, as a table of both sides over the run,
// and as lines for the terminal.

#include <string>
#include <string_view>
#include <vector>

#include "reports/evidence.h"
#include "reports/summary.h"

namespace residuum::reports {

/// Every registered theorem, in their order, put to the evidence.
std::vector<TheoremSummary> judge_theorems(const Evidence& evidence);

/// One theorem's verdict, sides, terms, preconditions and constants.
Json to_json(const TheoremSummary& summary);

/// bounds.csv: method,theorem,iterations,lhs,rhs; the curves of the bounds that could be formed.
std::string bounds_csv(const Summary& summary);

/// How one theorem was judged, for a terminal: of every method the verdict, both sides, what the
/// right side is made of, each precondition with its state, each constant with its origin.
std::string theorem_text(const Summary& summary, std::string_view name);

/// A line per method: the certificate's slack, and how many theorems hold, fail and do not speak of
/// it, failures by name.
std::vector<std::string> theorem_lines(const Summary& summary);

}  // namespace residuum::reports
