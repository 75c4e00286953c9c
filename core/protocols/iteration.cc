#include "core/protocols/iteration.h"

#include "core/training/worker_gradient.h"

namespace residuum {

template <class Real>
Iteration<Real>::Iteration(TrainingState<Real>& state, std::uint64_t t, std::uint64_t gradients)
    : state_(&state), t_(t) {
  begin(gradients);
  evaluate_points();
}

/// Draws who takes part, and sets eta_t.
template <class Real>
void Iteration<Real>::begin(std::uint64_t gradients) {
  const Training& training = state().training_;
  state().participants_.draw(t_);
  epoch_ = state().epoch_after(gradients);
  eta_ = state().method_.step_rule->at(t_, epoch_);
  measured_ = training.plan.measures(t_);
  splits_ = measured_ && is_due(training.plan.split, t_) && can_split(training);
  mark_ = measured_ ? Clock::now() : mark_;
}

template <class Real>
void Iteration<Real>::evaluate_points() {
  if (t_ >= state().averaged_) {
    state().evaluations_.average(t_, state().model_);
    state().averaged_ = t_ + 1;
  }
  if (measured_) {
    const auto statistics = mean_statistics<Real>(state().training_, state().workers_);
    state().evaluations_.evaluate_points(t_,
                                         {.model = state().model_,
                                          .virtual_iterate = measurement().virtual_iterate(),
                                          .unperturbed = measurement().unperturbed_iterate()},
                                         statistics);
    test_ = is_due(state().training_.plan.tested, t_) ? state().tested(statistics) : std::nullopt;
  }
  lap(&StepTimes::measure_s);
}

template <class Real>
StepEnd Iteration<Real>::agree(const StepEnd& seen) const {
  return residuum::agree(state().cluster_.world(), state().own_end(seen));
}

template <class Real>
template <class Next>
Agreed<Next> Iteration<Real>::next_after(const StepEnd& end) {
  return {.end = end,
          .next = end.diverged() ? std::nullopt : std::optional<Next>(Next(std::move(*this)))};
}

template <class Real>
void Iteration<Real>::book(const Traffic& traffic) {
  WorkerScalars& booked_on = state().workers_.front().scalars;
  booked_on.bytes = static_cast<double>(traffic.bytes);
  booked_on.down_bytes = static_cast<double>(traffic.down);
  booked_on.total_bytes += booked_on.bytes;
  booked_on.total_down_bytes += booked_on.down_bytes;
}

template <class Real>
void Iteration<Real>::list_contributions() {
  state().contributions_.clear();
  for (const auto& worker : state().workers_) {
    if (takes_part(worker)) {
      state().contributions_.push_back({.message = &worker.memory.message(),
                                        .accumulator = worker.memory.accumulator_for_exchange()});
    }
  }
}

template <class Real>
ClippedUpdate<Real> Iteration<Real>::clip(const ExchangeResult<Real>& exchanged, double divisor) {
  ModelUpdate<Real>& update = state().update_;
  ClippedUpdate<Real> clipped = update.clip(update.take(exchanged, divisor), eta_);
  update_scale_ = clipped.scale();
  lap(&StepTimes::aggregate_s);
  return clipped;
}

template <class Real>
void Iteration<Real>::evaluate_next_z() {
  if (measured_) {
    state().evaluations_.evaluate_next_z(
        measurement().virtual_iterate(), measurement().mean_gradient(), eta_);
  }
}

template <class Real>
void Iteration<Real>::apply(ClippedUpdate<Real>&& clipped) {
  const ExchangeResult<Real>& exchanged = clipped.exchanged();
  std::vector<Real>& rounded = state().shift_ ? state().shift_->rounded() : state().working_model_;
  state().model_is_lost_ =
      !state().update_.apply(std::move(clipped), eta_, state().model_, rounded);
  state().lost_sum_ = state().model_is_lost_ ? lost_sum(exchanged) : std::nullopt;
  if (state().shift_ && !state().model_is_lost_) {
    state().shift_->follow(state().working_model_);
  }
  state().note_moved(exchanged);
}

template <class Real>
void Iteration<Real>::set_model(std::span<const double> model) {
  state().model_.assign(model.begin(), model.end());
  state().working_model_.assign(model.begin(), model.end());
  state().note_moved_anywhere();
  state().model_is_lost_ = !is_usable_model<Real>(state().working_model_);
}

template <class Real>
template <class... Made>
void Iteration<Real>::show(const ExchangeResult<Real>& exchanged, const Made&... made) {
  lap(&StepTimes::aggregate_s);
  const StepState<Real> now = step_state(exchanged);
  measurement().after_update(now, made..., measured_);
  // A lost model is not measured: its numbers mean nothing, and the next version will not be made.
  if (measured_ && !state().model_is_lost_) {
    lap(&StepTimes::measure_s);
    measurement().show(now,
                       made...,
                       {.evaluations = state().evaluations_.view(), .test = test_, .times = times_},
                       state().observer_);
  }
  state_.reset();
}

template <class Real>
StepState<Real> Iteration<Real>::step_state(const ExchangeResult<Real>& exchanged) {
  return {.iteration = t_,
          .epoch = epoch_,
          .step_size = eta_,
          .k = k(),
          .update_scale = update_scale_,
          .split = splits_,
          .steps_locally = steps_locally(state().method_, state().law_.local_steps),
          .workers = state().workers_,
          .participants = state().participants_,
          .exchanged = exchanged,
          .network = network_,
          .model = state().model_,
          .shift = state().shift_ ? std::optional(state().shift_->gap()) : std::nullopt};
}

template <class Real>
void Iteration<Real>::lap(double StepTimes::*part) {
  if (!measured_) {
    return;
  }
  const auto now = Clock::now();
  times_.*part += std::chrono::duration<double>(now - mark_).count();
  mark_ = now;
}

// --- Lockstep ---------------------------------------------------------------------------------

template <class Real>
Computed<Real> LockstepIteration<Real>::compute(std::uint64_t local_steps,
                                                LocalSeconds& seconds) && {
  std::vector<Worker<Real>>& workers = this->workers();
  const ModelAt<Real> model = this->state().placed_model();
  ScratchBuffers<Real>& scratch = this->state().scratch();
  // The seconds of a worker are its own where no other works at the same time.
  const bool overlaps = seconds.compute.empty() && seconds.select.empty();
  for (std::size_t slot = 0; slot < workers.size(); ++slot) {
    Worker<Real>& worker = workers[slot];
    if (!this->takes_part(worker)) {
      continue;
    }
    take_seconds(seconds.compute, slot, [&] {
      worker.gradient.compute({.first = this->turn_of(worker) * local_steps,
                               .count = local_steps,
                               .step_size = this->step_size(),
                               .splits_first = this->splits()},
                              model,
                              scratch,
                              worker.scalars);
    });
    if (overlaps) {
      worker.memory.start(this->lockstep_turn(worker), worker.gradient.placed(), scratch);
    }
  }
  this->lap(&StepTimes::compute_s);
  const bool steps_once = !steps_locally(*this->state().training().method, local_steps);
  for (auto& worker : workers) {
    if (this->splits() && this->takes_part(worker) && steps_once) {
      worker.gradient.compute_half(this->turn_of(worker), model.on_host, scratch, worker.scalars);
    }
  }
  this->lap(&StepTimes::measure_s);
  return Computed<Real>(std::move(*this));
}

template <class Real>
Agreed<Compressed<Real>> Computed<Real>::compress(LocalSeconds& seconds) && {
  std::vector<Worker<Real>>& workers = this->workers();
  ScratchBuffers<Real>& scratch = this->state().scratch();
  this->state().select_together([&] {
    for (std::size_t slot = 0; slot < workers.size(); ++slot) {
      Worker<Real>& worker = workers[slot];
      if (!this->takes_part(worker)) {
        worker.memory.skip_version(this->step_size(), scratch, worker.scalars);
        continue;
      }
      take_seconds(seconds.select, slot, [&] {
        worker.memory.compress(
            this->lockstep_turn(worker), worker.gradient.placed(), scratch, worker.scalars);
      });
    }
  });
  this->list_contributions();
  const StepEnd end = this->agree(this->state().end_at_workers());
  this->lap(&StepTimes::select_s);
  return this->template next_after<Compressed<Real>>(end);
}

template <class Real>
Combined<Real> Compressed<Real>::combine(ParticipantExchange<Real>& exchange,
                                         ExchangeResult<Real>& exchanged) && {
  Contributions<Real> contributions = this->state().without_messages();
  contributions.k = this->k();
  contributions.of_workers = this->contributions_here();
  exchange.combine(contributions, exchanged);
  return Combined<Real>(std::move(*this), exchanged);
}

template <class Real>
Updated<Real> Combined<Real>::update() && {
  this->book(exchanged_.traffic);
  // The mean of gradient estimates is one of all workers: those that are absent keep theirs.
  const bool estimates = this->state().training().method->feedback->estimates();
  ClippedUpdate<Real> clipped = this->clip(
      exchanged_,
      estimates ? this->state().cluster().workers() : this->state().participants().count());
  this->measurement().before_update(this->step_state(exchanged_), this->measured());
  this->evaluate_next_z();
  for (auto& worker : this->workers()) {
    if (this->measured() && this->takes_part(worker)) {
      worker.memory.measure(worker.scalars);
    }
  }
  this->lap(&StepTimes::measure_s);
  this->apply(std::move(clipped));
  return Updated<Real>(std::move(*this), exchanged_);
}

template <class Real>
void Updated<Real>::update_residuals() && {
  std::vector<Worker<Real>>& workers = this->workers();
  std::size_t contribution = 0;
  for (auto& worker : workers) {
    if (!this->takes_part(worker)) {
      continue;
    }
    auto& memory = worker.memory;
    const MessageOutcome<Real> outcome = exchanged_.outcome(memory.message(), contribution++);
    memory.update_residual(outcome, this->measured(), this->state().scratch(), worker.scalars);
    ++worker.turns;
  }
  this->show(exchanged_);
  for (auto& worker : workers) {
    worker.gradient.drop_half();
  }
}

// --- Late messages ----------------------------------------------------------------------------

template <class Real>
Agreed<LateComputed<Real>> LateIteration<Real>::agree(const StepEnd& seen) && {
  this->lap(&StepTimes::compute_s);
  return this->template next_after<LateComputed<Real>>(Iteration<Real>::agree(seen));
}

template <class Real>
LateComputed<Real> LateIteration<Real>::end_on_server() && {
  assert(this->law().is_real);
  return LateComputed<Real>(std::move(*this));
}

template <class Real>
LateUpdated<Real> LateComputed<Real>::update(const ExchangeResult<Real>& exchanged,
                                             const VersionParts<Real>& parts) && {
  // In a simulation every process has counted the bytes of all, and a real server books its own.
  if (this->state().cluster().world().is_root() && !this->law().is_real) {
    this->book(exchanged.traffic);
  }
  ClippedUpdate<Real> clipped = this->clip(exchanged, parts.divisor);
  this->measurement().before_update(this->step_state(exchanged), parts, this->measured());
  this->evaluate_next_z();
  this->lap(&StepTimes::measure_s);
  this->apply(std::move(clipped));
  return LateUpdated<Real>(std::move(*this), exchanged, parts);
}

template <class Real>
void LateUpdated<Real>::finish() && {
  this->show(exchanged_, parts_);
}

// --- Models of the workers' own ---------------------------------------------------------------

template <class Real>
Agreed<MixingComputed<Real>> MixingIteration<Real>::agree() && {
  this->lap(&StepTimes::compute_s);
  const StepEnd end = Iteration<Real>::agree(this->state().end_at_workers());
  return this->template next_after<MixingComputed<Real>>(end);
}

template <class Real>
void MixingComputed<Real>::move_to(std::span<const double> mean,
                                   const ExchangeResult<Real>& exchanged,
                                   const VersionNotes& notes) && {
  this->book(exchanged.traffic);
  this->lap(&StepTimes::aggregate_s);
  this->measurement().before_update(this->step_state(exchanged), this->measured());
  this->evaluate_next_z();
  this->lap(&StepTimes::measure_s);
  this->set_model(mean);
  this->show(exchanged, notes);
}

template class Iteration<float>;
template class Iteration<double>;
template class LockstepIteration<float>;
template class LockstepIteration<double>;
template class Computed<float>;
template class Computed<double>;
template class Compressed<float>;
template class Compressed<double>;
template class Combined<float>;
template class Combined<double>;
template class Updated<float>;
template class Updated<double>;
template class LateIteration<float>;
template class LateIteration<double>;
template class LateComputed<float>;
template class LateComputed<double>;
template class LateUpdated<float>;
template class LateUpdated<double>;
template class MixingIteration<float>;
template class MixingIteration<double>;
template class MixingComputed<float>;
template class MixingComputed<double>;

}  // namespace residuum
