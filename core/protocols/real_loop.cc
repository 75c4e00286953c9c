#include "core/protocols/real_loop.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/protocols/actors/actor_message.h"

namespace residuum {
namespace {

/// Adds the counts from before the run was halted.
void add_counts(const SimulatedVersion& before, SimulatedVersion& notes) {
  notes.bytes_up += before.bytes_up;
  notes.bytes_down += before.bytes_down;
  notes.control_bytes += before.control_bytes;
  for (std::size_t cause = 0; cause < notes.waits.size(); ++cause) {
    notes.waits[cause] += before.waits[cause];
  }
}

}  // namespace

template <class Real>
RealLoop<Real>::RealLoop(TrainingState<Real>& state,
                         MakeCast make_cast,
                         Weights weights,
                         std::optional<Pace> pace)
    : state_(state),
      training_(state.training()),
      cluster_(state.cluster()),
      d_(training_.objective->dimension()),
      make_cast_(std::move(make_cast)),
      roster_(make_cast_(1).roster),
      workers_(state, roster_, weights, std::move(pace)),
      version_(state, weights),
      is_root_(cluster_.world().is_root()),
      known_(is_root_ ? roster_.workers : 0) {}

template <class Real>
StepEnd RealLoop<Real>::advance(std::uint64_t t) {
  if (!parallel_) {
    begin_at(t);
  }
  if (!meet_or_look(t)) {
    return halt(/*made=*/false);
  }
  const bool made = parallel_->advance_to(t + 1 - first_);
  if (made && is_root_) {
    show();
  }
  return made && t + 1 < training_.iterations ? StepEnd{} : halt(made);
}

/// Lets new actors begin at w_t.
template <class Real>
void RealLoop<Real>::begin_at(std::uint64_t t) {
  first_ = t;
  halts_ = false;
  arrived_.clear();
  share_first_model();
  parallel_ = std::make_unique<Parallel>(make_cast_(training_.iterations - t),
                                         placement(),
                                         *training_.queue,
                                         Site{.effects = *this, .payloads = *this},
                                         [this] { return stops(); });
}

/// True if no further version is to be made. The root looks at requests between two versions, and
/// here while it waits for one, which may take long.
template <class Real>
bool RealLoop<Real>::stops() const {
  return halts_.load() || (training_.stop != nullptr && training_.stop->load());
}

/// Gives all processes w_t, at which actors may begin before any message has arrived, and the time
/// of the run.
template <class Real>
void RealLoop<Real>::share_first_model() {
  Bytes bytes;
  if (is_root_) {
    take_newest_model(0);
    ActorState state(bytes);
    pass_numbers(newest_, state);
    double seconds = clock_.now();
    state.value(seconds);
  }
  broadcast(cluster_.world(), 0, bytes);
  Model model{.version = 0, .step_size = 0, .numbers = {}};
  ActorState state{std::span<const std::byte>(bytes)};
  pass_numbers(model, state);
  double seconds = 0;
  state.value(seconds);
  if (!is_root_) {
    clock_.set(seconds);
  }
  workers_.begin_at(first_, std::move(model));
}

template <class Real>
void RealLoop<Real>::pass_numbers(Model& model, ActorState& state) {
  state.value(model.step_size);
  state.numbers(model.numbers);
}

template <class Real>
Placement RealLoop<Real>::placement() const {
  Placement placed{.hosts = std::vector<int>(roster_.actors())};
  for (std::uint32_t p = 0; p < roster_.workers; ++p) {
    placed.hosts[p] = cluster_.host(static_cast<int>(p));
    if (roster_.nodes > 0) {
      placed.hosts[roster_.node(p / roster_.workers_of_node())] = placed.hosts[p];
    }
  }
  return placed;
}

/// Begins version t + 1. Returns false if the run stops before it, as all processes agreed. If they
/// do not meet, the root tells the others to stop by `halts_`.
template <class Real>
bool RealLoop<Real>::meet_or_look(std::uint64_t t) {
  const bool meets = training_.plan.measures(t);
  if (meets || is_root_) {
    const std::lock_guard lock(workers_.computing());
    if (meets) {
      state_.share_model();
    }
    iteration_.emplace(state_, t, version_.gradients());
  }
  const StepEnd::Reason reason = state_.own_end(found_).reason;
  // A checkpoint waits for a version: else a run whose checks take longer than the time between two
  // checkpoints would make none.
  const bool may_go_on =
      reason == StepEnd::Reason::none || (reason == StepEnd::Reason::save && t == first_);
  const bool goes_on = may_go_on && !failure_.has_value() && !is_spent();
  if (is_root_) {
    halts_ = !goes_on;
  }
  return !meets || cluster_.world().minimum(goes_on ? 1 : 0) == 1;
}

/// Halts the run and returns how it goes on, as the processes agree on it.
template <class Real>
StepEnd RealLoop<Real>::halt(bool made) {
  parallel_->finish();
  if (is_root_) {
    add_counts(parallel_->take_notes(), carried_);
  }
  parallel_.reset();
  together(cluster_.world(), [&] {
    if (failure_) {
      throw Error(*failure_);
    }
  });
  const StepEnd spent{.reason = is_spent() ? StepEnd::Reason::spent : StepEnd::Reason::none};
  StepEnd end = agree(cluster_.world(), std::min(state_.own_end(found_), spent));
  end.made = made;
  return end;
}

/// Notes what workers wait for, which the server hears of later. Its own waits the driver counts.
template <class Real>
void RealLoop<Real>::waited(Wait /*cause*/, double seconds) {
  if (!is_root_) {
    workers_.note_idle(seconds);
  }
}

template <class Real>
std::uint64_t RealLoop<Real>::pack(const ActorMessage& message, ActorId /*to*/, Bytes& bytes) {
  if (message.kind != ActorMessageKind::model) {
    return workers_.pack_sent(message.from, bytes);
  }
  ActorState state(bytes);
  pass_numbers(newest_, state);
  return d_ * sizeof(Real);
}

template <class Real>
std::uint64_t RealLoop<Real>::unpack(const ActorMessage& message,
                                     ActorId to,
                                     std::span<const std::byte> bytes) {
  if (message.kind != ActorMessageKind::model) {
    return take_arrival(message, bytes);
  }
  Model model{.version = message.version, .step_size = 0, .numbers = {}};
  ActorState state(bytes);
  pass_numbers(model, state);
  check_actor_message(state.is_at_end());
  workers_.take(to, std::move(model));
  return d_ * sizeof(Real);
}

template <class Real>
std::uint64_t RealLoop<Real>::take_arrival(const ActorMessage& message,
                                           std::span<const std::byte> bytes) {
  Arrival<Real> arrival;
  arrival.gradients = message.gradients;
  if (message.kind == ActorMessageKind::push) {
    arrival.gradients = {{.worker = message.from,
                          .iteration = static_cast<std::uint32_t>(message.iteration),
                          .base = message.base}};
  }
  const std::uint64_t numbers = unpack_arrival(bytes, training_, arrival);
  carried_.waits[static_cast<std::size_t>(Wait::idle)] += arrival.idle_s;
  if (arrival.failure) {
    note_failure(*arrival.failure);
  } else if (!arrival.gradients.empty()) {
    arrived_.push_back(std::move(arrival));
  }
  return numbers;
}

/// Moves the model. After something was not finite or a worker has failed, versions are made in
/// name only, until all processes have heard of the end.
template <class Real>
void RealLoop<Real>::make_version(std::uint64_t version,
                                  std::span<const GradientId> /*gradients*/) {
  std::sort(arrived_.begin(), arrived_.end(), [](const auto& a, const auto& b) {
    return a.gradients.front().worker < b.gradients.front().worker;
  });
  const std::vector<Arrival<Real>> arrived = std::exchange(arrived_, {});
  if (found_.diverged() || failure_) {
    return;
  }
  LateMessages<Real> late_messages;
  std::vector<Contribution<Real>> sums;
  for (const Arrival<Real>& arrival : arrived) {
    name_late_messages(arrival, late_messages);
    sums.push_back({.message = &arrival.sum.message, .accumulator = arrival.sum.whole});
  }
  // Its bytes are known once all its messages have arrived.
  LateComputed<Real> computed = std::move(*iteration_).end_on_server();
  updated_.emplace(version_.make(std::move(computed), std::move(late_messages), Traffic(), sums));
  take_newest_model(version);
}

/// Lists the gradients of a sum, without messages of their own.
template <class Real>
void RealLoop<Real>::name_late_messages(const Arrival<Real>& arrival,
                                        LateMessages<Real>& late_messages) {
  for (std::size_t i = 0; i < arrival.gradients.size(); ++i) {
    const GradientId& gradient = arrival.gradients[i];
    auto late_message = version_.blank();
    late_message->worker = static_cast<int>(gradient.worker);
    late_message->number = gradient.iteration;
    late_message->base = gradient.base;
    late_message->message.everything = arrival.sum.message.everything;
    late_message->message.form = arrival.sum.message.form;
    late_message->scalars.nnz_sent = static_cast<double>(arrival.entries[i]);
    late_messages.push_back(std::move(late_message));
  }
}

template <class Real>
void RealLoop<Real>::note_failure(const WorkerFailure& failure) {
  if (failure.message.empty()) {
    found_ = std::min(found_,
                      StepEnd{.reason = StepEnd::Reason::broken_worker, .worker = failure.worker});
  } else if (!failure_) {
    failure_ =
        Error(ExitCode::resource, fmt::format("worker {}: {}", failure.worker, failure.message));
  }
}

/// Keeps w as the model that is sent to workers.
template <class Real>
void RealLoop<Real>::take_newest_model(std::uint64_t version) {
  newest_.version = version;
  newest_.step_size = state_.step_size_at(first_ + version, version_.gradients());
  newest_.numbers = state_.working_model();
}

/// Shows the version that was made last.
template <class Real>
void RealLoop<Real>::show() {
  if (!updated_) {
    return;  // it was made in name only
  }
  SimulatedVersion made = parallel_->take_notes();
  made.time = clock_.now();
  add_counts(carried_, made);
  carried_ = {};
  note_known(made);
  made.version += first_;
  for (GradientId& gradient : made.gradients) {
    gradient.base += first_;
  }
  version_.finish(*std::exchange(updated_, std::nullopt), made, known_);
}

/// Notes what the server knows of the workers. Bytes are booked on the first of them.
template <class Real>
void RealLoop<Real>::note_known(const SimulatedVersion& made) {
  for (const auto& late_message : version_.late_messages()) {
    WorkerScalars& scalars = known_[static_cast<std::size_t>(late_message->worker)];
    scalars.nnz_sent = late_message->scalars.nnz_sent;
    scalars.total_nnz += late_message->scalars.nnz_sent;
  }
  WorkerScalars& first = known_.front();
  const Traffic traffic = version_.traffic_of(made, roster_, version_.late_messages());
  first.bytes = static_cast<double>(traffic.bytes);
  first.down_bytes = static_cast<double>(traffic.down);
  first.total_bytes += first.bytes;
  first.total_down_bytes += first.down_bytes;
}

template <class Real>
void RealLoop<Real>::save_or_load_server(ActorState& state) {
  version_.save_or_load(state);
  for (WorkerScalars& scalars : known_) {
    state.record(scalars);
  }
  state.value(carried_.bytes_up);
  state.value(carried_.bytes_down);
  state.value(carried_.control_bytes);
  for (double& seconds : carried_.waits) {
    state.value(seconds);
  }
  double seconds = clock_.now();
  state.value(seconds);
  if (state.loads()) {
    clock_.set(seconds);
  }
  state.value(state_.averaged());
}

template <class Real>
void RealLoop<Real>::save_or_load(RunState& state) {
  workers_.save_or_load(state);
  pass_of_root(
      cluster_, LoadedBy::root, [&](ActorState& numbers) { save_or_load_server(numbers); }, state);
}

template class RealLoop<float>;
template class RealLoop<double>;

}  // namespace residuum
