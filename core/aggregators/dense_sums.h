#pragma once
// DenseSums takes a sum over all workers in the order of an all-reduce other than the chain
// (all_reduce.h). The order is defined on workers, so that the sum has the same bits at any number
// of processes. Partial sums go from process to process block by block: a process holds d numbers
// and a few blocks, however many workers it has. All processes go through the blocks and their
// messages in one order.

#include <span>
#include <vector>

#include "core/aggregators/all_reduce.h"
#include "core/aggregators/dense_messages.h"

namespace residuum {

template <class Real>
class DenseSums {
 public:
  /// sum := the sum of all workers' messages, on every process.
  void take(const AllReduce& rule,
            const Cluster& cluster,
            const DenseMessages<Real>& messages,
            std::span<Real> sum);

 private:
  /// A block of the sum, from the number `begin` on.
  struct Block {
    const Cluster& cluster;
    const DenseMessages<Real>& messages;
    std::size_t begin;
    std::span<Real> sum;
  };

  void go_round(const Block& block, int last_node, int per_node);
  void add_node(const Block& block, int first, int per_node);
  void climb(const Block& block, int first, int count, std::span<Real> target);
  void add_folded(const Block& block, int worker, int folded, std::span<Real> target);
  std::span<Real> scratch(std::size_t level, const Block& block);

  std::vector<std::vector<Real>> scratch_;  // a block for each level of the tree
};

}  // namespace residuum
