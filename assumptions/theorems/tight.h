#pragma once
// This header has what a run must know to measure the Lyapunov functions of the tight theory of
// error feedback.

#include <optional>

#include "assumptions/theorems/run_facts.h"
#include "core/schedules/tight_rate.h"

namespace residuum {

/// Returns L, mu and delta_c that every worker has, as the facts say; absent where one is not
/// known, or messages leave nothing out.
std::optional<CompressedProblem> compressed_problem_of(const RunFacts& facts);

/// Returns the constants of V for a run with these facts at this constant step, with rho* if all
/// preconditions of tight-ef14 or tight-ef21 are met; absent where V is not defined.
std::optional<LyapunovFacts> lyapunov_facts(const RunFacts& facts, double step);

}  // namespace residuum
