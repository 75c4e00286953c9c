#pragma once
// Network clocks tell how long a worker in lockstep would take on a cluster with a network: each
// worker has a clock, gradients and selections move it on, and an exchange is replayed message by
// message as its ledger has listed it (ledger.h). Any number of workers and networks is followed in
// one run, whose numbers do not depend on them.

#include <cstddef>
#include <span>
#include <vector>

#include "core/cluster/link_model.h"
#include "core/messages/transfers.h"
#include "core/protocols/actors/machine.h"

namespace residuum {

/// When each worker began its gradient, had it, and had selected from it.
struct LocalTimes {
  std::vector<double> began = {};
  std::vector<double> computed = {};
  std::vector<double> selected = {};
};

/// A part of an exchange begins while gradients are computed. A worker takes part in it when the
/// fractions `ready` of the time of its gradient and `selected` of that of its selection are over.
struct ExchangePart {
  double ready = 1;
  double selected = 1;
  double share = 1;  // of the bytes and of the work between messages
};

class NetworkClocks {
 public:
  /// With a network of zero links, messages take no time. `machine` says how long gradients take.
  NetworkClocks(NetworkModel network, MachineOptions machine, int workers);

  /// Moves every worker on by `count` gradients, the first of which is its gradient `first`.
  void compute(std::uint64_t first, std::uint64_t count);
  /// Moves every worker on by its seconds.
  void wait(std::span<const double> seconds);
  /// Replays an exchange; work between messages takes no time unless `with_work`.
  void exchange(const Transfers& transfers, bool with_work);
  /// Replays an exchange in parts, which follow one another over the same ports. Workers whose
  /// clocks are at `local.selected` have begun with them before.
  void exchange_in_parts(std::span<const ExchangePart> parts,
                         const LocalTimes& local,
                         const Transfers& transfers,
                         bool with_work);
  /// Replays an exchange on ports that are idle before it and after it. Returns for how long it
  /// keeps the busiest port or worker busy: as often at most can such exchanges follow one another.
  double exchange_alone(const Transfers& transfers, bool with_work);
  /// Returns what the share of an exchange would take if all workers were idle.
  double seconds_of(double share, const Transfers& transfers, bool with_work) const;

  /// Sets the time at which each worker is done; there are as many times as workers.
  void set_times(std::span<const double> times) { clocks_.assign(times.begin(), times.end()); }
  /// Returns the time at which each worker is done.
  std::span<const double> times() const { return clocks_; }
  /// Returns the time at which the last worker is done.
  double now() const;

  /// Saves or loads all numbers, between two exchanges.
  void save_or_load(ActorState& state);

 private:
  std::size_t workers() const { return clocks_.size(); }
  /// A message of the round that is replayed, on its way.
  struct Message {
    Port* port;         // that receives it
    std::size_t place;  // of that port's seconds in `busy_`
    std::size_t to;     // worker
    double arrival;     // if the port is free
    double busy;        // seconds of the port
    const LinkModel* link;
  };

  void replay(const Transfers& transfers, bool with_work);
  void send(std::size_t from, std::size_t to, double bytes);
  void end_round();
  void gather(std::span<const double> bytes);
  void pass_tree(bool is_up, double bytes);
  void pass_chain(double bytes);
  void pass_ring(std::span<const double> bytes, std::size_t per_node);
  void pass_doubling(double bytes);

  NetworkModel network_;
  Machine machine_;
  std::vector<double> clocks_;  // of the workers, at the beginning of the round
  std::vector<double> work_;    // seconds of each worker once it has received what is sent to it
  double share_ = 1;            // of the exchange that is replayed
  std::vector<Message> round_;
  std::vector<Port> of_nodes_, of_workers_;
  // Seconds for which the exchanges so far have kept what sends and what receives of nodes, the
  // same of workers, and the workers themselves busy: five rows of a number for each worker.
  std::vector<double> busy_;
  std::vector<std::vector<Edge>> tree_;  // rounds up to worker 0
  std::vector<double> sums_;             // bytes of the lists before each one
};

/// Lagged times let the exchanges of a worker run beside its gradients, and beside one another: an
/// exchange begins at a worker that has its message, and a gradient at one that has the newest
/// version. Exchanges share ports and workers. Each ends later than the one before by what keeps
/// the busiest of them busy, at least. That is exact for a single message of every worker; messages
/// of several rounds are taken to fill the gaps of other exchanges.
///
/// Gradients of c seconds, exchanges that take x alone and keep a port busy for b <= x, and a lag
/// of tau make a version take in the long run
///   max(c, b, (c + x)/(tau + 1)):
/// the longest mean of the cycles gradient -> next gradient, exchange -> next exchange, and
/// gradient
/// -> its exchange -> the gradient tau + 1 rounds later. A lag hides latency, but not bandwidth.
class LaggedTimes {
 public:
  /// Puts the clocks to where each worker begins its next gradient.
  void begin_round(NetworkClocks& clocks);
  /// Records that the workers have their messages now.
  void compressed(const NetworkClocks& clocks);
  /// Puts the clocks to where each worker begins the exchange of the oldest round under way.
  void begin_exchange(NetworkClocks& clocks);
  /// Puts the clocks, which have been moved on by the exchange alone, to where each worker has its
  /// result. `busy` are the seconds of the busiest port.
  void end_exchange(double busy, NetworkClocks& clocks);

  /// Saves or loads all times; loaded ones are of `workers` workers.
  void save_or_load(ActorState& state, std::size_t workers);

 private:
  std::vector<std::vector<double>> messages_;  // when workers had them, of rounds under way
  std::vector<double> last_message_;
  std::vector<double> last_result_;
};

}  // namespace residuum
