#pragma once
// A lockstep loop exchanges after every worker that takes part has taken the same number of
// gradients, and makes one version of the model of each exchange.

#include <cstdint>
#include <optional>

#include "core/protocols/participant_exchange.h"
#include "core/protocols/protocol.h"
#include "core/protocols/virtual_time.h"

namespace residuum {

template <class Real>
class LockstepLoop final : public Loop {
 public:
  /// Between two exchanges every worker that takes part takes `local_steps` gradients. The machine
  /// says how long they take in virtual time.
  LockstepLoop(Stage<Real>& stage, std::uint64_t local_steps, const SimulatedMachine& machine)
      : stage_(stage),
        exchange_(stage.aggregator(), stage.cluster(), stage.participants()),
        local_steps_(local_steps),
        time_(virtual_time_of(stage.training(), machine)) {
    if (time_) {
      delivery_.transfers = time_->transfers();
      stage_.time_workers(time_->measures_compute(), time_->measures_local());
    }
  }

  StepEnd advance(std::uint64_t t) override {
    const auto workers = static_cast<std::uint64_t>(stage_.participants().count());
    stage_.begin(t, t * local_steps_ * workers);
    stage_.compute(local_steps_);
    const StepEnd end = stage_.form();
    if (end.diverged()) {
      return end;
    }
    exchange_.combine(stage_.contributions(), delivery_);
    if (time_) {
      time_->advance(t * local_steps_, local_steps_, stage_.seconds());
      stage_.show_network(time_->view());
    }
    stage_.update(delivery_);
    stage_.update_residual(delivery_);
    return end;
  }

  void visit(RunState& state) override {
    exchange_.visit(stage_.contributions(), state);
    if (time_) {
      time_->visit(state);
    }
  }

 private:
  Stage<Real>& stage_;
  ParticipantExchange<Real> exchange_;
  Delivery<Real> delivery_;
  std::uint64_t local_steps_;
  std::optional<VirtualTime> time_;
};

}  // namespace residuum
