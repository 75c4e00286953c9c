#pragma once
// A lockstep loop exchanges after every worker has taken the same number of gradients, and makes
// one version of the model of each exchange.

#include <cstdint>
#include <memory>

#include "core/protocols/protocol.h"

namespace residuum {

template <class Real>
class LockstepLoop final : public Loop {
 public:
  /// Between two exchanges every worker takes `local_steps` gradients.
  LockstepLoop(Stage<Real>& stage, std::uint64_t local_steps)
      : stage_(stage),
        exchange_(stage.aggregator().template exchange<Real>()),
        local_steps_(local_steps) {}

  StepEnd advance(std::uint64_t t) override {
    const auto workers = static_cast<std::uint64_t>(stage_.cluster().workers());
    stage_.begin(t, t * local_steps_ * workers);
    stage_.compute(local_steps_);
    const StepEnd end = stage_.form();
    if (end.diverged()) {
      return end;
    }
    exchange_->combine(stage_.cluster(), stage_.contributions(), delivery_);
    stage_.update(delivery_);
    stage_.settle(delivery_);
    return end;
  }

 private:
  Stage<Real>& stage_;
  std::unique_ptr<Exchange<Real>> exchange_;
  Delivery<Real> delivery_;
  std::uint64_t local_steps_;
};

}  // namespace residuum
