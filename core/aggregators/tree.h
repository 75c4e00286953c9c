#pragma once
// gTopKAllReduce (Shi et al., ICDCS 2019) along the tree of tree_rounds.h. The merge of two lists
// is Top_k of their sum; it is not associative, so the shape of the tree is part of the algorithm.

#include "core/aggregators/aggregator.h"

namespace residuum {

/// Reduces buffers.lists (one list per worker of this process) along the tree and broadcasts the
/// result to result.sum on every process. Counts the bytes of the way up and the rounds both ways.
template <class Real>
void reduce_along_tree(const Cluster& cluster,
                       const Contributions<Real>& contributions,
                       Aggregation<Real>& result);

/// result.cut_in_merges := per merging worker, the partial sums that its merges in the reduction
/// before have cut on the support of result.sum.
template <class Real>
void find_cuts_on_support(Aggregation<Real>& result);

}  // namespace residuum
