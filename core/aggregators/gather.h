#pragma once
// What all-gather and exact gTop-k share: every message goes to every worker, and the sum is taken
// pairwise over neighbouring workers, in a shape that depends on P alone.

#include "core/aggregators/aggregator.h"

namespace residuum {

/// buffers.lists := the messages of this process's workers as sparse vectors, where they lie; a
/// whole accumulator becomes the list of its non-zero entries.
template <class Real>
void messages_as_lists(const Contributions<Real>& contributions, AggregationBuffers<Real>& buffers);

/// result.delivered := what of the messages lies on the support of result.sum.
template <class Real>
void find_delivered(Aggregation<Real>& result);

/// sum := the sum of all messages, on every process; counts the traffic of the all-gather.
template <class Real>
void gather_and_sum(const Cluster& cluster,
                    const Contributions<Real>& contributions,
                    Aggregation<Real>& result,
                    SparseVector<Real>& sum);

/// (P-1) copies of every message; a bound for whole accumulators, whose zeros are not sent.
TrafficModel gather_traffic_model(const TrafficShape& shape);

}  // namespace residuum
