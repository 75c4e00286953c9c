#pragma once
// One word for what was seen of an invariant, and the sentences that answer the study's question.

#include <string>
#include <vector>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

enum class Verdict {
  pass,        // held wherever it was looked at
  fail,        // failed although it must hold
  known,       // fails, as this method is known to
  held_here,   // held, though this method does not promise it
  not_looked,  // was not measured
};

Verdict verdict_of(const CheckSummary* check);

/// Of all the invariants of a method together but `conservation`, which is judged by itself: the
/// gravest of their verdicts.
Verdict verdict_of_others(const GroupSummary& group);

/// "PASS", "FAIL", "fails, as known", "held here" or "–".
std::string verdict_text(Verdict verdict);

/// One sentence: whether the gTop-k assumption held, and where it failed worst.
std::string answer(const Summary& summary);

/// Further sentences: invariants, contraction, runs that did not finish.
std::vector<std::string> findings(const Summary& summary);

}  // namespace residuum::reports
