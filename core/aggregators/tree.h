#pragma once
// The binary tree of gTopKAllReduce (Shi et al., ICDCS 2019) on worker numbers, for any P. With
// m = 2^floor(log2 P), workers r >= m are merged into r - m first; then, at strides 1, 2, 4, ...,
// worker i receives from i + stride. The merge of two lists is Top_k of their sum; it is not
// associative, so the shape is part of the algorithm.

#include <vector>

#include "core/aggregators/aggregator.h"

namespace residuum {

struct Edge {
  int from = 0;
  int to = 0;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// The rounds of the reduction to worker 0; the edges of a round touch different workers.
std::vector<std::vector<Edge>> tree_rounds(int workers);

/// Reduces result.lists (one list per worker of this process) along the tree and broadcasts the
/// result to result.sum on every process. result.cut_in_merges gets, per merging worker, the
/// partial sums that its merges cut. Counts the bytes of the way up and the rounds both ways.
template <class Real>
void reduce_along_tree(const Cluster& cluster, std::size_t k, Aggregation<Real>& result);

}  // namespace residuum
