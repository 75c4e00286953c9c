#pragma once
// A protocol is the rule by which workers stay in step and make one version of the model after the
// other. Each has its own file and a line in registry.cc. A protocol is a rule without state; a
// Loop is its use in one run. The trainer, cadences and checkpoints only count versions and know
// nothing else of either.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/config/registry.h"
#include "core/messages/laws.h"
#include "core/protocols/training_state.h"

namespace residuum {

/// A loop is one run of a protocol. It changes the state of the training by iterations
/// (iteration.h).
class Loop {
 public:
  Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  Loop(Loop&&) = delete;
  Loop& operator=(Loop&&) = delete;
  virtual ~Loop() = default;

  /// Makes version t + 1 and returns how that ended, as the processes agree on it; if it diverged,
  /// the version was not made. If the versions before have spent the budget, it makes none and says
  /// so. The call is collective.
  virtual StepEnd advance(std::uint64_t t) = 0;
  /// Returns what the versions so far have taken of what an open budget may limit. It is right on
  /// the root.
  virtual SpentSoFar spent() const { return {}; }
  /// Saves or loads, between two versions, what the loop itself needs of those before.
  virtual void save_or_load(RunState& /*state*/) {}
};

class Protocol {
 public:
  Protocol() = default;
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;
  Protocol(Protocol&&) = delete;
  Protocol& operator=(Protocol&&) = delete;
  virtual ~Protocol() = default;

  virtual ProtocolLaw law(int workers) const = 0;

  /// Reports a usage error, with the reason, for a method, dimension or number of workers that the
  /// protocol cannot work with.
  virtual void check(const Method& /*method*/, std::size_t /*dimension*/, int /*workers*/) const {}

  /// Returns the most processes over which `workers` workers can be distributed.
  virtual int most_processes(int workers) const { return workers; }
  /// Distributes the workers over the processes, or reports a usage error with the number of
  /// processes that the protocol needs.
  virtual Cluster cluster(World& world, int workers) const { return {world, workers}; }

  /// Returns about how many gradients the workers make together in the given seconds of virtual
  /// time, if messages take none; nothing where gradients take no virtual time.
  virtual std::optional<double> gradients_within(double /*seconds*/,
                                                 const Training& /*training*/,
                                                 int /*workers*/) const {
    return std::nullopt;
  }

  /// Starts a loop, which must not outlive the protocol or the state.
  virtual std::unique_ptr<Loop> start(TrainingState<float>& state) const = 0;
  virtual std::unique_ptr<Loop> start(TrainingState<double>& state) const = 0;
};

/// Implements both overloads of `start` by a member template of this name of Derived.
template <class Derived>
class ProtocolFor : public Protocol {
 public:
  std::unique_ptr<Loop> start(TrainingState<float>& state) const final {
    return self().template start<float>(state);
  }
  std::unique_ptr<Loop> start(TrainingState<double>& state) const final {
    return self().template start<double>(state);
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

std::span<const Entry<Protocol>> protocols();

/// Builds what the section's `kind` names; the caller finishes the section.
std::unique_ptr<Protocol> make_protocol(const Section& section);

/// Returns "bsp", the default.
const Protocol& bulk_synchronous();

/// Returns the law of a run's protocol.
inline ProtocolLaw protocol_law(const Training& training) {
  const Protocol* const protocol = training.protocol;
  const int workers = training.cluster->workers();
  const ProtocolLaw law = (protocol != nullptr ? *protocol : bulk_synchronous()).law(workers);
  return with_participants(law, workers, training.participants.value_or(workers));
}

}  // namespace residuum
