#pragma once
// How the P messages become one update g (a SUM over workers), and what becomes of each worker's
// contribution. One file and one registry line per aggregator.

#include <memory>
#include <span>
#include <vector>

#include "core/aggregators/tree_rounds.h"
#include "core/cluster/cluster.h"
#include "core/config/registry.h"
#include "core/vectors/intersect.h"
#include "core/vectors/message.h"
#include "core/vectors/sparse_vector.h"
#include "core/vectors/split.h"

namespace residuum {

/// What the workers of this process bring, in worker order.
template <class Real>
struct Contributions {
  std::size_t dimension = 0;
  /// Entries of a k-sparse result; messages of a tree have at most as many on several processes.
  std::size_t k = 0;
  std::span<const Message<Real>> messages;              // s^p
  std::span<const std::span<const Real>> accumulators;  // a^p
};

/// What aggregators keep from iteration to iteration.
template <class Real>
struct AggregationBuffers {
  std::vector<SparseVector<Real>> whole;         // whole accumulators as lists
  std::vector<const SparseVector<Real>*> lists;  // the messages of this process's workers
  Mail<Real> mail;

  // Of the tree.
  std::vector<Edge> edges;
  std::size_t rounds = 0;
  std::vector<const SparseVector<Real>*> held;  // what it has made of each worker's list so far
  std::vector<SparseVector<Real>> merged;       // held after a merge
  std::vector<SparseVector<Real>> cuts;         // of every merge here
  std::vector<std::size_t> cut_slots;           // where it was
  SplitWorkspace<Real> split;

  IntersectWorkspace<Real> intersect;
  std::vector<const SparseVector<Real>*> looked_at;
  std::vector<SparseVector<Real>> inside;

  SparseVector<Real> sum, cut;
  std::vector<SparseVector<Real>> sums;
  std::vector<std::uint32_t> support;
  std::vector<Real> values;
};

/// The update, and what became of the contributions of this process's workers. Reused from
/// iteration to iteration.
template <class Real>
struct Aggregation {
  bool is_dense = false;
  std::vector<Real> dense_sum;  // g, if dense
  SparseVector<Real> sum;       // g otherwise; the same on every process

  bool applied_whole = false;                 // every message entered g as it was sent
  std::vector<SparseVector<Real>> delivered;  // else per worker: what of a^p entered g or a merge
  std::vector<SparseVector<Real>>
      cut_in_merges;  // per merging worker: partial sums that its merges
                      // cut although their index is in g's support
  Traffic traffic;
  AggregationBuffers<Real> buffers;
};

/// What holds for an aggregator whatever the messages are.
struct AggregatorLaw {
  bool applies_whole_messages = true;  // g is the sum of the messages
  bool cuts_in_merges = false;         // partial sums can be cut from a branch, P > 2
  bool is_sparse = true;               // g has at most k entries

  // Predictions and verdicts go by these; an aggregator that says nothing claims nothing.
  bool completes_support = false;  // g has on its support the sum of all a^p: no error there
  bool selects_largest = false;    // it cuts sums of messages to their k largest entries
};

/// Bytes by a formula; exact, or an upper bound where merged lists may be shorter than k.
struct TrafficModel {
  double bytes = 0;
  bool exact = true;
};

/// The sizes that a cost model is made of.
struct TrafficShape {
  int workers = 1;
  double entries = 0;           // of all messages together
  bool whole_messages = false;  // the messages are whole accumulators, which may have zeros
  double dimension = 0;         // d
  double k = 0;                 // entries of a k-sparse result
  double value_bytes = 4;       // of one value on the wire
  double entry_bytes() const {
    const auto d = static_cast<std::size_t>(dimension);
    return static_cast<double>(value_bytes == sizeof(float) ? residuum::entry_bytes<float>(d)
                                                            : residuum::entry_bytes<double>(d));
  }
};

class Aggregator {
 public:
  Aggregator() = default;
  Aggregator(const Aggregator&) = delete;
  Aggregator& operator=(const Aggregator&) = delete;
  Aggregator(Aggregator&&) = delete;
  Aggregator& operator=(Aggregator&&) = delete;
  virtual ~Aggregator() = default;

  /// Collective over the cluster's processes.
  virtual void combine(const Cluster& cluster,
                       const Contributions<float>& contributions,
                       Aggregation<float>& result) const = 0;
  virtual void combine(const Cluster& cluster,
                       const Contributions<double>& contributions,
                       Aggregation<double>& result) const = 0;

  virtual AggregatorLaw law() const = 0;

  /// True if it selects k entries itself, so that the sparsifier must have a k.
  virtual bool needs_k() const = 0;

  /// The bytes that all workers send in one iteration by the cost model, to check the counted ones
  /// against.
  virtual TrafficModel traffic_model(const TrafficShape& shape) const = 0;
};

/// Implements both overloads of `combine` by a member template of that name of Derived.
template <class Derived>
class AggregatorFor : public Aggregator {
 public:
  void combine(const Cluster& cluster,
               const Contributions<float>& contributions,
               Aggregation<float>& result) const final {
    static_cast<const Derived&>(*this).template combine<float>(cluster, contributions, result);
  }
  void combine(const Cluster& cluster,
               const Contributions<double>& contributions,
               Aggregation<double>& result) const final {
    static_cast<const Derived&>(*this).template combine<double>(cluster, contributions, result);
  }
};

/// How dense sums over processes are taken: in the order of the workers, with the same bits at any
/// number of processes, or as MPI_Allreduce has it.
enum class Reduction { ordered, fast };

/// Reads `reduction`: "ordered" (default) or "fast".
Reduction reduction_from(const Section& section);

/// sum := what all workers add to it by add(worker, begin, block), on every process.
template <class Real, class Add>
void sum_everywhere(const Cluster& cluster,
                    Reduction reduction,
                    std::span<Real> sum,
                    const Add& add) {
  if (reduction == Reduction::fast) {
    cluster.sum_in_any_order(sum, add);
  } else {
    cluster.sum_in_worker_order(sum, /*everywhere=*/true, add);
  }
}

std::span<const Entry<Aggregator>> aggregators();

/// Builds what the section's `kind` names; the caller finishes the section.
std::unique_ptr<Aggregator> make_aggregator(const Section& section);

}  // namespace residuum
