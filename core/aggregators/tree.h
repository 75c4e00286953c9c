#pragma once
// MergeTree runs gTopKAllReduce (Shi et al., ICDCS 2019) along the tree of transfers.h. The merge
// of two lists is Top_k of their sum; it is not associative, so the shape of the tree is part of
// the algorithm.

#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/cluster/ledger.h"
#include "core/messages/transfers.h"
#include "core/vectors/merge.h"

namespace residuum {

template <class Real>
class MergeTree {
 public:
  /// result := the merge of all workers' lists, on every process. `lists` has one list for each
  /// worker of this process. The messages on the way up are charged to `ledger`; the caller charges
  /// the way down.
  void reduce(const Cluster& cluster,
              const Contributions<Real>& contributions,
              Lists<Real> lists,
              Ledger& ledger,
              SparseVector<Real>& result);

  /// result := the same merge, on the process of worker 0 alone.
  void reduce_to_root(const Cluster& cluster,
                      const Contributions<Real>& contributions,
                      Lists<Real> lists,
                      Ledger& ledger,
                      SparseVector<Real>& result);

  /// dropped_in_merges := for every worker here, the partial sums that its merges in the last
  /// reduction dropped on the support of `result`.
  void find_dropped_on_support(const SparseVector<Real>& result,
                               std::vector<SparseVector<Real>>& dropped_in_merges);

 private:
  void plan(int workers);
  void merge_up(const Cluster& cluster, const Contributions<Real>& contributions, Ledger& ledger);
  void merge(const SparseVector<Real>& incoming, std::size_t k, std::size_t slot);

  std::vector<Edge> edges_;
  std::vector<std::size_t> round_ends_;          // the edges before the end of each round
  std::vector<const SparseVector<Real>*> held_;  // each worker's list, as merged so far
  std::vector<SparseVector<Real>> merged_;       // buffers for the lists that were merged
  std::vector<SparseVector<Real>> dropped_;      // one for every merge on this process
  std::vector<std::size_t>
      dropping_slots_;  // the slot of the worker that made each of these merges
  SparseVector<Real> remainder_, sum_;
  ReceiveBuffers<Real> buffers_;
  SplitWorkspace<Real> split_;
  IntersectWorkspace<Real> intersect_;
  std::vector<const SparseVector<Real>*> looked_at_;
  std::vector<SparseVector<Real>> inside_;
};

}  // namespace residuum
