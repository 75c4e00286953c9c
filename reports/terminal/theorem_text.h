#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns in words how one theorem was judged: for every method the verdict, both sides, the terms
/// of the right side, each precondition with its state, each constant with its origin.
std::string theorem_text(const Summary& summary, std::string_view name);

/// Returns a line per method: the certificate's slack, and how many theorems hold, fail and do not
/// apply, failures by name.
std::vector<std::string> theorem_lines(const Summary& summary);

}  // namespace residuum::reports
