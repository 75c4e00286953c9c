#pragma once

#include <string>
#include <vector>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

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
