#pragma once
// What workers send to each other, counted once for all aggregators. Every exchange that the
// workers make is charged as the messages of a stated algorithm, wherever the workers live: what
// processes really send (blocks of several workers, MPI's own trees) does not enter.

#include <cstddef>
#include <cstdint>

#include "core/cluster/cluster.h"
#include "core/messages/traffic.h"

namespace residuum {

class Ledger {
 public:
  explicit Ledger(const Cluster& cluster) : cluster_(cluster) {}

  /// One message along an edge.
  void carry(int from, std::size_t bytes) { traffic_.bytes += cluster_.here(from) ? bytes : 0; }

  /// So many messages one after the other; of edges that were carried.
  void wait(std::uint64_t rounds) { traffic_.rounds += rounds; }

  /// The worker sends its list to every other; all do so by recursive doubling, for which `wait` is
  /// charged once.
  void send_to_all(int from, std::size_t bytes) { carry(from, others() * bytes); }

  /// Along the binary tree of tree_rounds.h: down from worker 0, or up to it in parts that are all
  /// as long. Charged where worker 0 lives.
  void pass_tree(std::size_t bytes) {
    carry(0, others() * bytes);
    wait(tree_depth());
  }

  /// A sum that worker p sends on to p+1, and the result back along the chain.
  void pass_chain(std::size_t bytes) {
    for (int worker = 0; worker < cluster_.workers(); ++worker) {
      carry(worker, worker < cluster_.workers() - 1 ? bytes : 0);
      carry(worker, worker > 0 ? bytes : 0);
    }
    wait(2 * others());
  }

  /// Rounds of recursive doubling and of the tree.
  std::uint64_t tree_depth() const {
    return static_cast<std::uint64_t>(ceil_log2(cluster_.workers()));
  }

  const Traffic& traffic() const { return traffic_; }

 private:
  std::size_t others() const { return static_cast<std::size_t>(cluster_.workers() - 1); }

  const Cluster& cluster_;
  Traffic traffic_;
};

}  // namespace residuum
