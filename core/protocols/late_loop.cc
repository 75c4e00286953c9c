#include "core/protocols/late_loop.h"

#include <algorithm>
#include <utility>

#include "core/protocols/late_messages.h"

namespace residuum {

template <class Real>
LateLoop<Real>::LateLoop(TrainingState<Real>& state,
                         Cast cast,
                         MachineOptions machine,
                         Weights weights)
    : state_(state),
      training_(state.training()),
      cluster_(state.cluster()),
      d_(training_.objective->dimension()),
      version_(state, weights),
      roster_(cast.roster),
      simulation_(std::move(cast), std::move(machine), *this),
      measures_(training_.plan.measure),
      pending_(static_cast<std::size_t>(cluster_.workers())),
      has_noise_(pending_.size()),
      steps_(pending_.size()),
      is_broken_(pending_.size()) {}

template <class Real>
StepEnd LateLoop<Real>::advance(std::uint64_t t) {
  if (const auto over = state_.end_if_spent(spent())) {
    return *over;
  }
  LateIteration<Real> iteration(state_, t, version_.gradients());
  splits_ = iteration.splits();
  keep_model(t, iteration.step_size());
  const auto made = simulation_.advance();
  auto [end, computed] = std::move(iteration).agree(end_at_workers());
  if (computed) {
    const Traffic traffic = version_.traffic_of(*made, roster_, arrived_);
    version_.finish(version_.make(std::move(*computed), std::exchange(arrived_, {}), traffic),
                    *made);
  }
  return end;
}

/// Returns the end that the first worker of this process demands which has handed in something that
/// is not finite.
template <class Real>
StepEnd LateLoop<Real>::end_at_workers() const {
  if (!any_is_broken_) {
    return {};
  }
  const auto found = std::find(is_broken_.begin(), is_broken_.end(), 1);
  return {.reason = StepEnd::Reason::broken_worker,
          .worker = static_cast<int>(found - is_broken_.begin())};
}

/// Keeps w_t, and forgets versions at which no gradient will begin. To look for them costs a pass
/// over all actors and their messages, so it is done only now and then.
template <class Real>
void LateLoop<Real>::keep_model(std::uint64_t version, double step_size) {
  KeptModel model{.version = version, .step_size = step_size, .model = {}};
  if (kept_.size() >= kept_before_pruning_) {
    const auto needed = simulation_.needed_versions();
    const auto is_needed = [&](const KeptModel& one) {
      return std::binary_search(needed.begin(), needed.end(), one.version);
    };
    const auto first_free = std::stable_partition(kept_.begin(), kept_.end(), is_needed);
    if (first_free != kept_.end()) {
      model.model.swap(first_free->model);
    }
    kept_.erase(first_free, kept_.end());
    // A worker keeps several vectors, so that models of an eighth of their number cost little.
    kept_before_pruning_ = 2 * kept_.size() + 2 + pending_.size() / 8;
  }
  const auto& working = state_.working_model();
  model.model.assign(working.begin(), working.end());
  kept_.push_back(std::move(model));
}

template <class Real>
auto LateLoop<Real>::kept(std::uint64_t version) const -> const KeptModel& {
  const auto found = std::lower_bound(
      kept_.begin(), kept_.end(), version, [](const KeptModel& one, std::uint64_t wanted) {
        return one.version < wanted;
      });
  check_saved(found != kept_.end());
  return *found;
}

/// Computes at once what the worker will hand in later: the version may be forgotten by then.
template <class Real>
void LateLoop<Real>::compute(const GradientId& gradient) {
  const auto number = static_cast<int>(gradient.worker);
  const KeptModel& at = kept(gradient.base);
  steps_[gradient.worker] = at.step_size;
  has_noise_[gradient.worker] = splits_ ? 1 : 0;
  if (!cluster_.here(number) || is_broken_[gradient.worker] != 0) {
    return;
  }
  Worker<Real>& worker = state_.worker(number);
  worker.gradient.compute(
      {.first = gradient.iteration, .count = 1, .step_size = at.step_size, .splits_first = false},
      at.model,
      state_.scratch(),
      worker.scalars);
  if (splits_) {
    worker.gradient.compute_half(gradient.iteration, at.model, state_.scratch(), worker.scalars);
    worker.gradient.drop_half();
  }
}

template <class Real>
void LateLoop<Real>::hand_in(const GradientId& gradient, int /*node*/) {
  auto late_message = version_.blank();
  late_message->worker = static_cast<int>(gradient.worker);
  late_message->number = gradient.iteration;
  late_message->base = gradient.base;
  state_.select_together([&] {
    if (cluster_.here(late_message->worker)) {
      make_message(gradient, *late_message);
    }
  });
  if (cluster_.world().size() > 1) {
    share_late_message(cluster_, measures_, *late_message);
  }
  pending_[gradient.worker].push_back(std::move(late_message));
}

template <class Real>
void LateLoop<Real>::make_message(const GradientId& gradient, LateMessage<Real>& late_message) {
  Worker<Real>& worker = state_.worker(late_message.worker);
  if (is_broken_[gradient.worker] != 0) {
    return;
  }
  const bool is_finite = form_late_message(worker,
                                           {.number = gradient.iteration,
                                            .version = gradient.base,
                                            .step_size = steps_[gradient.worker],
                                            .before = gradient.iteration},
                                           measures_,
                                           state_.scratch(),
                                           late_message);
  if (!is_finite) {
    is_broken_[gradient.worker] = 1;
    any_is_broken_ = true;
    return;
  }
  late_message.has_noise = measures_ && has_noise_[gradient.worker] != 0;
}

template <class Real>
std::unique_ptr<LateMessage<Real>> LateLoop<Real>::take_pending(const GradientId& gradient) {
  check_saved(gradient.worker < pending_.size());
  auto& pending = pending_[gradient.worker];
  const auto found = std::find_if(pending.begin(), pending.end(), [&](const auto& late_message) {
    return late_message->number == gradient.iteration;
  });
  if (found == pending.end()) {
    return nullptr;
  }
  auto late_message = std::move(*found);
  pending.erase(found);
  return late_message;
}

/// Finds how long the list of a node's sum is; it travels as a whole vector where that is shorter.
template <class Real>
void LateLoop<Real>::collect(int node, std::span<const GradientId> gradients) {
  union_.clear();
  bool everything = false;
  for (const GradientId& gradient : gradients) {
    check_saved(gradient.worker < pending_.size());
    const auto& pending = pending_[gradient.worker];
    const auto found = std::find_if(pending.begin(), pending.end(), [&](const auto& late_message) {
      return late_message->number == gradient.iteration;
    });
    check_saved(found != pending.end());
    const Message<Real>& message = (*found)->message;
    everything = everything || message.everything;
    union_.insert(union_.end(), message.entries.indices.begin(), message.entries.indices.end());
  }
  std::sort(union_.begin(), union_.end());
  const auto entries =
      static_cast<std::size_t>(std::unique(union_.begin(), union_.end()) - union_.begin());
  const std::uint64_t whole = d_ * sizeof(Real);
  const auto place = static_cast<std::size_t>(node);
  node_bytes_.resize(std::max(node_bytes_.size(), place + 1));
  node_bytes_[place] =
      everything ? whole : std::min<std::uint64_t>(whole, packed_bytes<Real>(entries));
}

template <class Real>
void LateLoop<Real>::make_version(std::uint64_t /*version*/,
                                  std::span<const GradientId> gradients) {
  for (const GradientId& gradient : gradients) {
    auto late_message = take_pending(gradient);
    check_saved(late_message != nullptr);
    arrived_.push_back(std::move(late_message));
  }
}

template <class Real>
void LateLoop<Real>::discard(const GradientId& gradient) {
  if (auto late_message = take_pending(gradient)) {
    version_.drop(std::move(late_message));
  }
}

template <class Real>
std::uint64_t LateLoop<Real>::payload_bytes(const ActorMessage& message) {
  switch (message.kind) {
    case ActorMessageKind::push:
      return pending_[message.from].back()->message.bytes(d_);
    case ActorMessageKind::sum:
      return node_bytes_[message.from - pending_.size()];
    default:
      return d_ * sizeof(Real);  // a model
  }
}

template <class Real>
void LateLoop<Real>::save_or_load_numbers(ActorState& state) {
  Bytes simulation = state.loads() ? Bytes() : simulation_.save();
  state.numbers(simulation);
  if (state.loads()) {
    simulation_.load(simulation);
    kept_.clear();
  }
  std::vector<KeptModel> kept(std::make_move_iterator(kept_.begin()),
                              std::make_move_iterator(kept_.end()));
  state.list(kept, [&](KeptModel& one) {
    state.value(one.version);
    state.value(one.step_size);
    state.numbers(one.model);
  });
  kept_.assign(std::make_move_iterator(kept.begin()), std::make_move_iterator(kept.end()));
  for (auto& pending : pending_) {
    std::uint64_t count = pending.size();
    state.value(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (state.loads()) {
        pending.push_back(std::make_unique<LateMessage<Real>>());
      }
      pass_late_message(*pending[i], measures_, state);
    }
  }
  state.row(has_noise_);
  state.row(steps_);
  version_.save_or_load(state);
  if (state.loads()) {
    check_numbers();
  }
}

/// Throws a usage error if this run cannot have saved the loaded state.
template <class Real>
void LateLoop<Real>::check_numbers() const {
  for (const KeptModel& one : kept_) {
    check_saved(one.model.size() == d_);
  }
  for (std::size_t worker = 0; worker < pending_.size(); ++worker) {
    for (const auto& late_message : pending_[worker]) {
      check_saved(late_message->worker == static_cast<int>(worker));
      check_late_message(*late_message, d_, measures_);
    }
  }
}

/// The root has every message; the gradients that workers have not handed in are their own.
template <class Real>
void LateLoop<Real>::save_or_load(RunState& state) {
  state.workers<Real>(d_, [&](std::size_t slot) {
    return state_.worker(cluster_.first() + static_cast<int>(slot)).gradient.in_the_making();
  });
  pass_of_root(
      cluster_, LoadedBy::all, [&](ActorState& numbers) { save_or_load_numbers(numbers); }, state);
}

template class LateLoop<float>;
template class LateLoop<double>;

}  // namespace residuum
