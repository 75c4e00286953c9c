#include "core/protocols/iteration.h"

#include "core/training/worker_gradient.h"

namespace residuum {

template <class Real>
Iteration<Real>::Iteration(TrainingState<Real>& state, std::uint64_t t, std::uint64_t gradients)
    : state_(state), t_(t) {
  begin(gradients);
  evaluate_points();
}

/// Draws who takes part, and sets eta_t.
template <class Real>
void Iteration<Real>::begin(std::uint64_t gradients) {
  const Training& training = state_.training_;
  state_.participants_.draw(t_);
  epoch_ = state_.epoch_after(gradients);
  eta_ = state_.method_.step_rule->at(t_, epoch_);
  measured_ = training.plan.measures(t_);
  splits_ = measured_ && is_due(training.plan.split, t_) && can_split(training);
  mark_ = measured_ ? Clock::now() : mark_;
}

template <class Real>
void Iteration<Real>::evaluate_points() {
  if (t_ >= state_.averaged_) {
    state_.evaluations_.average(t_, state_.model_);
    state_.averaged_ = t_ + 1;
  }
  if (measured_) {
    const auto statistics = mean_statistics<Real>(state_.training_, state_.workers_);
    state_.evaluations_.evaluate_points(t_,
                                        {.model = state_.model_,
                                         .virtual_iterate = measurement().virtual_iterate(),
                                         .unperturbed = measurement().unperturbed_iterate()},
                                        statistics);
    test_ = is_due(state_.training_.plan.tested, t_) ? state_.tested(statistics) : std::nullopt;
  }
  lap(&StepTimes::measure_s);
}

template <class Real>
StepEnd Iteration<Real>::agree(const StepEnd& seen) const {
  return residuum::agree(state_.cluster_.world(), state_.own_end(seen));
}

template <class Real>
void Iteration<Real>::book(const Traffic& traffic) {
  WorkerScalars& booked_on = state_.workers_.front().scalars;
  booked_on.bytes = static_cast<double>(traffic.bytes);
  booked_on.down_bytes = static_cast<double>(traffic.down);
  booked_on.total_bytes += booked_on.bytes;
  booked_on.total_down_bytes += booked_on.down_bytes;
}

template <class Real>
void Iteration<Real>::list_contributions() {
  state_.contributions_.clear();
  for (const auto& worker : state_.workers_) {
    if (takes_part(worker)) {
      state_.contributions_.push_back(
          {.message = &worker.memory.message(), .accumulator = worker.memory.accumulator()});
    }
  }
}

template <class Real>
void Iteration<Real>::clip(const Delivery<Real>& delivery, double divisor) {
  state_.update_.take(delivery, divisor);
  update_scale_ = state_.update_.clip(delivery, eta_);
  lap(&StepTimes::aggregate_s);
}

template <class Real>
void Iteration<Real>::evaluate_next_z() {
  if (measured_) {
    state_.evaluations_.evaluate_next_z(
        measurement().virtual_iterate(), measurement().mean_gradient(), eta_);
  }
}

template <class Real>
void Iteration<Real>::apply(const Delivery<Real>& delivery) {
  std::vector<Real>& rounded = state_.shift_ ? state_.shift_->rounded() : state_.working_model_;
  state_.model_is_lost_ = !state_.update_.apply(delivery, eta_, state_.model_, rounded);
  state_.lost_sum_ = state_.model_is_lost_ ? lost_sum(delivery) : std::nullopt;
  if (state_.shift_ && !state_.model_is_lost_) {
    state_.shift_->follow(state_.working_model_);
  }
}

template <class Real>
void Iteration<Real>::set_model(std::span<const double> model) {
  state_.model_.assign(model.begin(), model.end());
  state_.working_model_.assign(model.begin(), model.end());
  state_.model_is_lost_ = !is_usable_model<Real>(state_.working_model_);
}

template <class Real>
template <class... Made>
void Iteration<Real>::show(const Delivery<Real>& delivery, const Made&... made) {
  lap(&StepTimes::aggregate_s);
  const StepState<Real> now = step_state(delivery);
  measurement().after_update(now, made..., measured_);
  // A lost model is not measured: its numbers mean nothing, and the next version will not be made.
  if (measured_ && !state_.model_is_lost_) {
    lap(&StepTimes::measure_s);
    measurement().show(now,
                       made...,
                       {.evaluations = state_.evaluations_.view(), .test = test_, .times = times_},
                       state_.observer_);
  }
}

template <class Real>
StepState<Real> Iteration<Real>::step_state(const Delivery<Real>& delivery) {
  return {.iteration = t_,
          .epoch = epoch_,
          .step_size = eta_,
          .k = k(),
          .update_scale = update_scale_,
          .split = splits_,
          .steps_locally = steps_locally(state_.method_, state_.law_.local_steps),
          .workers = state_.workers_,
          .participants = state_.participants_,
          .delivery = delivery,
          .network = network_,
          .model = state_.model_,
          .shift = state_.shift_ ? std::optional(state_.shift_->gap()) : std::nullopt};
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
  const std::vector<Real>& model = this->state().working_model();
  ScratchBuffers<Real>& scratch = this->state().scratch();
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
  }
  this->lap(&StepTimes::compute_s);
  const bool steps_once = !steps_locally(*this->state().training().method, local_steps);
  for (auto& worker : workers) {
    if (this->splits() && this->takes_part(worker) && steps_once) {
      worker.gradient.compute_half(this->turn_of(worker), model, scratch, worker.scalars);
    }
  }
  this->lap(&StepTimes::measure_s);
  return Computed<Real>(std::move(*this));
}

