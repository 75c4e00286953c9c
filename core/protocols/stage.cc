#include "core/protocols/stage.h"

#include <algorithm>
#include <cmath>

#include "core/measurement/evaluate.h"
#include "core/protocols/protocol.h"
#include "core/training/matrices.h"

namespace residuum {
namespace {

using Reason = StepEnd::Reason;

std::vector<double> initial_model(const Training& training) {
  std::vector<double> model(training.objective->dimension());
  training.objective->initial_point(training.seed, model);
  return model;
}

}  // namespace

template <class Real>
Stage<Real>::Stage(const Training& training, StepObserver& observer)
    : training_(training),
      method_(*training.method),
      objective_(*training.objective),
      cluster_(*training.cluster),
      observer_(observer),
      law_(protocol_law(training)),
      d_(objective_.dimension()),
      model_(initial_model(training)),
      working_model_(model_.begin(), model_.end()),
      update_(training),
      scratch_(training),
      workers_(workers_here<Real>(training)),
      participants_(training.seed, cluster_.workers(), training.taking_part()),
      layers_(matrices_of(objective_)),
      measurement_(training, law_, model_),
      evaluations_(training, law_.local_steps) {
  contributions_.reserve(workers_.size());
  list_contributions();
}

template <class Real>
void Stage<Real>::list_contributions() {
  contributions_.clear();
  for (const auto& worker : workers_) {
    if (takes_part(worker)) {
      contributions_.push_back(
          {.message = &worker.memory.message(), .accumulator = worker.memory.accumulator()});
    }
  }
}

template <class Real>
void Stage<Real>::begin(std::uint64_t t, std::uint64_t gradients) {
  t_ = t;
  participants_.draw(t);
  list_contributions();
  epoch_ = epoch_after(gradients);
  parts_ = nullptr;
  measured_ = training_.plan.measures(t);
  times_ = {};
  mark_ = measured_ ? Clock::now() : mark_;
  eta_ = method_.step_rule->at(t, epoch_);
  if (t >= averaged_) {
    evaluations_.average(t, model_);
    averaged_ = t + 1;
  }
  test_.reset();
  split_ = measured_ && is_due(training_.plan.split, t) && can_split(training_);
  if (measured_) {
    const auto statistics = mean_statistics<Real>(training_, workers_);
    evaluations_.evaluate_points(t,
                                 {.model = model_,
                                  .virtual_iterate = measurement_.virtual_iterate(),
                                  .unperturbed = measurement_.unperturbed_iterate()},
                                 statistics);
    test_ = is_due(training_.plan.tested, t) ? tested(statistics) : std::nullopt;
  }
  times_.measure_s += lap();
}

template <class Real>
void Stage<Real>::compute(std::uint64_t local_steps) {
  for (std::size_t slot = 0; slot < workers_.size(); ++slot) {
    Worker<Real>& worker = workers_[slot];
    if (!takes_part(worker)) {
      continue;
    }
    take_seconds(seconds_.compute, slot, [&] {
      worker.gradient.compute({.first = turn_of(worker) * local_steps,
                               .count = local_steps,
                               .step_size = eta_,
                               .splits_first = split_},
                              working_model_,
                              scratch_,
                              worker.scalars);
    });
  }
  times_.compute_s = lap();
  for (auto& worker : workers_) {
    if (split_ && takes_part(worker) && !steps_locally(method_, local_steps)) {
      worker.gradient.compute_half(turn_of(worker), working_model_, scratch_, worker.scalars);
    }
  }
  times_.measure_s += lap();
}

template <class Real>
StepEnd Stage<Real>::form() {
  select_in_step([&] {
    for (std::size_t slot = 0; slot < workers_.size(); ++slot) {
      Worker<Real>& worker = workers_[slot];
      if (!takes_part(worker)) {
        worker.memory.skip_version(scratch_, worker.scalars);
        continue;
      }
      take_seconds(seconds_.select, slot, [&] {
        worker.memory.form(
            {.number = t_, .version = t_, .step_size = eta_, .before = turn_of(worker)},
            worker.gradient.gradient(),
            scratch_,
            worker.scalars);
      });
    }
  });
  const StepEnd end = residuum::agree(cluster_.world(), own_end(end_at_workers()));
  times_.select_s = lap();
  return end;
}

template <class Real>
StepEnd Stage<Real>::agree(const StepEnd& seen) {
  times_.compute_s = lap();
  return residuum::agree(cluster_.world(), own_end(seen));
}

template <class Real>
Contributions<Real> Stage<Real>::contributions() const {
  return {.dimension = d_,
          .k = method_.sparsifier_at(t_).k(d_).value_or(d_),
          .of_workers = contributions_,
          .layers = layers_,
          .seed = training_.seed};
}

template <class Real>
void Stage<Real>::update(const Delivery<Real>& delivery) {
  book(delivery);
  move(delivery);
}

template <class Real>
void Stage<Real>::move_to(std::span<const double> mean,
                          const Delivery<Real>& delivery,
                          const VersionNotes& notes) {
  notes_ = &notes;
  book(delivery);
  times_.aggregate_s = lap();
  look_before_move(delivery);
  times_.measure_s += lap();
  model_.assign(mean.begin(), mean.end());
  working_model_.assign(model_.begin(), model_.end());
  model_is_lost_ = !is_usable_model<Real>(working_model_);
}

/// Books the bytes that the workers of this process have sent on the first of them.
template <class Real>
void Stage<Real>::book(const Delivery<Real>& delivery) {
  WorkerScalars& booked_on = workers_.front().scalars;
  booked_on.bytes = static_cast<double>(delivery.traffic.bytes);
  booked_on.down_bytes = static_cast<double>(delivery.traffic.down);
  booked_on.total_bytes += booked_on.bytes;
  booked_on.total_down_bytes += booked_on.down_bytes;
}

template <class Real>
void Stage<Real>::update(const Delivery<Real>& delivery, const VersionParts<Real>& parts) {
  parts_ = &parts;
  if (cluster_.world().is_root() && !law_.is_real) {  // every process has counted those of all
    book(delivery);
  }
  move(delivery);
}

template <class Real>
void Stage<Real>::move(const Delivery<Real>& delivery) {
  const double divisor = parts_ != nullptr ? parts_->divisor : participants_.count();
  update_scale_ = update_.clip(delivery, divisor, eta_);
  times_.aggregate_s = lap();
  look_before_move(delivery);
  if (measured_ && parts_ == nullptr) {
    for (auto& worker : workers_) {
      if (takes_part(worker)) {
        worker.memory.measure(worker.scalars);
      }
    }
  }
  times_.measure_s += lap();
  model_is_lost_ = !update_.apply(delivery, eta_, model_, working_model_);
  lost_sum_ = model_is_lost_ ? lost_sum(delivery) : std::nullopt;
}

template <class Real>
void Stage<Real>::look_before_move(const Delivery<Real>& delivery) {
  measurement_.before_update(state(delivery), measured_);
  if (measured_) {
    evaluations_.evaluate_next_z(
        measurement_.virtual_iterate(), measurement_.mean_gradient(), eta_);
  }
}

template <class Real>
void Stage<Real>::update_residual(const Delivery<Real>& delivery) {
  std::size_t contribution = 0;
  for (auto& worker : workers_) {
    if (!takes_part(worker)) {
      continue;
    }
    auto& memory = worker.memory;
    const MessageOutcome<Real> outcome = delivery.outcome(memory.message(), contribution++);
    memory.update_residual(outcome, measured_, scratch_, worker.scalars);
    ++worker.turns;
  }
  finish(delivery);
  for (auto& worker : workers_) {
    worker.gradient.drop_half();
  }
}

template <class Real>
void Stage<Real>::finish(const Delivery<Real>& delivery) {
  times_.aggregate_s += lap();
  const auto now = state(delivery);
  measurement_.after_update(now, measured_);
  // A lost model is not measured: its numbers mean nothing, and the next version will not be made.
  if (measured_ && !model_is_lost_) {
    times_.measure_s += lap();
    measurement_.show(now, evaluations_, test_, times_, observer_);
  }
}

template <class Real>
void Stage<Real>::visit(RunState& state) {
  state.shared(model_);
  update_.visit(state);
  visit_scalars<Real>(workers_, state);
  if (!participants_.are_all()) {
    visit_turns<Real>(workers_, state);
  }
  visit_gradients<Real>(training_, workers_, state);
  visit_memories<Real>(training_, workers_, state);
  measurement_.visit(state);
  evaluations_.visit(state);
  working_model_.assign(model_.begin(), model_.end());
  model_is_lost_ = !is_usable_model<Real>(working_model_);
  if (state.loads()) {
    state.examine([&] { require(!model_is_lost_, "its model is not finite"); });
  }
}

template <class Real>
StepEnd Stage<Real>::look_at_the_end(std::optional<Evaluation>& evaluation,
                                     std::optional<TestResult>& test) {
  std::vector<double> gradient;
  const auto statistics = mean_statistics<Real>(training_, workers_);
  if (objective_.has_function()) {
    evaluation = evaluate(
        training_, {model_, statistics}, training_.plan.full_gradient ? &gradient : nullptr);
  }
  const StepEnd end = residuum::agree(cluster_.world(), end_at_point(evaluation));
  if (!end.diverged()) {
    test = tested(statistics);
  }
  return end;
}

template <class Real>
Divergence Stage<Real>::divergence(const StepEnd& end,
                                   const std::optional<Evaluation>& evaluation) const {
  const bool of_worker = end.reason == Reason::broken_worker;
  Divergence found;
  if (end.reason == Reason::lost_model && lost_sum_) {
    found = {.of = Divergence::Of::sum, .entry = lost_sum_->entry, .value = lost_sum_->value};
  } else if (end.reason == Reason::lost_model) {
    found = broken_model<Real>(working_model_);
  } else if (of_worker && cluster_.here(end.worker)) {
    const auto& worker = workers_[cluster_.slot(end.worker)];
    found = broken_worker<Real>(
        worker.gradient.gradient(), worker.memory.accumulator(), worker.scalars.gradient_norm_sq);
  } else if (end.reason == Reason::bad_loss && evaluation) {
    found = {.of = Divergence::Of::loss,
             .value = evaluation->loss,
             .bound = training_.loss_bound.value_or(0)};
  }
  found.worker = of_worker ? end.worker : -1;
  cluster_.world().broadcast(of_worker ? cluster_.host(end.worker) : 0,
                             std::as_writable_bytes(std::span(&found, 1)));
  return found;
}

template <class Real>
double Stage<Real>::step_size_at(std::uint64_t t, std::uint64_t gradients) const {
  return method_.step_rule->at(t, epoch_after(gradients));
}

template <class Real>
void Stage<Real>::share_model() {
  cluster_.world().broadcast(0, std::as_writable_bytes(std::span(model_)));
}

template <class Real>
double Stage<Real>::epoch_after(std::uint64_t gradients) const {
  const auto n = static_cast<double>(objective_.samples());
  if (n == 0) {
    return 0;
  }
  // Whole shards are the data set once all workers have taken one gradient.
  return training_.batch == 0
             ? static_cast<double>(gradients) / cluster_.workers()
             : static_cast<double>(gradients) * static_cast<double>(training_.batch) / n;
}

template <class Real>
StepState<Real> Stage<Real>::state(const Delivery<Real>& delivery) {
  return {.iteration = t_,
          .epoch = epoch_,
          .step_size = eta_,
          .k = method_.sparsifier_at(t_).k(d_).value_or(d_),
          .update_scale = update_scale_,
          .split = split_,
          .steps_locally = steps_locally(method_, law_.local_steps),
          .workers = workers_,
          .participants = &participants_,
          .parts = parts_,
          .notes = notes_,
          .delivery = &delivery,
          .network = network_,
          .model = model_};
}

template <class Real>
std::optional<TestResult> Stage<Real>::tested(std::span<const double> statistics) const {
  return cluster_.world().is_root() ? objective_.test({model_, statistics}) : std::nullopt;
}

/// Returns the end that the model or its loss (known on the root) demands.
template <class Real>
StepEnd Stage<Real>::end_at_point(const std::optional<Evaluation>& evaluation) const {
  if (model_is_lost_) {
    return {.reason = Reason::lost_model};
  }
  if (!evaluation || !cluster_.world().is_root()) {
    return {};
  }
  const bool is_good = std::isfinite(evaluation->loss) &&
                       (!training_.loss_bound || evaluation->loss <= *training_.loss_bound);
  return {.reason = is_good ? Reason::none : Reason::bad_loss};
}

/// Returns the end that the first worker here demands whose gradient or accumulator is not finite.
template <class Real>
StepEnd Stage<Real>::end_at_workers() const {
  for (const auto& worker : workers_) {
    if (!std::isfinite(worker.scalars.gradient_norm_sq) ||
        !std::isfinite(worker.scalars.accumulator_norm_sq)) {
      return {.reason = Reason::broken_worker, .worker = worker.number};
    }
  }
  return {};
}

template <class Real>
StepEnd Stage<Real>::own_end(const StepEnd& seen) const {
  const StepEnd first =
      std::min(end_at_point(measured_ ? evaluations_.view().at_model : std::nullopt), seen);
  if (first.diverged()) {
    return first;
  }
  if (training_.stop != nullptr && training_.stop->load()) {
    return {.reason = Reason::stop};
  }
  const bool asks = training_.checkpoints != nullptr && cluster_.world().is_root();
  return {.reason = asks && training_.checkpoints->due() ? Reason::save : Reason::none};
}

template <class Real>
void Stage<Real>::time_workers(bool compute, bool select) {
  seconds_.compute.resize(compute ? workers_.size() : 0);
  seconds_.select.resize(select ? workers_.size() : 0);
}

/// Returns the seconds since the last lap and begins another; 0 where no row will show them.
template <class Real>
double Stage<Real>::lap() {
  if (!measured_) {
    return 0;
  }
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - mark_).count();
  mark_ = now;
  return seconds;
}

template class Stage<float>;
template class Stage<double>;

}  // namespace residuum
