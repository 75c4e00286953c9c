#pragma once
// How far the rates of tight_rate.h are below 1, without cancellation: above 0 where a rate rounds
// to 1.

#include "core/schedules/tight_rate.h"

namespace residuum {

/// Returns 1 - tight_rate().
double tight_gap(const CompressedProblem& problem);

/// Returns 1 - memoryless_rate().
double memoryless_gap(const CompressedProblem& problem);

}  // namespace residuum
