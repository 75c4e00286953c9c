#pragma once
// A LateLoop trains with a protocol whose gradients may be late: the actors of the protocol
// (actors/actor.h) run in a simulation, which decides who computes at which version and what a
// version is made of, and the loop computes the gradients and makes the versions. In the symbols of
// the papers, when worker p hands in a gradient that it has taken at version u:
//   a^p = e^p + eta_u G^p(w_u);  s^p = C(a^p);  e^p = a^p - s^p,
// and when version t + 1 is made of the messages i = 1 .. b that have reached the server:
//   w_{t+1} = w_t - (1/b) sum_i s_i.
// A worker updates its residual as soon as it hands in its message: a message under way is in no
// residual, and will be in one version. This needs an aggregator that applies whole messages.
// late_version.h has the weights that messages can have.
//
//   version     w_0              w_1           w_2          w_3        -> virtual time
//   worker 0     |---- G(w_0) ----|--------- G(w_1) ---------|-- G(w_3) ----
//   worker 1     |----------- G(w_0) -----------|----- G(w_2) ------
//
// w_1 is made of worker 0's G(w_0), w_2 of worker 1's, which is one version late, and w_3 of
// G(w_1).
//
// `advance` makes one version: it runs the simulation until the server has what it waits for.
// Meanwhile the actors call back, in the order of virtual time:
//   compute       a gradient begins: it is computed at once, at a kept model
//   hand_in       it ends: the worker forms its message, which becomes pending
//   collect       the messages of a node are summed for its server
//   make_version  the pending messages that the version is made of are added to it
//
// All processes run the same simulation. A message is sent to all of them when it is handed in, and
// each adds up the messages of a version alone, in the order of workers: the bits are the same at
// any number of processes.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/protocols/actors/simulation.h"
#include "core/protocols/late_version.h"
#include "core/protocols/protocol.h"

namespace residuum {

template <class Real>
class LateLoop final : public Loop, private Effects {
 public:
  LateLoop(TrainingState<Real>& state, Cast cast, MachineOptions machine, Weights weights);

  StepEnd advance(std::uint64_t t) override;
  SpentSoFar spent() const override {
    return {.gradients = version_.gradients(), .virtual_s = simulation_.time()};
  }
  void save_or_load(RunState& state) override;

 private:
  /// A version at which gradients may still begin.
  struct KeptModel {
    std::uint64_t version = 0;
    double step_size = 0;
    std::vector<Real> model;
  };

  StepEnd end_at_workers() const;
  void compute(const GradientId& gradient) override;
  void hand_in(const GradientId& gradient, int node) override;
  void collect(int node, std::span<const GradientId> gradients) override;
  void make_version(std::uint64_t version, std::span<const GradientId> gradients) override;
  void discard(const GradientId& gradient) override;
  void waited(Wait /*cause*/, double /*seconds*/) override {}  // the simulation counts waits
  std::uint64_t payload_bytes(const ActorMessage& message) override;

  void keep_model(std::uint64_t version, double step_size);
  const KeptModel& kept(std::uint64_t version) const;
  void make_message(const GradientId& gradient, LateMessage<Real>& late_message);
  std::unique_ptr<LateMessage<Real>> take_pending(const GradientId& gradient);
  void save_or_load_numbers(ActorState& state);
  void check_numbers() const;

  TrainingState<Real>& state_;
  const Training& training_;
  const Cluster& cluster_;
  std::size_t d_;
  LateVersion<Real> version_;
  bool splits_ = false;  // the version in the making shows how noisy gradients are
  Roster roster_;
  Simulation simulation_;
  bool measures_;

  std::deque<KeptModel> kept_;           // by version
  std::size_t kept_before_pruning_ = 2;  // versions are looked through when there are more
  std::vector<std::deque<std::unique_ptr<LateMessage<Real>>>>
      pending_;                            // of each worker, by number
  std::vector<std::uint64_t> node_bytes_;  // of the sums last collected
  std::vector<std::uint8_t> has_noise_;    // the worker's gradient in the making shows its noise
  std::vector<double> steps_;              // eta of each worker's gradient in the making
  std::vector<std::uint8_t> is_broken_;    // the worker's gradient or accumulator is not finite
  bool any_is_broken_ = false;
  LateMessages<Real> arrived_;        // of which the next version is made
  std::vector<std::uint32_t> union_;  // room for the indices of a node's sum
};

}  // namespace residuum
