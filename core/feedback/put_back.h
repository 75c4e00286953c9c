#pragma once
// What is taken from an accumulator for what became of its message. The residual follows the
// message: what is subtracted is what was taken, so that an entry that was sent as it is leaves
// exactly 0, and one that was sent scaled leaves the difference. Where gTop-k rejects entries that
// were sent, the put-back rule decides (S: support of the result, S^p: support of the message):
//   published  R2: clear S^p and S; the rule of the papers and their code. With the tree it loses
//              what a merge cut at an index that survived through another branch.
//   captured   R2*: R2, and the worker that merged returns what it cut there to its own residual.
//   discard    R1: clear all of S^p; rejected entries are lost. A negative control.

#include <algorithm>
#include <span>

#include "core/feedback/feedback.h"

namespace residuum {

enum class PutBack { captured, published, discard };

/// Reads `putback`.
PutBack put_back_from(const Section& section);

/// True if with this aggregator the rule never loses anything.
bool conserves(PutBack rule, const AggregatorLaw& aggregator, int workers);

/// Notes in `settlement` what the rule takes from the accumulator and gives back, and does it.
template <class Real>
void put_back(PutBack rule,
              std::span<Real> accumulator,
              const Fate<Real>& fate,
              Settlement<Real>& settlement);

}  // namespace residuum
