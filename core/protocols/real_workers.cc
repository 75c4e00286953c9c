#include "core/protocols/real_workers.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "core/protocols/actors/actor_message.h"
#include "core/protocols/late_version.h"

namespace residuum {
namespace {

/// Takes the message of a gradient out of the list; null if it is not there.
template <class Real>
std::unique_ptr<LateMessage<Real>> take_from(
    std::vector<std::unique_ptr<LateMessage<Real>>>& messages, const GradientId& gradient) {
  const auto found = std::find_if(messages.begin(), messages.end(), [&](const auto& message) {
    return message->worker == static_cast<int>(gradient.worker) &&
           message->number == gradient.iteration;
  });
  if (found == messages.end()) {
    return nullptr;
  }
  auto message = std::move(*found);
  messages.erase(found);
  return message;
}

void pack_failure(const WorkerFailure& failure, Bytes& bytes) {
  pack(static_cast<std::uint64_t>(failure.worker), bytes);
  const auto text = std::as_bytes(std::span(failure.message));
  bytes.insert(bytes.end(), text.begin(), text.end());
}

WorkerFailure unpack_failure(std::span<const std::byte> bytes) {
  WorkerFailure failure{.worker = static_cast<int>(unpack_number(bytes)), .message = {}};
  failure.message.resize(bytes.size());
  std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(failure.message)).begin());
  return failure;
}

}  // namespace

template <class Real>
RealWorkers<Real>::RealWorkers(TrainingState<Real>& state,
                               const Roster& roster,
                               Weights weights,
                               std::optional<Pace> pace)
    : state_(state),
      d_(state.training().objective->dimension()),
      roster_(roster),
      weights_(weights),
      pace_(std::move(pace)),
      reading_(static_cast<std::size_t>(state.cluster().count())),
      ready_(reading_.size()),
      numbers_(reading_.size()),
      numbers_before_(reading_.size()),
      broken_(reading_.size()),
      models_(roster.actors()),
      waiting_(roster.actors()),
      sent_(roster.actors()),
      failures_(roster.actors()) {}

template <class Real>
void RealWorkers<Real>::begin_at(std::uint64_t t, TravellingModel<Real> model) {
  first_ = t;
  numbers_before_ = numbers_;
  std::for_each(waiting_.begin(), waiting_.end(), [](Messages& messages) { messages.clear(); });
  std::for_each(sent_.begin(), sent_.end(), [](Messages& messages) { messages.clear(); });
  std::fill(models_.begin(),
            models_.end(),
            std::make_shared<const TravellingModel<Real>>(std::move(model)));
}

/// Returns the actor to which the models of a worker are sent.
template <class Real>
ActorId RealWorkers<Real>::source_of(std::uint32_t worker) const {
  return roster_.nodes > 0 ? roster_.node(worker / roster_.workers_of_node()) : worker;
}

template <class Real>
void RealWorkers<Real>::read(const GradientId& gradient) {
  const std::size_t place = slot(gradient.worker);
  reading_[place] = models_[source_of(gradient.worker)];
  check_actor_message(reading_[place]->version == gradient.base);
  numbers_[place] = numbers_before_[place] + gradient.iteration + 1;
}

template <class Real>
double RealWorkers<Real>::least_seconds(const GradientId& gradient, double now) {
  if (!pace_) {
    return 0;
  }
  const std::uint64_t number = numbers_before_[slot(gradient.worker)] + gradient.iteration;
  return pace_->seconds(static_cast<int>(gradient.worker), number, 1, now);
}

template <class Real>
void RealWorkers<Real>::calculate(const GradientId& gradient) {
  auto late_message = std::make_unique<LateMessage<Real>>();
  late_message->worker = static_cast<int>(gradient.worker);
  late_message->number = gradient.iteration;
  late_message->base = gradient.base;
  std::optional<WorkerFailure>& failure = broken_[slot(gradient.worker)];
  if (!failure) {  // what was not finite must stay as it is, to be named
    try {
      const std::lock_guard lock(computing_);
      make_message(gradient, *late_message);
    } catch (const Error& error) {
      failure = {.worker = late_message->worker, .message = error.what()};
    } catch (const std::bad_alloc&) {
      failure = {.worker = late_message->worker, .message = "out of memory"};
    }
  }
  ready_[slot(gradient.worker)] = {.message = failure ? nullptr : std::move(late_message),
                                   .failure = failure};
}

