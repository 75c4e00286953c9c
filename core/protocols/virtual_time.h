#pragma once
// Virtual time of a run in lockstep on each network of its training. The root has one clock set per
// network, and one for each local part (gradients; with selection; with merges) on a network that
// takes no time, so that their differences tell where the time goes. With overlap, exchanges begin
// layer by layer while gradients are computed, and the messages' time is what they do not hide.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/cluster/run_state.h"
#include "core/measurement/step_view.h"
#include "core/protocols/layer_exchanges.h"
#include "core/protocols/network_clocks.h"
#include "core/protocols/simulated_machine.h"
#include "core/training/training.h"
#include "core/training/worker.h"

namespace residuum {

class VirtualTime {
 public:
  VirtualTime(const Training& training, const SimulatedMachine& machine);

  /// Returns room for the seconds of the workers of this process, of those parts that are measured.
  LocalSeconds local_seconds() const;
  /// Returns the list that the next exchange is to fill.
  Transfers* transfers() { return &transfers_; }

  /// Moves all clocks on by a version for which each worker took `count` gradients from number
  /// `first` on, and by its exchange. The call is collective.
  void advance(std::uint64_t first, std::uint64_t count, const LocalSeconds& seconds);

  // With a lag the exchange of a round lasts while gradients of later rounds are computed. A round
  // begins once the versions before it are there; rounds begin and end in their order.

  /// Moves all clocks on by a gradient of each worker, of this number. The call is collective.
  void begin_round(std::uint64_t round, const LocalSeconds& seconds);
  /// Moves them on by the exchange of the oldest round, which makes a version. The transfers must
  /// have the amounts of all processes.
  void end_round();

  /// Returns the times up to the last version; they are right on the root.
  NetworkView view() const {
    return {.times = times_,
            .is_measured =
                measures_compute_ || transfers_.times_work() || (layers_ && layers_->is_measured()),
            .ready = layers_ ? layers_->ready() : std::span<const double>()};
  }

  /// Returns the virtual seconds up to the last version on the first network; right on the root.
  double seconds() const { return times_.front().total_s(); }

  void save_or_load(RunState& state);

 private:
  /// The parts of a version that a set of clocks follows.
  enum class Part : std::uint8_t { compute, select, merge, wire };
  struct Followed {
    Part last = Part::wire;  // and all before it
    NetworkClocks clocks;
    ExpectedTimes expected = {};  // with overlap
    LaggedTimes lagged = {};      // with a lag
    std::size_t exchanges = 1;    // of the last version
  };

  void compute(Followed& followed, std::uint64_t first, std::uint64_t count);
  void select(Followed& followed);
  void overlap(Followed& followed, std::uint64_t version);
  void move(Followed& followed, std::uint64_t first, std::uint64_t count);
  void take_times();
  void save_or_load_numbers(ActorState& state);
  double now(Part part, double before) const;
  std::vector<double> of_all_workers(const std::vector<double>& mine) const;

  const Cluster& cluster_;
  bool measures_compute_;
  Transfers transfers_;
  std::optional<LayerExchanges> layers_;  // with overlap
  std::vector<Followed> followed_;        // on the root; networks last, in their order
  std::vector<double> compute_, select_;  // seconds of all workers, empty where not measured
  std::vector<NetworkTimes> times_;
};

/// Returns the virtual time of a run in lockstep; none where the study asks for none, or for real
/// time.
std::optional<VirtualTime> virtual_time_of(const Training& training,
                                           const SimulatedMachine& machine);

}  // namespace residuum
