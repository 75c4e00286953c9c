#pragma once
// Aggregators of lists share this: they view messages as lists, sum them, and find which entries
// reached a support.

#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/cluster/ledger.h"
#include "core/vectors/merge.h"

namespace residuum {

/// Presents the messages of this process's workers as sparse vectors without copying them; a whole
/// accumulator becomes the list of its non-zero entries.
template <class Real>
class MessageLists {
 public:
  /// The result is valid until the next call and no longer than the contributions.
  Lists<Real> of(const Contributions<Real>& contributions);

 private:
  std::vector<SparseVector<Real>> whole_;
  std::vector<const SparseVector<Real>*> lists_;
};

/// Adds neighbouring lists, then neighbouring pairs, and so on: the order depends on the number of
/// lists alone.
template <class Real>
class PairwiseSum {
 public:
  /// sum := the sum of the lists, none of which it may be.
  void take(Lists<Real> lists, SparseVector<Real>& sum);

 private:
  std::vector<SparseVector<Real>> partial_sums_;
  std::vector<const SparseVector<Real>*> left_;
};

/// Computes the sum of all messages: every worker sends its own to every other, and the lists are
/// added pairwise.
template <class Real>
class GatheredSum {
 public:
  /// Returns all workers' lists, on every process, until the next call; `mine` are those of the
  /// contributions.
  Lists<Real> gather(const Cluster& cluster,
                     Lists<Real> mine,
                     const Contributions<Real>& contributions,
                     Ledger& ledger);
  /// sum := the sum of such lists.
  void add_up(Lists<Real> lists, SparseVector<Real>& sum) { pairwise_.take(lists, sum); }
  /// Does both, and charges the workers with the additions.
  void take(const Cluster& cluster,
            Lists<Real> mine,
            const Contributions<Real>& contributions,
            Ledger& ledger,
            SparseVector<Real>& sum);

 private:
  ReceiveBuffers<Real> buffers_;
  std::vector<std::size_t> bytes_;  // of each list here
  PairwiseSum<Real> pairwise_;
};

/// Counts (P-1) copies of every message, as its sender wrote it.
TrafficModel gather_traffic_model(const TrafficShape& shape);

}  // namespace residuum
