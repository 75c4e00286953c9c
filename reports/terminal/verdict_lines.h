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

/// Returns "METHOD: assumption 'delta' fails: 1.22 [1.17, 1.27]" for each assumption that fails.
std::vector<std::string> failed_assumptions(const Summary& summary);

/// Returns text for stdout: a word per assumption and method, with the certificate's slack, the
/// two factors of a linear rate's, and the theorems. A method's name says how many of its runs
/// diverged. Below stands what a leak has cost, where the study has a method without it.
std::string verdict_lines(const Summary& summary, std::size_t methods);

/// Returns "8 of 20 verdicts are undecided; probes.every = 1 decides 6 of them, at 0.3 s more than
/// the 14 s of the runs": the key that decides most; empty where none does.
std::string undecided_line(const Summary& summary);

}  // namespace residuum::reports
