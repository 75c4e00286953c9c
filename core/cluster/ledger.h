#pragma once
// The ledger counts what workers send to each other, for all aggregators in one way. Every exchange
// is charged as the messages of a stated algorithm, wherever the workers live; what processes
// really send (blocks of several workers, MPI's own trees) does not count. If virtual clocks run,
// it also lists the messages for them.

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/cluster/cluster.h"
#include "core/messages/traffic.h"
#include "core/messages/transfers.h"

namespace residuum {

/// Returns where a part begins if `size` things are divided into nearly equal parts.
constexpr std::size_t part_begin(std::size_t size, std::size_t part, std::size_t parts) {
  return part * size / parts;
}

/// Every process makes the same calls in the same order.
class Ledger {
 public:
  /// Begins the list of `transfers`, which is null where no clock runs.
  Ledger(const Cluster& cluster, Transfers* transfers) : Ledger(transfers, cluster) {
    if (transfers_ != nullptr) {
      transfers_->clear();
    }
  }
  /// Makes a ledger that goes on with the list of an exchange before it.
  static Ledger after(const Cluster& cluster, Transfers* transfers) { return {transfers, cluster}; }

  const Cluster& cluster() const { return cluster_; }

  /// Charges one message along an edge to its sender. `bytes` is read where `from` lives.
  void carry(int from, int to, std::size_t bytes) {
    const std::size_t known = cluster_.here(from) ? bytes : 0;
    traffic_.bytes += known;
    if (transfers_ != nullptr) {
      transfers_->add(Transfer::Kind::message, static_cast<double>(known), from, to);
    }
  }

  /// Charges the message of a worker to a server. Virtual clocks put the server beside worker 0,
  /// whose own message takes no time. `bytes` is read where the worker lives.
  void carry_up(int worker, std::size_t bytes) {
    if (worker == 0) {
      traffic_.bytes += cluster_.here(0) ? bytes : 0;
    } else {
      carry(worker, 0, bytes);
    }
  }
  /// Charges the message of the server to a worker, on the process of worker 0.
  void carry_down(int worker, std::size_t bytes) {
    traffic_.down += cluster_.here(0) ? bytes : 0;
    if (worker == 0) {
      traffic_.bytes += cluster_.here(0) ? bytes : 0;
    } else {
      carry(0, worker, bytes);
    }
  }

  /// Ends a round: the messages since the last round cross the network at the same time.
  void end_round() {
    ++traffic_.rounds;
    if (transfers_ != nullptr) {
      transfers_->add_row(Transfer::Kind::end_round, 0);
    }
  }

  /// Charges the lists that every worker sends to every other by Bruck's algorithm, in
  /// ceil(log2 P) rounds. `bytes` has one number for each worker of this process.
  void gather(std::span<const std::size_t> bytes) {
    std::span<double> amounts;
    if (transfers_ != nullptr) {
      amounts = transfers_->add_row(Transfer::Kind::all_gather, workers());
    }
    for (std::size_t slot = 0; slot < bytes.size(); ++slot) {
      traffic_.bytes += others() * bytes[slot];
      if (!amounts.empty()) {
        amounts[static_cast<std::size_t>(cluster_.first()) + slot] =
            static_cast<double>(bytes[slot]);
      }
    }
    traffic_.rounds += tree_depth();
  }

  /// Charges messages of equal length along the binary tree of transfers.h, up to worker 0 or
  /// down from it. The bytes are charged on the process of worker 0.
  void pass_up(std::size_t bytes) { pass_tree(Transfer::Kind::tree_up, bytes); }
  void pass_down(std::size_t bytes) { pass_tree(Transfer::Kind::tree_down, bytes); }

  /// Charges a sum that worker p sends on to p+1, and its way back along the chain.
  void pass_chain(std::size_t bytes) {
    for (int worker = cluster_.first(); worker < cluster_.first() + cluster_.count(); ++worker) {
      traffic_.bytes += worker < cluster_.workers() - 1 ? bytes : 0;
      traffic_.bytes += worker > 0 ? bytes : 0;
    }
    traffic_.rounds += 2 * others();
    add_on_root(Transfer::Kind::chain, static_cast<double>(bytes));
  }

  /// Charges the sum of vectors of `values` values by a ring over the first workers of all nodes of
  /// `per_node` workers. The ring has 2 (n-1) rounds for n nodes; in each a node sends one of n
  /// nearly equal chunks to the next. In n-1 of them worker i of the ring sends all chunks but i,
  /// in the other n-1 all but i+1.
  void pass_ring(std::size_t values, std::size_t value_bytes, int per_node = 1) {
    const std::size_t nodes = workers() / static_cast<std::size_t>(per_node);
    pass_ring_of(nodes, per_node, [&](std::size_t i) {
      return (part_begin(values, i + 1, nodes) - part_begin(values, i, nodes)) * value_bytes;
    });
  }
  /// Charges the ring for chunks of the given bytes, one for each worker.
  void pass_ring(std::span<const std::size_t> chunks) {
    pass_ring_of(chunks.size(), 1, [&](std::size_t i) { return chunks[i]; });
  }

