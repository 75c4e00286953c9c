#pragma once
// Selections by blocks or layers keep whole blocks, or an entry of each: the k that runs may be
// another one than the k that was asked for.

#include <string>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns one sentence with the k that was asked for and the k that ran, by method, where they
/// differ: at all where the study has k, by more than a tenth where it has a density. Empty where
/// none does.
std::string asked_k_sentence(const Summary& summary);

}  // namespace residuum::reports
