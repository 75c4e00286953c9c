#pragma once
// DenseSums takes a sum over all workers in the order of an all-reduce (all_reduce.h). The order is
// defined on workers, so that the sum has the same bits at any number of processes, unless
// MPI_Allreduce may choose one (`reduction`). But for the chain of cluster.h, partial sums go from
// process to process block by block: a process holds d numbers and a few blocks, however many
// workers it has. All processes go through the blocks and their messages in one order.

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/aggregators/all_reduce.h"
#include "core/cluster/ledger.h"

namespace residuum {

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
