#pragma once
// The ledger counts what workers send to each other, for all aggregators in one way. Every exchange
// is charged as the messages of a stated algorithm, wherever the workers live; what processes
// really send (blocks of several workers, MPI's own trees) does not count.

#include <cstddef>
#include <cstdint>

#include "core/cluster/cluster.h"
#include "core/messages/traffic.h"

namespace residuum {

class Ledger {
 public:
  explicit Ledger(const Cluster& cluster) : cluster_(cluster) {}

  /// Charges one message along an edge to its sender.
  void carry(int from, std::size_t bytes) { traffic_.bytes += cluster_.here(from) ? bytes : 0; }

  /// Charges the rounds: so many messages follow one another on the critical path. Their bytes are
  /// charged by carry().
  void wait(std::uint64_t rounds) { traffic_.rounds += rounds; }

  /// Charges a list that a worker sends to every other. All do so by recursive doubling, whose
  /// rounds are charged once by wait().
  void send_to_all(int from, std::size_t bytes) { carry(from, others() * bytes); }

  /// Charges a pass along the binary tree of tree_rounds.h: down from worker 0, or up to it in
  /// messages of equal length. The bytes are charged on the process of worker 0.
  void pass_tree(std::size_t bytes) {
    carry(0, others() * bytes);
    wait(tree_depth());
  }

  /// Charges a sum that worker p sends on to p+1, and its way back along the chain.
  void pass_chain(std::size_t bytes) {
    for (int worker = cluster_.first(); worker < cluster_.first() + cluster_.count(); ++worker) {
      carry(worker, worker < cluster_.workers() - 1 ? bytes : 0);
      carry(worker, worker > 0 ? bytes : 0);
    }
    wait(2 * others());
  }

  /// Returns the rounds of recursive doubling and of the tree.
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
