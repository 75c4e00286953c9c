#pragma once
// A verdict is one word for the checks of an invariant; sentences answer the study's question.

#include <cstddef>
#include <string>
#include <string_view>
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

Verdict verdict_of(const CheckNumbers* check);

/// Returns the gravest verdict on the invariants of a method, except `conservation`, which is
/// judged by itself.
Verdict verdict_of_others(const GroupSummary& group);

/// "PASS", "FAIL", "fails, as known", "held here" or "–".
std::string verdict_text(Verdict verdict);

/// Returns in words how many runs diverged, if any, then the outcome (outcome); before any run has
/// finished, whether the gTop-k assumption held, and where it failed worst. Of runs on different
/// data it says that, and nothing else.
std::string answer(const Summary& summary);

/// Returns which runs have no result, and which methods have none at all; empty where all runs have
/// come to an end.
std::string unfinished_sentence(const Summary& summary);

/// Returns a sentence for each method that loses gradient mass, as it is known to, and has a twin
/// that keeps it and differs in one key: which of them ends higher, as far as the seeds decide it.
std::vector<std::string> leak_sentences(const Summary& summary);

/// Returns the remarks that a reader must know before any verdict: methods with a worker that never
/// sent an entry, and a k that is not the requested one.
std::vector<std::string> notices_of(const Summary& summary);

/// Returns further sentences, the notices first: on invariants, contraction, and runs that did not
/// finish.
std::vector<std::string> findings(const Summary& summary);

// The outcome of a study: which method that compresses ended best, how it stands to dense training,
// at which cost, and whether δ ≤ 1 was met on the way.

/// Returns the outcome in a sentence; empty if no run has finished. If the study has several
/// objectives, it is that of the first, which is named.
std::string outcome(const Summary& summary);

// These functions put verdicts on assumptions into words, for the terminal and the page.

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
