#pragma once
// Protocols with late gradients have in common the keys that describe the machine of the
// simulation, the methods that they can work with, and their start, in a simulation or on real
// processes.

#include <cstdint>
#include <memory>
#include <string>

#include "core/protocols/late_loop.h"
#include "core/protocols/protocol.h"
#include "core/protocols/simulated_machine.h"

namespace residuum {

/// Reads a whole number of at least `least`, or "unlimited".
std::uint64_t read_limit(const Section& section,
                         const std::string& key,
                         std::int64_t least,
                         const nlohmann::json& fallback);

class LateProtocol : public ProtocolFor<LateProtocol> {
 public:
  ProtocolLaw law(int workers) const final;
  void check(const Method& method, std::size_t dimension, int workers) const final;
  int most_processes(int workers) const final;
  Cluster cluster(World& world, int workers) const final;
  std::optional<double> gradients_within(double seconds,
                                         const Training& training,
                                         int workers) const final;
  template <class Real>
  std::unique_ptr<Loop> start(TrainingState<Real>& state) const;

 protected:
  explicit LateProtocol(const Section& section);

  /// Returns the actors of a run of `workers` workers and `versions` versions, or reports a usage
  /// error.
  virtual Cast cast(int workers, std::uint64_t versions) const = 0;
  /// Returns the law, wherever the workers run.
  virtual ProtocolLaw late_law(int workers) const = 0;
  virtual Weights weights() const { return Weights::plain; }

 private:
  int workers_of_part(int workers) const;

  std::string name_;
  std::string place_;  // of `kind`, for messages
  SimulatedMachine machine_;
};

}  // namespace residuum
