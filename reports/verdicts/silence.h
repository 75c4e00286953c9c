#pragma once
// A run in which some worker never sent an entry says nothing of its method: what held, held of
// empty messages.

#include <string>
#include <vector>

#include "reports/numbers/groups.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns how many workers of a run with tables never sent an entry, as far as the run says so.
std::size_t silent_workers(const Run& run);

/// Returns whether any run of the method has such a worker.
bool has_silent_worker(const ResultFolder& folder, const Group& group);

/// Returns a sentence for each method with such a run, at most three, and one that counts the rest.
std::vector<std::string> silence_sentences(const Summary& summary);

}  // namespace residuum::reports
