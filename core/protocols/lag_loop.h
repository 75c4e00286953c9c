#pragma once
// A lag loop is bulk-synchronous training whose exchanges last while later gradients are computed
// (DeCo-SGD, arXiv 2507.17346). Round r is one gradient of every worker. With a lag of tau >= 1, in
// the symbols of the papers, for every worker p:
//   G^p_r is taken at w_u, u = max(0, r - tau);
//   a^p = e^p + eta_u G^p_r;  s^p_r = C(a^p);  e^p = a^p - s^p_r;
//   w_{r+1} = w_r - (1/P) sum_p s^p_r.
// The paper writes the same as Delta_t = C(e_{t-tau} + g_{t-tau}). Its first tau iterations change
// no model. They are no versions here: w_t is the paper's x_{t+tau}.
//
//   tau = 2      w_0                             w_1             w_2
//   gradients     | round 0 | round 1 | round 2 | ... round 3 | ... round 4 |
//   exchanges               |---- round 0 ------|
//                                     |---- round 1 ------------|
//
// Round 3 begins when w_1 is there, which is made of round 0. Exchanges may overlap with one
// another, too (LaggedTimes in network_clocks.h has their virtual time).
//
// A message that waits for its exchange is in no residual and will be in one version, so that
// nothing is lost. A worker must know its residual before the exchange: the aggregator applies
// whole messages.
//
// Every process has the messages of all workers, and adds them up alone: the bits are the same at
// any number of processes.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/protocols/late_version.h"
#include "core/protocols/protocol.h"
#include "core/protocols/virtual_time.h"

namespace residuum {

template <class Real>
class LagLoop final : public Loop {
 public:
  /// The lag tau is at least 1. The machine says how long gradients take in virtual time.
  LagLoop(TrainingState<Real>& state, std::uint64_t lag, const SimulatedMachine& machine);

  StepEnd advance(std::uint64_t t) override;
  SpentSoFar spent() const override {
    return {.gradients = version_.gradients(), .virtual_s = time_ ? time_->seconds() : 0};
  }
  void save_or_load(RunState& state) override;

 private:
  /// The messages of one gradient of every worker, in worker order.
  using Round = LateMessages<Real>;

  void take_round(std::uint64_t round, std::uint64_t version, double step_size, bool splits);
  std::unique_ptr<LateMessage<Real>> blank(int worker);
  void compute(std::uint64_t round, double step_size);
  void compute_half(std::uint64_t round, Round& made);
  void make_message(std::uint64_t round, std::uint64_t version, double step_size, Round& made);
  void save_or_load_numbers(ActorState& state);

  TrainingState<Real>& state_;
  const Cluster& cluster_;
  std::uint64_t lag_;  // tau
  bool measures_;
  LateVersion<Real> version_;
  std::deque<Round> under_way_;  // rounds t .. t + tau - 1 between versions t and t + 1
  StepEnd broken_;               // what a worker of this process has found
  LocalSeconds seconds_;
  std::optional<VirtualTime> time_;
};

}  // namespace residuum
