#pragma once
// MergeDoubling merges lists by recursive doubling. With m = 2^floor(log2 P), workers r >= m are
// merged into r - m first; then, at strides 1, 2, 4, ..., workers p and p XOR stride exchange their
// lists and both merge them. Addition commutes, so all workers of a group hold the same list, and
// the merges of worker 0 are those of the tree of transfers.h. With P = 6 and m = 4:
//
//   worker        0           1           2           3           4        5
//   fold         0+4         1+5                                 to 0     to 1
//   stride 1   0+4+1+5 <-> 0+4+1+5       2+3 <-----> 2+3
//   stride 2     all <-------------------> all
//                            all <-------------------> all
//   last      worker 0 passes the result to 4, worker 1 to 5
//
// Every worker sees the merges of its own groups, its path. An entry is dropped on the path if a
// merge of the path drops its index; later merges on the path sum without it, so the entries that
// were never dropped on their sender's path add up to the result.

#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/cluster/ledger.h"
#include "core/messages/transfers.h"
#include "core/vectors/merge.h"

namespace residuum {

template <class Real>
class MergeDoubling {
 public:
  /// result := the merge of all workers' lists, on every process. `lists` has one list for each
  /// worker of this process, and must stay as it is until `find_applied`.
  void reduce(const Cluster& cluster,
              const Contributions<Real>& contributions,
              Lists<Real> lists,
              Ledger& ledger,
              SparseVector<Real>& result);

  /// applied := for every worker here, the entries of its list in the last reduction that lie on
  /// the support of `result` and were not dropped on its path. The workers beyond m get the result
  /// and these in a last round, which is charged to `ledger`.
  void find_applied(const Cluster& cluster,
                    const Contributions<Real>& contributions,
                    const SparseVector<Real>& result,
                    Ledger& ledger,
                    std::vector<SparseVector<Real>>& applied);

 private:
  /// A group is `size` workers below m from `first` on, each with the worker folded into it. One of
  /// size 1 is made by the fold; the others by the merge of their halves.
  struct Group {
    int first = 0;
    int size = 1;
    std::size_t edges_end = 0;  // its messages between processes end here
    bool has(int worker) const { return first <= worker && worker < first + size; }
  };

  void plan(const Cluster& cluster);
  void plan_edges(const Cluster& cluster, const Group& group);
  void merge_all(const Cluster& cluster, const Contributions<Real>& contributions, Ledger& ledger);
  void make_group(const Cluster& cluster,
                  const Contributions<Real>& contributions,
                  const Group& group,
                  Ledger& ledger);
  void charge(const Cluster& cluster,
              const Contributions<Real>& contributions,
              const Group& group,
              Ledger& ledger) const;
  const SparseVector<Real>* held_in(const Cluster& cluster, int begin, int end) const;
  const SparseVector<Real>* exchange(const Cluster& cluster,
                                     const Group& group,
                                     std::size_t most_entries);
  void merge(const Cluster& cluster,
             const Group& group,
             const SparseVector<Real>& lower,
             const SparseVector<Real>& upper,
             std::size_t k);
  void take_out_dropped(const Cluster& cluster, const SparseVector<Real>& result);

  int workers_ = 0;    // of the plan, as are the others until groups_
  int processes_ = 0;  // of the plan
  int whole_ = 1;      // m
  std::vector<Edge> edges_;
  std::vector<Group> groups_;            // in the order in which they are made
  std::vector<std::size_t> round_ends_;  // the groups before the end of each round

  std::size_t expected_ = 0;                     // edges whose message has room
  std::size_t passed_ = 0;                       // edges whose groups are formed
  std::vector<const SparseVector<Real>*> sent_;  // the lists of this process's workers below m,
                                                 // then of those that are folded into them
  std::size_t below_whole_ = 0;                  // how many of the former
  std::vector<const SparseVector<Real>*> held_;  // each worker's list, as merged so far
  std::vector<SparseVector<Real>> merged_;       // buffers for the lists that were merged
  std::vector<SparseVector<Real>> folded_;       // lists that came from other processes
  std::vector<SparseVector<Real>> dropped_;      // one for every group that dropped something
  std::vector<Group> dropped_by_;                // those groups
  ReceiveBuffers<Real> buffers_;
  SplitWorkspace<Real> split_;
  IntersectWorkspace<Real> intersect_;
  SparseVector<Real> remainder_;
  std::vector<const SparseVector<Real>*> looked_at_;
  std::vector<SparseVector<Real>> inside_;
  std::vector<SparseVector<Real>> found_;  // what was applied of `sent_`
};

}  // namespace residuum
