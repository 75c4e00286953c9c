#pragma once
// What delta would be if the workers' accumulators had independent entries of one law: the noise-
// dominated regime. And the number of workers up to which the gTop-k assumption would then hold.

#include <optional>
#include <string_view>

#include "assumptions/estimators/capture.h"

namespace residuum {

/// Predicted delta at density rho with P workers: with cap the law's energy capture,
///   gtopk-exact, gtopk-tree  (1 - cap(rho/P)) / (1 - rho)
///   gtopk-mask               (1 - cap(rho/P) - rho (P-1)/P) / (1 - rho)
///   allgather                (1 - cap(rho)) / (1 - rho)
/// for gTop-k keeps the largest k of dP values. That holds while the workers' selections rarely
/// meet, rho P^2 << 1; where they do meet, sums of several values are kept and delta is less than
/// predicted (0.879 against 1.046 at rho = 0.1, P = 16, Gaussian): overlap_prediction.h. Absent for
/// other aggregators and where rho is not in (0, 1).
std::optional<double> predicted_delta_iid(std::string_view aggregator,
                                          double rho,
                                          double workers,
                                          const EntryLaw& law = {});

/// P*: the largest number of workers with predicted delta <= 1, which is cap(rho/P) >= rho. Absent
/// where there is no such limit (gtopk-mask, allgather, and other aggregators). O(log P*).
std::optional<double> largest_workers_iid(std::string_view aggregator,
                                          double rho,
                                          const EntryLaw& law = {});

}  // namespace residuum