  /// Charges vectors of equal length that pairs of workers exchange in log2 m rounds, m being the
  /// largest power of two that is at most P. Worker p >= m sends its own to p - m before, and gets
  /// the sum after.
  void pass_doubling(std::size_t bytes) {
    const auto whole = static_cast<int>(std::bit_floor(workers()));
    const int rounds = ceil_log2(whole);
    for (int worker = cluster_.first(); worker < cluster_.first() + cluster_.count(); ++worker) {
      const bool has_folded = worker < whole && worker + whole < cluster_.workers();
      const int sent = worker < whole ? rounds + (has_folded ? 1 : 0) : 1;
      traffic_.bytes += static_cast<std::size_t>(sent) * bytes;
    }
    const bool folds = cluster_.workers() > whole;
    traffic_.rounds += static_cast<std::uint64_t>(rounds + (folds ? 2 : 0));
    add_on_root(Transfer::Kind::doubling, static_cast<double>(bytes));
  }

  /// Does what the worker has to do with the messages that it has, if it lives here. Its seconds
  /// are charged to the worker's clock where they are wanted.
  template <class Work>
  void work(int worker, const Work& work) {
    const double seconds = cluster_.here(worker) ? timed(work) : 0;
    if (times_work()) {
      transfers_->add(Transfer::Kind::work, seconds, 0, worker);
    }
  }

  /// Does what `count` workers from `first` on do alike, once on every process that has some of
  /// them; the seconds are charged to the clock of each.
  template <class Work>
  void work_group(int first, int count, const Work& work) {
    const bool is_here =
        first < cluster_.first() + cluster_.count() && cluster_.first() < first + count;
    const double seconds = is_here ? timed(work) : 0;
    for (int worker = first; times_work() && worker < first + count; ++worker) {
      transfers_->add(Transfer::Kind::work, cluster_.here(worker) ? seconds : 0, 0, worker);
    }
  }

  /// Runs work that each worker would do itself. Charges `share` times the root's measured seconds
  /// to every worker.
  template <class Work>
  void work_all(const Work& work, double share = 1) {
    const double seconds = timed(work);
    if (times_work()) {
      add_on_root(Transfer::Kind::work_all, seconds * share);
    }
  }

  /// Returns the rounds of Bruck's algorithm and of the tree.
  std::uint64_t tree_depth() const {
    return static_cast<std::uint64_t>(ceil_log2(cluster_.workers()));
  }

  /// Returns which part of the work of a sum over P workers lies on the critical path of the tree.
  double level_share() const {
    return static_cast<double>(tree_depth()) / static_cast<double>(workers());
  }

  const Traffic& traffic() const { return traffic_; }

 private:
  Ledger(Transfers* transfers, const Cluster& cluster) : cluster_(cluster), transfers_(transfers) {}

  /// Charges a ring of `nodes` nodes, whose chunk i has bytes_of(i) bytes.
  template <class BytesOf>
  void pass_ring_of(std::size_t nodes, int per_node, const BytesOf& bytes_of) {
    std::size_t all = 0;
    for (std::size_t node = 0; node < nodes; ++node) {
      all += bytes_of(node);
    }
    std::span<double> amounts;
    if (transfers_ != nullptr) {
      amounts = transfers_->add_row(Transfer::Kind::ring, nodes, per_node);
    }
    for (std::size_t node = 0; node < nodes; ++node) {
      const bool sends = cluster_.here(static_cast<int>(node) * per_node);
      const std::size_t kept = bytes_of(node) + bytes_of((node + 1) % nodes);
      traffic_.bytes += sends ? 2 * all - kept : 0;
      if (!amounts.empty() && cluster_.world().is_root()) {
        amounts[node] = static_cast<double>(bytes_of(node));
      }
    }
    traffic_.rounds += 2 * (nodes - 1);
  }

  using Clock = std::chrono::steady_clock;

  std::size_t workers() const { return static_cast<std::size_t>(cluster_.workers()); }
  std::size_t others() const { return workers() - 1; }
  bool times_work() const { return transfers_ != nullptr && transfers_->times_work(); }

  void pass_tree(Transfer::Kind kind, std::size_t bytes) {
    traffic_.bytes += cluster_.here(0) ? others() * bytes : 0;
    traffic_.rounds += tree_depth();
    add_on_root(kind, static_cast<double>(bytes));
  }

  /// Lists a step whose amount all processes know; the root's alone counts.
  void add_on_root(Transfer::Kind kind, double amount) {
    if (transfers_ != nullptr) {
      transfers_->add(kind, cluster_.world().is_root() ? amount : 0);
    }
  }

  /// Returns the seconds that `work` takes, or 0 where they are not wanted.
  template <class Work>
  double timed(const Work& work) {
    if (!times_work()) {
      work();
      return 0;
    }
    const auto begin = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  const Cluster& cluster_;
  Transfers* transfers_;
  Traffic traffic_;
};

}  // namespace residuum
