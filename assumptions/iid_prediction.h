#pragma once
// This file predicts delta of Top-k messages if the workers' accumulators had independent entries
// of one law, as in the noise-dominated regime, and the number of workers up to which the gTop-k
// assumption would then hold. delta_prediction.h chooses the formula for a method.

#include <optional>

#include "assumptions/estimators/capture.h"

namespace residuum {

/// How the workers' k largest entries become g.
enum class Combination {
  whole,      // g is their sum: all-gather
  selected,   // g is the k largest entries of their sum: gTop-k
  completed,  // and the sum of the whole accumulators there: mask-then-reduce
};

/// Predicted delta at density rho with P workers: with cap the law's energy capture,
///   selected   (1 - cap(rho/P)) / (1 - rho)
///   completed  (1 - cap(rho/P) - rho (P-1)/P) / (1 - rho)
///   whole      (1 - cap(rho)) / (1 - rho)
/// for gTop-k keeps the largest k of dP values. That holds while the workers' selections rarely
/// meet, rho P^2 << 1; where they do meet, sums of several values are kept and delta is less than
/// predicted (0.879 against 1.046 at rho = 0.1, P = 16, Gaussian): overlap_prediction.h. Absent
/// where rho is not in (0, 1).
std::optional<double> predicted_delta_iid(Combination combination,
                                          double rho,
                                          double workers,
                                          const EntryLaw& law = {});

/// P*: the largest number of workers with predicted delta <= 1 where entries are `selected`, which
/// is cap(rho/P) >= rho; the others have no such limit. Absent where rho is not in (0, 1). O(log
/// P*).
std::optional<double> largest_workers_iid(double rho, const EntryLaw& law = {});

}  // namespace residuum
