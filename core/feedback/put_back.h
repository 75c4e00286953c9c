#pragma once
// The put-back rule says which entries leave an accumulator after its message was exchanged. An
// entry is subtracted as it was sent: an entry sent unchanged leaves exactly 0, one sent scaled
// leaves the difference. The rules differ if gTop-k rejects entries that were sent (S: support of
// the result, S^p: support of the message):
//   published  R2: clear S^p and S; the rule of the papers and their code. With the tree it loses
//              what a merge dropped at an index that survived through another branch.
//   captured   R2*: R2, and the worker that merged returns to its residual what it dropped there.
//   discard    R1: clear all of S^p; rejected entries are lost. A negative control.

#include <algorithm>
#include <span>

#include "core/feedback/feedback.h"

namespace residuum {

enum class PutBack { captured, published, discard };

/// Reads the key `putback`.
PutBack put_back_from(const Section& section);

/// True if with this aggregator the rule never loses anything.
bool conserves(PutBack rule, const AggregatorLaw& aggregator, int workers);

/// Applies the rule to the accumulator, and notes in `residual_update` what it takes and gives
/// back.
template <class Real>
void put_back(PutBack rule,
              std::span<Real> accumulator,
              const MessageOutcome<Real>& outcome,
              ResidualUpdate<Real>& residual_update);

/// Does the same to vector 0 of a memory on a device.
void put_back(PutBack rule,
              DeviceVectors& memory,
              const MessageOutcome<float>& outcome,
              ResidualUpdate<float>& residual_update);

// A worker sends the change of its gradient estimate g^p (EF21 and similar methods), and g^p
// changes by the applied part of it. If an aggregator rejects sent entries, the estimate changes
// by the applied ones alone. So the mean of the estimates is the sum of all updates so far:
// nothing is lost.

/// accumulator -= applied, estimate += applied; `residual_update` records the applied
/// entries.
template <class Real>
void take_into_estimate(std::span<Real> accumulator,
                        std::span<Real> estimate,
                        const MessageOutcome<Real>& outcome,
                        ResidualUpdate<Real>& residual_update);

/// Does the same to a memory on a device: the accumulator is vector 0, the estimate vector 1.
void take_into_estimate(DeviceVectors& memory,
                        const MessageOutcome<float>& outcome,
                        ResidualUpdate<float>& residual_update);

}  // namespace residuum