template <class Real>
void RealWorkers<Real>::make_message(const GradientId& gradient, LateMessage<Real>& late_message) {
  const std::size_t place = slot(gradient.worker);
  Worker<Real>& worker = state_.worker(late_message.worker);
  const TravellingModel<Real>& at = *reading_[place];
  const std::uint64_t number = numbers_before_[place] + gradient.iteration;
  worker.gradient.compute(
      {.first = number, .count = 1, .step_size = at.step_size, .splits_first = false},
      at.numbers,
      state_.scratch(),
      worker.scalars);
  const bool is_finite = form_late_message(worker,
                                           {.number = number,
                                            .version = first_ + gradient.base,
                                            .step_size = at.step_size,
                                            .before = number},
                                           /*measured=*/false,
                                           state_.scratch(),
                                           late_message);
  if (!is_finite) {
    broken_[place] = {.worker = late_message.worker, .message = {}};
  }
}

template <class Real>
void RealWorkers<Real>::hand_in(const GradientId& gradient, int node) {
  Ready ready = std::exchange(ready_[slot(gradient.worker)], {});
  const ActorId source = source_of(gradient.worker);
  if (ready.failure) {
    failures_[source] = std::move(ready.failure);
  } else {
    (node < 0 ? sent_ : waiting_)[source].push_back(std::move(ready.message));
  }
}

template <class Real>
void RealWorkers<Real>::collect(int node) {
  const ActorId actor = roster_.node(static_cast<std::uint32_t>(node));
  sent_[actor] = std::exchange(waiting_[actor], {});
}

template <class Real>
void RealWorkers<Real>::discard(const GradientId& gradient) {
  const ActorId source = source_of(gradient.worker);
  auto message = take_from(waiting_[source], gradient);
  if (message == nullptr) {
    message = take_from(sent_[source], gradient);
  }
  if (message == nullptr) {
    message = std::exchange(ready_[slot(gradient.worker)], {}).message;
  }
  if (message != nullptr) {
    state_.worker(message->worker).memory.return_message(message->message, message->accumulator);
  }
}

template <class Real>
std::uint64_t RealWorkers<Real>::pack_sent(ActorId from, Bytes& bytes) {
  pack(std::bit_cast<std::uint64_t>(std::exchange(idle_s_, 0)), bytes);
  const std::optional<WorkerFailure>& failure = failures_[from];
  pack(failure ? std::uint64_t{1} : std::uint64_t{0}, bytes);
  if (failure) {
    pack_failure(*failure, bytes);
    return 0;
  }
  const Messages& messages = sent_[from];
  for (const auto& message : messages) {
    pack(message->message.values_sent(d_), bytes);
  }
  if (messages.empty()) {
    return 0;
  }
  MessageSum<Real> sum = sum_of<Real>(messages, weights_, d_);
  if (roster_.nodes == 0) {  // it is one message, which travels as it was written
    const Message<Real>& message = messages.front()->message;
    sum.message.coded = message.coded;
    sum.message.form = message.form;
    sum.message.blocks = message.blocks;
  }
  return pack_sum(sum, d_, bytes);
}

template <class Real>
void RealWorkers<Real>::take(ActorId to, TravellingModel<Real> model) {
  check_actor_message(model.numbers.size() == d_);
  if (models_[to]->version >= model.version) {
    return;
  }
  models_[to] = std::make_shared<const TravellingModel<Real>>(std::move(model));
  sent_[to].clear();
}

template <class Real>
void RealWorkers<Real>::save_or_load(RunState& state) {
  state.workers<std::uint64_t>(1,
                               [&](std::size_t place) { return std::span(&numbers_[place], 1); });
}

template <class Real>
std::uint64_t unpack_arrival(std::span<const std::byte> bytes,
                             const Training& training,
                             Arrival<Real>& arrival) {
  arrival.idle_s = std::bit_cast<double>(unpack_number(bytes));
  if (unpack_number(bytes) != 0) {
    arrival.failure = unpack_failure(bytes);
    return 0;
  }
  for (std::size_t i = 0; i < arrival.gradients.size(); ++i) {
    arrival.entries.push_back(unpack_number(bytes));
  }
  if (arrival.gradients.empty()) {
    check_actor_message(bytes.empty());
    return 0;
  }
  const std::size_t d = training.objective->dimension();
  arrival.sum.message.coded_values = arrival.entries.front();
  arrival.sum.message.form = training.method->sparsifier->index_form(d);
  return unpack_sum(bytes, d, training.method->coding(), arrival.sum);
}

template class RealWorkers<float>;
template class RealWorkers<double>;
template std::uint64_t unpack_arrival(std::span<const std::byte>, const Training&, Arrival<float>&);
template std::uint64_t unpack_arrival(std::span<const std::byte>,
                                      const Training&,
                                      Arrival<double>&);

}  // namespace residuum
