#pragma once

#include <string>
#include <vector>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns "METHOD: assumption 'gtopk' fails: 1.22 [1.17, 1.27]" for each assumption that fails.
std::vector<std::string> failed_assumptions(const Summary& summary);

/// Returns text for stdout: a word per assumption and method, with the certificate's slack and the
/// theorems. A method's name says how many of its runs diverged. Below stands what a leak has
/// cost, where the study has a method without it.
std::string verdict_lines(const Summary& summary, std::size_t methods);

}  // namespace residuum::reports
