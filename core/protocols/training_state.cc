#include "core/protocols/training_state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <type_traits>

#include "core/measurement/evaluations.h"
#include "core/protocols/protocol.h"
#include "core/training/training.h"

namespace residuum {
namespace {

using Reason = StepEnd::Reason;

std::vector<double> initial_model(const Training& training) {
  std::vector<double> model(training.objective->dimension());
  training.objective->initial_point(training.seed, model);
  return model;
}

}  // namespace

StepEnd agree(World& world, const StepEnd& mine) {
  constexpr unsigned kWorkerBits = 32;
  const auto first = world.minimum((static_cast<std::int64_t>(mine.reason) << kWorkerBits) |
                                   static_cast<std::int64_t>(mine.worker));
  return {.reason = static_cast<StepEnd::Reason>(first >> kWorkerBits),
          .worker = static_cast<int>(first & 0xffffffff)};
}

template <class Real>
TrainingState<Real>::TrainingState(const Training& training, StepObserver& observer)
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
  if (takes_gradients_there(training)) {
    device_model_ = std::make_unique<DeviceModel>(*training.device, d_);
  }
  if (method_.aggregator->law().shifts_model) {
    shift_.emplace(method_.aggregator->shift_entries(d_), model_);
  }
}

template <class Real>
void TrainingState<Real>::save_or_load(RunState& state) {
  state.shared(model_);
  update_.save_or_load(state);
  save_or_load_scalars<Real>(workers_, state);
  if (!participants_.are_all()) {
    save_or_load_turns<Real>(workers_, state);
  }
  save_or_load_gradients<Real>(training_, workers_, state);
  save_or_load_memories<Real>(training_, workers_, state);
  measurement_.save_or_load(state);
  evaluations_.save_or_load(state);
  if (shift_) {
    state.shared(working_model_);
    shift_->rounded().assign(model_.begin(), model_.end());
  } else {
    working_model_.assign(model_.begin(), model_.end());
  }
  note_moved_anywhere();
  model_is_lost_ = !is_usable_model<Real>(rounded_model());
  if (state.loads()) {
    state.examine([&] {
      require(!model_is_lost_ && is_usable_model<Real>(working_model_), "its model is not finite");
    });
  }
}

template <class Real>
void TrainingState<Real>::note_moved(const ExchangeResult<Real>& exchanged) {
  if constexpr (std::is_same_v<Real, float>) {
    if (device_model_ != nullptr && !shift_ && update_.moves_listed_entries(exchanged)) {
      device_model_->moved(exchanged.sum.indices, working_model_);
      return;
    }
  }
  note_moved_anywhere();
}

template <class Real>
void TrainingState<Real>::note_moved_anywhere() {
  if (device_model_ != nullptr) {
    device_model_->moved_anywhere();
  }
}

template <class Real>
StepEnd TrainingState<Real>::look_at_the_end(std::optional<Evaluation>& evaluation,
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
Divergence TrainingState<Real>::divergence(const StepEnd& end,
                                           const std::optional<Evaluation>& evaluation) const {
  const bool of_worker = end.reason == Reason::broken_worker;
  Divergence found;
  if (end.reason == Reason::lost_model && lost_sum_) {
    found = {.of = Divergence::Of::sum, .entry = lost_sum_->entry, .value = lost_sum_->value};
  } else if (end.reason == Reason::lost_model) {
    found = broken_model<Real>(rounded_model());
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
double TrainingState<Real>::step_size_at(std::uint64_t t, std::uint64_t gradients) const {
  return method_.step_rule->at(t, epoch_after(gradients));
}

template <class Real>
Contributions<Real> TrainingState<Real>::without_messages() const {
  return {.dimension = d_, .k = d_, .of_workers = {}, .layers = layers_, .seed = training_.seed};
}

template <class Real>
void TrainingState<Real>::share_model() {
  cluster_.world().broadcast(0, std::as_writable_bytes(std::span(model_)));
}

template <class Real>
double TrainingState<Real>::epoch_after(std::uint64_t gradients) const {
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
std::optional<TestResult> TrainingState<Real>::tested(std::span<const double> statistics) const {
  return cluster_.world().is_root() ? objective_.test({model_, statistics}) : std::nullopt;
}

/// Returns the end that the model or its loss (known on the root) demands.
template <class Real>
StepEnd TrainingState<Real>::end_at_point(const std::optional<Evaluation>& evaluation) const {
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

template <class Real>
StepEnd TrainingState<Real>::end_at_workers() const {
  for (const auto& worker : workers_) {
    if (!std::isfinite(worker.scalars.gradient_norm_sq) ||
        !std::isfinite(worker.scalars.accumulator_norm_sq)) {
      return {.reason = Reason::broken_worker, .worker = worker.number};
    }
  }
  return {};
}

template <class Real>
StepEnd TrainingState<Real>::own_end(const StepEnd& seen) const {
  const StepEnd first = std::min(end_at_point(evaluation()), seen);
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
RunTotals TrainingState<Real>::sent_by_all() const {
  std::array<double, 3> sums{};
  for (const auto& worker : workers_) {
    const auto& scalars = worker.scalars;
    sums[0] += scalars.total_bytes;
    sums[1] += scalars.total_bytes - scalars.total_down_bytes;
    sums[2] += scalars.total_nnz;
  }
  cluster_.world().add_up(std::span(sums));  // of whole numbers: any order has the same bits
  return {.sent_bytes = sums[0], .uplink_bytes = sums[1], .nnz_sent = sums[2]};
}

template <class Real>
std::optional<StepEnd> TrainingState<Real>::end_if_spent(const SpentSoFar& spent) const {
  const OpenBudget& budget = training_.budget;
  if (!budget.is_open()) {
    return std::nullopt;
  }
  World& world = cluster_.world();
  const bool goes_on = !world.is_root() || !budget.is_spent(spent);
  if (world.minimum(goes_on ? 1 : 0) == 1) {
    return std::nullopt;
  }
  return StepEnd{.reason = Reason::spent, .made = false};
}

template class TrainingState<float>;
template class TrainingState<double>;

}  // namespace residuum
