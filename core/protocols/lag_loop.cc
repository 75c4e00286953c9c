#include "core/protocols/lag_loop.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace residuum {

template <class Real>
LagLoop<Real>::LagLoop(TrainingState<Real>& state,
                       std::uint64_t lag,
                       const SimulatedMachine& machine)
    : state_(state),
      cluster_(state.cluster()),
      lag_(lag),
      measures_(state.training().plan.measure),
      version_(state, Weights::plain),
      time_(virtual_time_of(state.training(), machine)) {
  if (time_) {
    seconds_ = time_->local_seconds();
  }
}

template <class Real>
StepEnd LagLoop<Real>::advance(std::uint64_t t) {
  if (const auto over = state_.end_if_spent(spent())) {
    return *over;
  }
  LateIteration<Real> iteration(state_, t, version_.gradients());
  while (under_way_.size() <= lag_ && !broken_.diverged()) {
    take_round(t + under_way_.size(), t, iteration.step_size(), iteration.splits());
  }
  auto [end, computed] = std::move(iteration).agree(broken_);
  if (!computed) {
    return end;
  }
  Round round = std::move(under_way_.front());
  under_way_.pop_front();
  LateUpdated<Real> updated = version_.make_round(
      std::move(*computed), std::move(round), time_ ? time_->transfers() : nullptr);
  if (time_) {
    time_->end_round();
    updated.show_network(time_->view());
  }
  version_.finish_round(std::move(updated), t + 1);
  return end;
}

/// Lets every worker take one gradient at w_t, the newest version, and form its message.
template <class Real>
void LagLoop<Real>::take_round(std::uint64_t round,
                               std::uint64_t version,
                               double step_size,
                               bool splits) {
  Round made;
  for (int worker = 0; worker < cluster_.workers(); ++worker) {
    auto& message = made.emplace_back(blank(worker));
    message->number = round;
    message->base = version;
  }
  compute(round, step_size);
  if (splits) {
    compute_half(round, made);
  }
  state_.select_together([&] { make_message(round, version, step_size, made); });
  if (cluster_.world().size() > 1) {
    for (auto& late_message : made) {
      share_late_message(cluster_, measures_, *late_message);
    }
  }
  if (time_) {
    time_->begin_round(round, seconds_);
  }
  under_way_.push_back(std::move(made));
}

template <class Real>
std::unique_ptr<LateMessage<Real>> LagLoop<Real>::blank(int worker) {
  auto late_message = version_.blank();
  late_message->worker = worker;
  late_message->has_noise = false;
  return late_message;
}

template <class Real>
void LagLoop<Real>::compute(std::uint64_t round, double step_size) {
  for (int slot = 0; slot < cluster_.count(); ++slot) {
    Worker<Real>& worker = state_.worker(cluster_.first() + slot);
    take_seconds(seconds_.compute, static_cast<std::size_t>(slot), [&] {
      worker.gradient.compute(
          {.first = round, .count = 1, .step_size = step_size, .splits_first = false},
          state_.working_model(),
          state_.scratch(),
          worker.scalars);
    });
  }
}

/// Takes the half batches that show how noisy the gradients of the round are.
template <class Real>
void LagLoop<Real>::compute_half(std::uint64_t round, Round& made) {
  for (int slot = 0; slot < cluster_.count(); ++slot) {
    const int number = cluster_.first() + slot;
    Worker<Real>& worker = state_.worker(number);
    worker.gradient.compute_half(round, state_.working_model(), state_.scratch(), worker.scalars);
    worker.gradient.drop_half();
    made[static_cast<std::size_t>(number)]->has_noise = measures_;
  }
}

template <class Real>
void LagLoop<Real>::make_message(std::uint64_t round,
                                 std::uint64_t version,
                                 double step_size,
                                 Round& made) {
  for (int slot = 0; slot < cluster_.count(); ++slot) {
    const int number = cluster_.first() + slot;
    take_seconds(seconds_.select, static_cast<std::size_t>(slot), [&] {
      const bool is_finite = form_late_message(
          state_.worker(number),
          {.number = round, .version = version, .step_size = step_size, .before = round},
          measures_,
          state_.scratch(),
          *made[static_cast<std::size_t>(number)]);
      if (!is_finite && !broken_.diverged()) {
        broken_ = {.reason = StepEnd::Reason::broken_worker, .worker = number};
      }
    });
  }
}

template <class Real>
void LagLoop<Real>::save_or_load_numbers(ActorState& state) {
  std::vector<Round> rounds(std::make_move_iterator(under_way_.begin()),
                            std::make_move_iterator(under_way_.end()));
  state.list(rounds, [&](Round& round) {
    if (state.loads()) {
      round.resize(static_cast<std::size_t>(cluster_.workers()));
    }
    for (auto& late_message : round) {
      if (state.loads()) {
        late_message = std::make_unique<LateMessage<Real>>();
      }
      pass_late_message(*late_message, measures_, state);
    }
  });
  if (state.loads()) {
    check_saved(rounds.size() == lag_);
    for (const Round& round : rounds) {
      for (std::size_t worker = 0; worker < round.size(); ++worker) {
        check_saved(round[worker]->worker == static_cast<int>(worker));
        check_late_message(*round[worker], state_.without_messages().dimension, measures_);
      }
    }
  }
  under_way_.assign(std::make_move_iterator(rounds.begin()), std::make_move_iterator(rounds.end()));
  version_.save_or_load(state);
}

/// The root has every message, and each process needs all of them.
template <class Real>
void LagLoop<Real>::save_or_load(RunState& state) {
  if (time_) {
    time_->save_or_load(state);
  }
  pass_of_root(
      cluster_, LoadedBy::all, [&](ActorState& numbers) { save_or_load_numbers(numbers); }, state);
}

template class LagLoop<float>;
template class LagLoop<double>;

}  // namespace residuum
