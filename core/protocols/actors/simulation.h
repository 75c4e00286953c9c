#pragma once
// A simulation runs the actors of an asynchronous protocol as discrete events in virtual time. The
// actors' own steps take no time; gradients and messages take what the machine says. Two
// simulations of the same cast, machine and seed call the same effects in the same order.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/protocols/actors/actor.h"
#include "core/protocols/actors/event_queue.h"
#include "core/protocols/actors/machine.h"
#include "core/protocols/actors/simulated_version.h"

namespace residuum {

class Simulation final : private Outbox {
 public:
  /// Reports a usage error if the machine does not fit the cast. `driver` must outlive this object.
  Simulation(Cast cast, MachineOptions machine, Effects& driver);

  /// Runs events until the next version is made and returns notes about it. After the last version
  /// it runs the events that are left, in which the workers end, and returns nothing.
  std::optional<SimulatedVersion> advance();

  /// Returns the versions that were made.
  std::uint64_t made() const { return log_.made(); }
  /// Returns the virtual time in seconds.
  double time() const { return time_; }

  /// Returns, between two versions, the versions of the model at which gradients may still begin:
  /// the last one, those kept by nodes and those under way; ascending. A driver that computes
  /// gradients in Effects::compute may free all others.
  std::vector<std::uint64_t> needed_versions() const;

  /// Returns, between two versions, all that a simulation of the same cast and machine needs in
  /// order to go on with the same events.
  std::vector<std::byte> save();
  /// Replaces the state by a saved one. Reports a usage error if the bytes do not fit.
  void load(std::span<const std::byte> saved);

 private:
  void send(ActorId to, ActorMessage message) override;
  void work(Work kind, ActorMessage when_done) override;
  double now() const override { return time_; }
  Effects& effects() override { return log_; }

  void begin();
  void run_event();
  void visit(ActorState& state);

  Cast cast_;
  Machine machine_;
  VersionLog log_;
  EventQueue queue_;
  std::vector<std::uint64_t> messages_sent_;  // of each actor
  double time_ = 0;
  ActorId acting_ = 0;
  std::uint8_t has_begun_ = 0;
  bool was_loaded_ = false;  // from a saved state, which somebody may have changed
};

}  // namespace residuum
