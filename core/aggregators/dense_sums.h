#pragma once
// DenseSums takes a sum over all workers in the order of an all-reduce. The order is
// defined on workers, so that the sum has the same bits at any number of processes, unless
// MPI_Allreduce may choose one (`reduction`). But for the chain of cluster.h, partial sums go from
// process to process block by block: a process holds d numbers and a few blocks, however many
// workers it has. All processes go through the blocks and their messages in one order.
//
// An all-reduce is an algorithm by which P workers come to have the sum of their vectors of d
// numbers. It decides the order of the additions and what the network carries:
//   chain               ((a_0 + a_1) + a_2) ..., from worker to worker and back: 2 (P-1) rounds
//                       of d numbers
//   ring                2 (P-1) rounds of d/P numbers (Patarasuk, Yuan, JPDC 2009). Chunk c of P
//                       nearly equal ones is summed along the ring from worker c+1 on and ends with
//                       worker c: ((a_{c+1} + a_{c+2}) + ...) + a_c; then it goes round once more
//   tree                pairs along transfers.h up to worker 0, and back down: 2 ceil(log2 P)
//                       rounds of d numbers
//   recursive-doubling  worker i and worker i xor 2^r exchange d numbers and both add, for
//                       r = 0 .. log2 m - 1 with m = 2^floor(log2 P). Workers from m on are folded
//                       in before and get the sum after, a round each (Thakur, Rabenseifner, Gropp,
//                       IJHPCA 2005). Sums have the bits of the tree's, because a + b = b + a
//   hierarchical        in each node of `per_node` workers, a chain from its last worker to its
//                       first; a ring over these first workers; and the chain back: 2 (per_node-1)
//                       rounds of d numbers and 2 (P/per_node - 1) of d per_node/P

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/cluster/ledger.h"
#include "core/config/section.h"

namespace residuum {

struct AllReduce {
  enum class Algorithm : std::uint8_t { chain, ring, tree, recursive_doubling, hierarchical };

  Algorithm algorithm = Algorithm::chain;
  int per_node = 1;                 // workers
  std::string place_of_nodes = {};  // for messages: where `per_node` is written

  /// Reports a usage error for a number of workers that nodes do not divide.
  void check(int workers) const;

  /// Charges the messages of one sum of `values` values.
  void charge(std::size_t values, std::size_t value_bytes, Ledger& ledger) const;
  /// Returns the bytes of these messages for a vector of `vector_bytes` bytes.
  double traffic(int workers, double vector_bytes) const;

  /// Returns which part of the additions of all workers lies on the critical path.
  double work_share(int workers) const;
};

/// Reads `algorithm` and, for "hierarchical", `per_node`.
AllReduce all_reduce_from(const Section& section);

struct DenseRules {
  Reduction reduction = Reduction::ordered;
  AllReduce all_reduce = {};
};

/// Reads `reduction`, `algorithm` and, for "hierarchical", `per_node`. A "fast" reduction goes with
/// the chain alone.
DenseRules dense_rules_from(const Section& section);

/// Adds the numbers of a worker of this process, from `begin` on, to the block.
template <class Real>
using AddWorker = std::function<void(int worker, std::size_t begin, std::span<Real> block)>;

/// Adds those of the numbers that lie in the block. The numbers begin at `first` of the whole sum,
/// the block at `begin`.
template <class Real>
void add_overlap(std::span<const Real> numbers,
                 std::size_t first,
                 std::size_t begin,
                 std::span<Real> block) {
  const std::size_t from = std::max(first, begin);
  const std::size_t to = std::min(first + numbers.size(), begin + block.size());
  for (std::size_t i = from; i < to; ++i) {
    block[i - begin] += numbers[i - first];
  }
}

template <class Real>
class DenseSums {
 public:
  /// sum := what all workers add to it, on every process.
  void take(const DenseRules& rules,
            const Cluster& cluster,
            const AddWorker<Real>& add,
            std::span<Real> sum);

  /// Takes the sum, times it and charges the bytes of its all-reduce.
  void take_and_charge(const DenseRules& rules,
                       const AddWorker<Real>& add,
                       std::span<Real> sum,
                       Ledger& ledger);

 private:
  /// A block of the sum, from the number `begin` on.
  struct Block {
    const Cluster& cluster;
    const AddWorker<Real>& add;
    std::size_t begin;
    std::span<Real> sum;
  };

  void take_by_blocks(const AllReduce& rule,
                      const Cluster& cluster,
                      const AddWorker<Real>& add,
                      std::span<Real> sum);
  void go_round_with_all(const Cluster& cluster, const AddWorker<Real>& add, std::span<Real> sum);
  void go_round(const Block& block, int last_node, int per_node);
  void add_node(const Block& block, int first, int per_node);
  void merge_up(const Block& block, int first, int count, std::span<Real> target);
  void add_folded(const Block& block, int worker, int folded, std::span<Real> target);
  std::span<Real> scratch(std::size_t level, const Block& block);

  std::vector<std::vector<Real>> scratch_;  // a block for each level of the tree
};

/// DenseMessages adds workers' messages to blocks of a dense sum, entry by entry, so that no worker
/// needs a dense copy of its list.
template <class Real>
class DenseMessages {
 public:
  DenseMessages(const Cluster& cluster, const Contributions<Real>& contributions)
      : cluster_(cluster), contributions_(contributions) {}

  /// Adds the numbers of a worker of this process, from `begin` on, to the block.
  void operator()(int worker, std::size_t begin, std::span<Real> block) const {
    const auto& [message, accumulator] = contributions_.of_workers[cluster_.slot(worker)];
    if (message->everything) {
      const auto part = accumulator.subspan(begin, block.size());
      std::transform(block.begin(), block.end(), part.begin(), block.begin(), std::plus<Real>());
    } else {
      add_entries(message->entries, begin, block);
    }
  }

 private:
  /// Adds the entries whose index lies in the block.
  static void add_entries(const SparseVector<Real>& entries,
                          std::size_t begin,
                          std::span<Real> block) {
    const auto& indices = entries.indices;
    const auto first = std::lower_bound(indices.begin(), indices.end(), begin);
    for (auto i = static_cast<std::size_t>(first - indices.begin());
         i < indices.size() && indices[i] < begin + block.size();
         ++i) {
      block[indices[i] - begin] += entries.values[i];
    }
  }

  const Cluster& cluster_;
  const Contributions<Real>& contributions_;
};

}  // namespace residuum
