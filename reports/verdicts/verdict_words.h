#pragma once
// These functions put verdicts on assumptions into words, for the terminal and the page.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns "1.22 [1.17, 1.27]", or "–" where nothing was measured.
std::string number_with_interval(const AssumptionVerdict& verdict);

/// Returns "holds", or "growth ≤ 1.1" where nothing else is tested.
std::string_view average_word(const AssumptionVerdict& verdict);

/// Returns "fails 15 %", of the measured iterations.
std::string every_word(const EveryVerdict& every);

/// Returns "9 of 60 measured iterations above, largest 1.098 at iteration 41".
std::string every_text(const EveryVerdict& every);

/// Returns the assumptions that were measured for some method of the study, by their position.
std::vector<std::size_t> measured_assumptions(const Summary& summary);

}  // namespace residuum::reports
