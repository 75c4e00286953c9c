#pragma once
// A lockstep loop exchanges after every worker that takes part has taken the same number of
// gradients, and makes one version of the model of each exchange.

#include <cstdint>
#include <optional>
#include <utility>

#include "core/protocols/iteration.h"
#include "core/protocols/protocol.h"
#include "core/protocols/real_time.h"
#include "core/protocols/virtual_time.h"
#include "core/training/memory_averages.h"

namespace residuum {

template <class Real>
class LockstepLoop final : public Loop {
 public:
  /// Between two exchanges every worker that takes part takes `local_steps` gradients. The machine
  /// says how long they take, in virtual or real time.
  LockstepLoop(TrainingState<Real>& state,
               std::uint64_t local_steps,
               const SimulatedMachine& machine)
      : state_(state),
        exchange_(state.aggregator(), state.cluster(), state.participants()),
        local_steps_(local_steps),
        time_(virtual_time_of(state.training(), machine)),
        real_time_(real_time_of(state.training(), machine)) {
    if (time_) {
      exchanged_.transfers = time_->transfers();
      seconds_ = time_->local_seconds();
    }
  }

  StepEnd advance(std::uint64_t t) override {
    if (const auto over = state_.end_if_spent(spent())) {
      return *over;
    }
    const auto workers = static_cast<std::uint64_t>(state_.participants().count());
    LockstepIteration<Real> begun(state_, t, t * local_steps_ * workers);
    if (real_time_) {
      real_time_->begin();
    }
    Computed<Real> computed = std::move(begun).compute(local_steps_, seconds_);
    if (real_time_) {
      computed.wait([&] {
        real_time_->await_gradients(state_.participants(), t * local_steps_, local_steps_);
      });
    }
    auto [end, compressed] = std::move(computed).compress(seconds_);
    if (!compressed) {
      return end;
    }
    Combined<Real> combined = std::move(*compressed).combine(exchange_, exchanged_);
    averages_.take(t, state_.training(), state_.workers(), exchanged_);
    if (time_) {
      time_->advance(t * local_steps_, local_steps_, seconds_);
      combined.show_network(time_->view());
    }
    Updated<Real> updated = std::move(combined).update();
    if (real_time_) {
      updated.show_wall_time(real_time_->now());
    }
    std::move(updated).update_residuals();
    return end;
  }

  SpentSoFar spent() const override { return {.virtual_s = time_ ? time_->seconds() : 0}; }

  void save_or_load(RunState& state) override {
    exchange_.save_or_load(state_.without_messages(), state);
    if (time_) {
      time_->save_or_load(state);
    }
    if (real_time_) {
      real_time_->save_or_load(state);
    }
  }

 private:
  TrainingState<Real>& state_;
  ParticipantExchange<Real> exchange_;
  MemoryAverages<Real> averages_;
  ExchangeResult<Real> exchanged_;
  std::uint64_t local_steps_;
  LocalSeconds seconds_;
  std::optional<VirtualTime> time_;
  std::optional<RealTime> real_time_;
};

}  // namespace residuum
