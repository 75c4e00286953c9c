#pragma once
// Some methods lose gradient mass by design: a put-back rule that is too short, residuals that
// decay, messages that are weighed. Runs record which of these they have.

#include <string>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Says how many methods fail the check of conservation as they are known to, and why; empty where
/// none does.
std::string known_losses_sentence(const Summary& summary);

}  // namespace residuum::reports
