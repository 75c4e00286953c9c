#pragma once
// A worker's gradient estimate g^p (EF21 and its kin) changes by what was delivered of the change
// it sent. Where an aggregator rejects entries that were sent, the estimate changes by what was
// delivered, so that the mean of the estimates is the sum of all updates so far: nothing is lost.

#include <span>

#include "core/feedback/feedback.h"

namespace residuum {

/// accumulator -= delivered, estimate += delivered; `residual_update` notes what was delivered.
template <class Real>
void take_into_estimate(std::span<Real> accumulator,
                        std::span<Real> estimate,
                        const MessageOutcome<Real>& outcome,
                        ResidualUpdate<Real>& residual_update);

}  // namespace residuum
