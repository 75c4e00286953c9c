#pragma once
// This header has what a run must know to measure the Lyapunov functions of the tight theory of
// error feedback.

#include <optional>
#include <vector>

#include "assumptions/theorems/theorem.h"
#include "core/record/run_facts.h"
#include "core/schedules/tight_rate.h"

namespace residuum {

/// Returns L, mu and alpha that every worker has, as the facts say; absent where one is not
/// known, or messages leave nothing out.
std::optional<CompressedProblem> compressed_problem_of(const RunFacts& facts);

/// Returns the constants of V for a run with these facts at this constant step, with rho* if all
/// preconditions of tight-ef14 or tight-ef21 are met; absent where V is not defined.
std::optional<LyapunovFacts> lyapunov_facts(const RunFacts& facts, double step);

/// Returns the mean factor of V in one iteration, from its start to the last row in which it says
/// more than rounding, over all seeds; absent if V was not seen twice.
std::optional<double> measured_lyapunov_factor(const Evidence& evidence);

/// The methods that the proof of a worst case (assumptions/worst_case/) holds for.
struct WorstCaseDemands {
  bool compresses = true;                       // messages keep a share, and leave something out
  std::optional<Memory> memory = std::nullopt;  // that workers keep; absent: none
  bool common_minimizer = false;                // of the workers' f_p
  bool momentum = false;                        // the heavy ball is part of it
  bool local_steps = false;                     // an exchange comes after several gradients
};

/// Returns the preconditions of a proof that a method with these facts does not meet.
std::vector<Precondition> unmet_by_worst_case(const RunFacts& facts,
                                              const WorstCaseDemands& demands);

}  // namespace residuum