template <class Real>
Compressed<Real> Computed<Real>::compress(LocalSeconds& seconds) && {
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
        worker.memory.compress({.number = this->number(),
                                .version = this->number(),
                                .step_size = this->step_size(),
                                .before = this->turn_of(worker)},
                               worker.gradient.gradient(),
                               scratch,
                               worker.scalars);
      });
    }
  });
  this->list_contributions();
  const StepEnd end = this->agree(this->state().end_at_workers());
  this->lap(&StepTimes::select_s);
  return Compressed<Real>(std::move(*this), end);
}

template <class Real>
Contributions<Real> Compressed<Real>::contributions() const {
  Contributions<Real> contributions = this->state().without_messages();
  contributions.k = this->k();
  contributions.of_workers = this->contributions_here();
  return contributions;
}

template <class Real>
Updated<Real> Compressed<Real>::update(const Delivery<Real>& delivery) && {
  this->book(delivery.traffic);
  // The mean of gradient estimates is one of all workers: those that are absent keep theirs.
  const bool estimates = this->state().training().method->feedback->estimates();
  this->clip(delivery,
             estimates ? this->state().cluster().workers() : this->state().participants().count());
  this->measurement().before_update(this->step_state(delivery), this->measured());
  this->evaluate_next_z();
  for (auto& worker : this->workers()) {
    if (this->measured() && this->takes_part(worker)) {
      worker.memory.measure(worker.scalars);
    }
  }
  this->lap(&StepTimes::measure_s);
  this->apply(delivery);
  return Updated<Real>(std::move(*this), delivery);
}

template <class Real>
void Updated<Real>::update_residuals() && {
  std::size_t contribution = 0;
  for (auto& worker : this->workers()) {
    if (!this->takes_part(worker)) {
      continue;
    }
    auto& memory = worker.memory;
    const MessageOutcome<Real> outcome = delivery_.outcome(memory.message(), contribution++);
    memory.update_residual(outcome, this->measured(), this->state().scratch(), worker.scalars);
    ++worker.turns;
  }
  this->show(delivery_);
  for (auto& worker : this->workers()) {
    worker.gradient.drop_half();
  }
}

// --- Late messages ----------------------------------------------------------------------------

template <class Real>
StepEnd LateIteration<Real>::agree(const StepEnd& seen) {
  this->lap(&StepTimes::compute_s);
  return Iteration<Real>::agree(seen);
}

template <class Real>
LateUpdate<Real> LateIteration<Real>::update(const Delivery<Real>& delivery,
                                             const VersionParts<Real>& parts) && {
  // In a simulation every process has counted the bytes of all, and a real server books its own.
  if (this->state().cluster().world().is_root() && !this->law().is_real) {
    this->book(delivery.traffic);
  }
  this->clip(delivery, parts.divisor);
  this->measurement().before_update(this->step_state(delivery), parts, this->measured());
  this->evaluate_next_z();
  this->lap(&StepTimes::measure_s);
  this->apply(delivery);
  return LateUpdate<Real>(std::move(*this));
}

template <class Real>
void LateUpdate<Real>::finish(const Delivery<Real>& delivery, const VersionParts<Real>& parts) && {
  this->show(delivery, parts);
}

// --- Models of the workers' own ---------------------------------------------------------------

template <class Real>
StepEnd MixingIteration<Real>::agree() {
  this->lap(&StepTimes::compute_s);
  return Iteration<Real>::agree(this->state().end_at_workers());
}

template <class Real>
void MixingIteration<Real>::move_to(std::span<const double> mean,
                                    const Delivery<Real>& delivery,
                                    const VersionNotes& notes) && {
  this->book(delivery.traffic);
  this->lap(&StepTimes::aggregate_s);
  this->measurement().before_update(this->step_state(delivery), this->measured());
  this->evaluate_next_z();
  this->lap(&StepTimes::measure_s);
  this->set_model(mean);
  this->show(delivery, notes);
}

template class Iteration<float>;
template class Iteration<double>;
template class LockstepIteration<float>;
template class LockstepIteration<double>;
template class Computed<float>;
template class Computed<double>;
template class Compressed<float>;
template class Compressed<double>;
template class Updated<float>;
template class Updated<double>;
template class LateIteration<float>;
template class LateIteration<double>;
template class LateUpdate<float>;
template class LateUpdate<double>;
template class MixingIteration<float>;
template class MixingIteration<double>;

}  // namespace residuum
