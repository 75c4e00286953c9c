#pragma once
// Sentences on a study that its verdicts depend on: workers that never sent anything, a k that is
// not the one asked for, and mass that methods lose by design.

#include <string>
#include <vector>

#include "reports/analysis/groups.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

// --- Workers that never sent anything ------------------------------------------------------------
// A run in which some worker never sent an entry says nothing of its method: what held, held of
// empty messages.

/// Returns how many workers of a run with tables never sent an entry, as far as the run says so.
std::size_t silent_workers(const Run& run);

/// Returns whether any run of the method has such a worker.
bool has_silent_worker(const ResultFolder& folder, const Group& group);

/// Returns a sentence for each method with such a run, at most three, and one that counts the rest.
std::vector<std::string> silence_sentences(const Summary& summary);

// --- The k that runs -----------------------------------------------------------------------------
// Selections by blocks or layers keep whole blocks, or an entry of each: the k that runs may be
// another one than the k that was asked for.

/// Returns one sentence with the k that was asked for and the k that ran, by method, where they
/// differ: at all where the study has k, by more than a tenth where it has a density. Empty where
/// none does.
std::string asked_k_sentence(const Summary& summary);

// --- Mass that is lost by design -----------------------------------------------------------------
// Some methods lose gradient mass by design: a put-back rule that is too short, residuals that
// decay, messages that are weighed. Runs record which of these they have.

/// Returns in words how many methods fail the check of conservation as they are known to, and why;
/// empty where none does.
std::string known_losses_sentence(const Summary& summary);

}  // namespace residuum::reports
