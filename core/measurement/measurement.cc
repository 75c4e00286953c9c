#include "core/measurement/measurement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/measurement/gathering.h"
#include "core/measurement/magnitudes.h"
#include "core/quantisers/coded_message.h"
#include "core/training/memory_averages.h"
#include "core/training/method_facts.h"
#include "core/training/training.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

/// Returns how many entries of every layer a worker may send, where layers are selected from
/// separately and the data do not decide.
std::vector<double> layer_counts(const Sparsifier& sparsifier) {
  std::vector<double> counts;
  for (std::size_t layer = 0; layer < sparsifier.segments().size(); ++layer) {
    if (const auto k = sparsifier.segment_k(layer)) {
      counts.push_back(static_cast<double>(*k));
    }
  }
  return counts;
}

/// Returns how many entries the workers, or the late messages of a version, sent together.
double entries_of(std::span<const WorkerScalars> workers) {
  double entries = 0;
  for (const auto& scalars : workers) {
    entries += scalars.nnz_sent;
  }
  return entries;
}
template <class Real>
double entries_of(const VersionParts<Real>& parts) {
  double entries = 0;
  for (const auto* late_message : parts.late_messages) {
    entries += late_message->scalars.nnz_sent;
  }
  return entries;
}

/// Returns the scalars of the workers that take part; none where all do.
std::vector<WorkerScalars> contributed_by(const Participants& participants,
                                          std::span<const WorkerScalars> workers) {
  std::vector<WorkerScalars> contributed;
  for (const int worker :
       participants.are_all() ? std::span<const int>() : participants.numbers()) {
    contributed.push_back(workers[static_cast<std::size_t>(worker)]);
  }
  return contributed;
}

/// Returns the bytes of the workers' messages of this iteration, of d numbers each, by the number
/// of values, the form of their indices and the quantiser, or a bound where layers are quantised
/// one by one; absent where they are plain lists, none of all entries.
template <class Real>
std::optional<double> bytes_of_messages(const Method& method,
                                        std::uint64_t iteration,
                                        std::span<const WorkerScalars> workers,
                                        std::size_t d) {
  const IndexForm form = method.sparsifier_at(iteration).index_form(d);
  const Coding coding = method.coding();
  const bool any_is_whole = std::any_of(workers.begin(), workers.end(), [d](const auto& one) {
    return one.nnz_sent == static_cast<double>(d);
  });
  if (coding.quantiser == nullptr && form.kind == IndexForm::Kind::listed && !any_is_whole) {
    return std::nullopt;
  }
  double bytes = 0;
  for (const auto& scalars : workers) {
    const auto values = static_cast<std::size_t>(scalars.nnz_sent);
    bytes += static_cast<double>(bytes_of_message<Real>(method, iteration, values, d));
  }
  return bytes;
}

/// Returns the histogram of the accumulators of the workers that take part: the share of their
/// entries in each bin of magnitudes.h. Counts are exact, so that it does not matter which process
/// counts whose. `workers` are those of this process. The call is collective.
template <class Real>
std::vector<double> magnitude_shares(const Training& training,
                                     std::span<const Worker<Real>> workers,
                                     const Participants& participants) {
  std::vector<double> counts(kMagnitudeBins);
  for (const auto& worker : workers) {
    if (participants.has(worker.number)) {
      count_magnitudes<Real>(worker.memory.accumulator(), counts);
    }
  }
  const auto of_processes = training.cluster->all_gather(counts);
  std::vector<double> shares(kMagnitudeBins);
  for (std::size_t i = 0; i < of_processes.size(); ++i) {
    shares[i % kMagnitudeBins] += of_processes[i];
  }
  const auto entries = static_cast<double>(participants.count()) *
                       static_cast<double>(training.objective->dimension());
  for (double& share : shares) {
    share /= entries;
  }
  return shares;
}

/// Returns the record of a run, with what the training knows of its objective.
RunFacts facts_of(const Training& training, const ProtocolLaw& law) {
  RunFacts facts = method_facts(
      *training.method, training.objective->dimension(), law, training.cluster->workers());
  if (training.minimum) {
    facts.objective.minimum = Known{.value = *training.minimum, .origin = {}};
  }
  return facts;
}

/// Returns whether the means of gradients and of what feedback takes in are two: with velocities,
/// and with estimates of workers some of whom are absent.
bool inputs_are_no_gradients(const Feedback& feedback, bool leaves_out) {
  return feedback.has_velocity() || (leaves_out && feedback.estimates());
}

}  // namespace

template <class Real>
Measurement<Real>::Measurement(const Training& training,
                               const ProtocolLaw& law,
                               std::span<const double> initial_point)
    : training_(training),
      facts_(facts_of(training, law)),
      is_root_(training.cluster->world().is_root()),
      in_gradient_units_(training.method->feedback->units() == Units::gradient),
      late_(law.synchrony == Synchrony::late),
      in_rounds_(law.in_rounds),
      sees_messages_only_(law.is_real),
      have_own_models_(law.synchrony == Synchrony::neighbours),
      layers_(matrices_of(*training.objective)),
      mean_(*training.cluster, training.plan.measure ? initial_point.size() : 0),
      virtual_(training, late_, initial_point),
      unperturbed_(training, law.local_steps, initial_point) {
  const MeasurementPlan& plan = training.plan;
  takes_gradient_ = plan.mean_gradient || plan.follows_iterate || unperturbed_.is_followed();
  takes_accumulator_ = plan.mean_accumulator;
  takes_residual_ = plan.mean_residual || plan.follows_iterate;
  if (!plan.measure || !is_root_) {
    return;
  }
  const std::size_t d = initial_point.size();
  mean_gradient_.resize(takes_gradient_ ? d : 0);
  mean_accumulator_.resize(takes_accumulator_ ? d : 0);
  mean_residual_.resize(takes_residual_ ? d : 0);
  const bool leaves_out = training.taking_part() < training.cluster->workers();
  waiting_.resize(leaves_out && takes_residual_ ? d : 0);
  expected_gap_.resize(leaves_out && takes_residual_ ? d : 0);
  const bool follows_input =
      late_ || inputs_are_no_gradients(*training.method->feedback, leaves_out);
  mean_input_.resize(follows_input && plan.follows_iterate ? d : 0);
}

template <class Real>
void Measurement<Real>::before_update(const StepState<Real>& state, bool measured) {
  if (!training_.plan.measure) {
    return;
  }
  take_means(state, measured);
  magnitudes_.clear();
  if (is_due(training_.plan.magnitudes, state.iteration)) {
    magnitudes_ = magnitude_shares(training_, state.workers, state.participants);
  }
  move_iterates(state, measured);
}

template <class Real>
void Measurement<Real>::before_update(const StepState<Real>& state,
                                      const VersionParts<Real>& parts,
                                      bool measured) {
  if (!training_.plan.measure) {
    return;
  }
  if (is_root_ && !sees_messages_only_) {
    take_late_means(state, parts, measured);
  }
  move_iterates(state, measured);
}

/// Moves z and u by the means, and compares w_t with other points.
template <class Real>
void Measurement<Real>::move_iterates(const StepState<Real>& state, bool measured) {
  if (is_root_ && !sees_messages_only_) {
    if (training_.plan.follows_iterate) {
      virtual_.move(virtual_step(state));
    }
    unperturbed_.move(
        state.step_size, state.steps_locally ? mean_first_gradient_ : mean_gradient_, state.model);
    if (measured) {
      note_decay(state.model);
    }
  }
  if (is_root_ && measured && !training_.minimizer.empty()) {
    distance_sq_ = distance_sq(state.model, training_.minimizer);
  }
}

template <class Real>
void Measurement<Real>::take_late_means(const StepState<Real>& state,
                                        const VersionParts<Real>& parts,
                                        bool measured) {
  late_measurement_.take(parts, state.step_size, in_gradient_units_);
  if (takes_gradient_) {
    late_measurement_.gradient(parts, mean_gradient_);
  }
  if (training_.plan.follows_iterate) {
    late_measurement_.input(parts, state.step_size, in_gradient_units_, mean_input_);
  }
  if (measured && takes_accumulator_) {
    late_measurement_.accumulator(parts, mean_accumulator_);
  }
  if (measured && takes_residual_) {
    late_measurement_.residual(parts, mean_residual_);
  }
}

template <class Real>
template <class VectorOf>
void Measurement<Real>::take_mean(const StepState<Real>& state,
                                  const VectorOf& vector_of,
                                  std::vector<double>& mean) {
  mean_.take_some(
      state.workers,
      state.participants.count(),
      [&](int worker) { return state.participants.has(worker); },
      vector_of,
      mean);
}

/// Computes (1/m) times the sum of the residuals of the workers that do not take part, of which
/// there are P - m: the part of w - z that they hold back.
template <class Real>
void Measurement<Real>::take_waiting(const StepState<Real>& state) {
  mean_.take_some(
      state.workers,
      state.participants.count(),
      [&](int worker) { return !state.participants.has(worker); },
      [](const Worker<Real>& worker) { return worker.memory.residual(); },
      waiting_);
}

/// Takes means over the workers that take part: between two measured iterations those alone that an
/// iterate is moved by.
template <class Real>
void Measurement<Real>::take_means(const StepState<Real>& state, bool measured) {
  if (!measured && !training_.plan.follows_iterate && !unperturbed_.is_followed()) {
    return;
  }
  if (takes_gradient_) {
    take_mean(
        state,
        [](const Worker<Real>& worker) { return worker.gradient.gradient(); },
        mean_gradient_);
  }
  if (state.steps_locally && unperturbed_.is_followed()) {
    mean_first_gradient_.resize(mean_gradient_.size());  // used on the root
    take_mean(
        state,
        [](const Worker<Real>& worker) { return std::span(worker.gradient.first()); },
        mean_first_gradient_);
  }
  if (training_.plan.follows_iterate && keeps_absent_estimates(state)) {
    take_estimated(state);
  } else if (training_.plan.follows_iterate && training_.method->feedback->has_velocity()) {
    take_mean(
        state,
        [&](const Worker<Real>& worker) { return worker.memory.all().subspan(state.model.size()); },
        mean_input_);
  }
  if (measured && takes_accumulator_ && !have_own_models_) {
    take_mean(
        state,
        [](const Worker<Real>& worker) { return worker.memory.accumulator(); },
        mean_accumulator_);
  }
  if (measured && takes_residual_ && !state.participants.are_all()) {
    take_waiting(state);
  }
  if (state.split && !have_own_models_) {
    mean_half_gradient_.resize(mean_gradient_.size());  // used on the root
    take_mean(
        state,
        [](const Worker<Real>& worker) { return std::span(worker.gradient.half()); },
        mean_half_gradient_);
  }
}

/// True if the model moves by estimates of workers that do not take part, too.
template <class Real>
bool Measurement<Real>::keeps_absent_estimates(const StepState<Real>& state) const {
  return training_.method->feedback->estimates() && !state.participants.are_all();
}

/// Takes the mean over all workers of what their estimates follow: the average of their gradients
/// where there is one, else the gradient of the version that each took part in last, which is e^p
/// plus the estimate. The model would move by it if nothing were compressed.
template <class Real>
void Measurement<Real>::take_estimated(const StepState<Real>& state) {
  const std::size_t d = state.model.size();
  const auto take = [&](std::size_t vector, std::vector<double>& mean) {
    mean_.take(
        state.workers,
        [&](const Worker<Real>& worker) { return worker.memory.all().subspan(vector * d, d); },
        mean);
  };
  take(1, mean_input_);
  if (training_.method->feedback->has_velocity()) {
    return;
  }
  missed_.resize(mean_input_.size());  // used on the root
  take(0, missed_);
  for (std::size_t i = 0; i < missed_.size(); ++i) {
    mean_input_[i] += missed_[i];
  }
}

template <class Real>
void Measurement<Real>::note_decay(std::span<const double> model) {
  const double decay = training_.method->effective_decay();
  if (decay == 0 || !unperturbed_.is_followed()) {
    return;
  }
  decay_terms_ = {.decay = decay,
                  .gradient_dot_model =
                      std::inner_product(model.begin(), model.end(), mean_gradient_.begin(), 0.0),
                  .model_norm_sq = norm_sq<double>(model)};
}

template <class Real>
VirtualIterate::Step Measurement<Real>::virtual_step(const StepState<Real>& state) const {
  return {.size = state.step_size,
          .update_scale = state.update_scale,
          .model = state.model,
          .mean_gradient = mean_gradient_,
          .mean_input = mean_input_.empty() ? mean_gradient_ : mean_input_};
}

template <class Real>
void Measurement<Real>::after_update(const StepState<Real>& state, bool measured) {
  if (!training_.plan.measure) {
    return;
  }
  follow_residuals(state, measured);
  if (measured) {
    gather_scalars(state);
    lists_.gather(*training_.cluster, state.workers, state.participants);
  }
}

template <class Real>
void Measurement<Real>::after_update(const StepState<Real>& state,
                                     const VersionParts<Real>& parts,
                                     bool measured) {
  if (!training_.plan.measure) {
    return;
  }
  if (is_root_ && !sees_messages_only_ && training_.plan.follows_iterate) {
    virtual_.move_expected_gap_by(virtual_step(state),
                                  late_measurement_.residual_fall(parts, mean_gradient_.size()));
  }
  if (!measured) {
    return;
  }
  if (sees_messages_only_) {
    worker_scalars_.assign(parts.of_workers.begin(), parts.of_workers.end());
  } else {
    gather_scalars(state);
  }
  if (is_root_) {
    lists_.take(parts, late_measurement_);
  }
  if (in_rounds_) {  // workers have compressed later messages meanwhile
    contributed_.clear();
    for (const LateMessage<Real>* late_message : parts.late_messages) {
      contributed_.push_back(late_message->scalars);
    }
  }
}

/// The expected gap of models of the workers' own stays 0.
template <class Real>
void Measurement<Real>::after_update(const StepState<Real>& state,
                                     const VersionNotes& /*notes*/,
                                     bool measured) {
  if (training_.plan.measure && measured) {
    gather_scalars(state);
  }
}

template <class Real>
void Measurement<Real>::follow_residuals(const StepState<Real>& state, bool measured) {
  const bool gap_needs_residual =
      training_.plan.follows_iterate && !virtual_.gap_is_mean_residual();
  if (!(measured && takes_residual_) && !gap_needs_residual) {
    return;
  }
  mean_.take(
      state.workers,
      [](const Worker<Real>& worker) { return worker.memory.residual(); },
      mean_residual_);
  // Gradients are divided by m, the number of participants, whether applied yet or not; estimates
  // by that of all workers.
  const double scale =
      keeps_absent_estimates(state)
          ? 1
          : training_.cluster->workers() / static_cast<double>(training_.taking_part());
  for (std::size_t i = 0; i < expected_gap_.size(); ++i) {
    expected_gap_[i] = scale * mean_residual_[i];
  }
  if (gap_needs_residual && is_root_) {
    virtual_.move_expected_gap(virtual_step(state),
                               expected_gap_.empty() ? mean_residual_ : expected_gap_);
  }
}

template <class Real>
void Measurement<Real>::gather_scalars(const StepState<Real>& state) {
  worker_scalars_ = gathered_scalars<Real>(*training_.cluster, state.workers);
  contributed_ = contributed_by(state.participants, worker_scalars_);
}

template <class Real>
SelectionView Measurement<Real>::selection_view(const StepState<Real>& state,
                                                double messages,
                                                double entries) const {
  const Sparsifier& sparsifier = training_.method->sparsifier_at(state.iteration);
  const std::size_t d = state.model.size();
  const auto law = training_.method->message_law(sparsifier, d, memory_step(state));
  SelectionView view{.k = sparsifier.k(d) ? static_cast<double>(state.k) : entries / messages,
                     .by_layer = !sparsifier.segments().empty(),
                     .keeps_largest = law.keeps_largest,
                     .layer_k = layer_counts(sparsifier),
                     .threshold = std::nullopt,
                     .contraction = law.pathwise ? law.contraction : std::nullopt};
  // Late messages were selected at the steps and densities of earlier versions.
  const Method& method = *training_.method;
  if (law.threshold && (!late_ || (method.step_rule->constant() && method.stages.empty()))) {
    view.threshold = static_cast<Real>(*law.threshold);  // rounded as the selection compares
  }
  return view;
}

template <class Real>
ExchangeView Measurement<Real>::exchange_view(const StepState<Real>& state) const {
  Traffic traffic = state.exchanged.traffic;
  traffic.bytes = 0;  // those of all processes are counted here
  traffic.down = 0;
  for (const auto& scalars : worker_scalars_) {
    traffic.bytes += static_cast<std::uint64_t>(scalars.bytes);
    traffic.down += static_cast<std::uint64_t>(scalars.down_bytes);
  }
  return {.is_dense = state.exchanged.is_dense,
          .dense_update = dense_update_,
          .update = &update_,
          .sent = lists_.sent(),
          .removed = lists_.removed(),
          .returned = lists_.returned(),
          .sent_everything = lists_.sent_everything(),
          .removed_is_dense = lists_.removed_is_dense(),
          .traffic = traffic,
          .traffic_model = (late_ && !in_rounds_) || have_own_models_
                               ? std::nullopt
                               : std::optional(traffic_model(state)),
          .divisor = state.participants.are_all()
                         ? std::nullopt
                         : std::optional<double>(state.participants.count())};
}

template <class Real>
TrafficModel Measurement<Real>::traffic_model(const StepState<Real>& state) const {
  TrafficModel model = training_.method->aggregator->traffic_model(
      {.workers = state.participants.count(),
       .entries = entries_of(contributed_.empty() ? worker_scalars_ : contributed_),
       .whole_messages = lists_.sent_everything(),
       .dimension = static_cast<double>(state.model.size()),
       .k = static_cast<double>(state.k),
       .value_bytes = sizeof(Real),
       .coded_bytes = bytes_of_messages<Real>(*training_.method,
                                              state.iteration,
                                              contributed_.empty() ? worker_scalars_ : contributed_,
                                              state.model.size()),
       .coded_bytes_are_exact = training_.method->quantised_layers.empty(),
       .layers = layers_});
  const auto memories = static_cast<double>(training_.method->averaged_memories(state.iteration));
  model.bytes += memories * all_reduce_of_memories().traffic(
                                state.participants.count(),
                                static_cast<double>(state.model.size() * sizeof(Real)));
  return model;
}

template <class Real>
IteratesView Measurement<Real>::iterates_view(const StepState<Real>& state) const {
  IteratesView view;
  virtual_.fill(view);
  view.model = state.model;
  view.unperturbed = unperturbed_.iterate();
  view.distance_sq = distance_sq_;
  view.shift = state.shift;
  if (virtual_.gap_is_mean_residual()) {
    view.expected_gap = expected_gap_.empty() ? mean_residual_ : expected_gap_;
  }
  if (unperturbed_.is_followed()) {
    view.unperturbed_sums = unperturbed_.sums_before();
    view.decay_terms = decay_terms_;
  }
  return view;
}

/// Returns the view of an iteration, by the number of its messages and of their entries.
template <class Real>
StepView Measurement<Real>::view_of(const StepState<Real>& state,
                                    const ShownBeside& beside,
                                    double messages,
                                    double entries) {
  if (state.exchanged.is_dense) {
    dense_update_.assign(state.exchanged.dense_sum.begin(), state.exchanged.dense_sum.end());
  } else {
    update_ = widened(state.exchanged.sum);
  }
  const Method& method = *training_.method;
  return {.facts = facts_,
          .iteration = state.iteration,
          .epoch = state.epoch,
          .step_size = state.step_size,
          .memory_step = memory_step(state),
          .follows_measured = last_measured_ + 1 == state.iteration,
          .sorts = training_.plan.sorted && training_.plan.sorted->due(state.iteration),
          .unit_roundoff = std::numeric_limits<Real>::epsilon() / 2,
          .momentum_after_exchange = method.momentum,
          .steps_locally = state.steps_locally,
          .batch_is_exact = training_.objective->samples() > 0 && training_.batch == 0,
          .loses_only_by_decay =
              have_own_models_ ||
              method.loses_only_by_decay(lists_.sent_everything(), training_.taking_part()),
          .worker_smoothness = training_.worker_smoothness,
          .minimizer = training_.minimizer,
          .lyapunov = training_.lyapunov,
          .selection = selection_view(state, messages, entries),
          .mean = {.gradient = mean_gradient_,
                   .accumulator = mean_accumulator_,
                   .residual = mean_residual_,
                   .waiting = waiting_},
          .exchange = exchange_view(state),
          .iterates = iterates_view(state),
          .evaluations = beside.evaluations,
          .worker_scalars = worker_scalars_,
          .contributed = contributed_,
          .contributors =
              state.participants.are_all() ? std::span<const int>() : state.participants.numbers(),
          .notes = std::nullopt,
          .halves = std::nullopt,
          .late_noise = std::nullopt,
          .test = beside.test,
          .times = beside.times,
          .network = state.network,
          .magnitudes = magnitudes_};
}

template <class Real>
void Measurement<Real>::hand_over(const StepView& view, StepObserver& observer) {
  last_measured_ = view.iteration;
  observer.observe(view);
}

template <class Real>
void Measurement<Real>::show(const StepState<Real>& state,
                             const ShownBeside& beside,
                             StepObserver& observer) {
  if (!is_root_) {
    return;
  }
  StepView view = view_of(state, beside, state.participants.count(), entries_of(worker_scalars_));
  if (state.split) {
    view.halves =
        HalfBatches{.mean_first = mean_half_gradient_, .first = first_half_of_batch(training_)};
  }
  hand_over(view, observer);
}

template <class Real>
void Measurement<Real>::show(const StepState<Real>& state,
                             const VersionParts<Real>& parts,
                             const ShownBeside& beside,
                             StepObserver& observer) {
  if (!is_root_) {
    return;
  }
  StepView view =
      view_of(state, beside, static_cast<double>(parts.late_messages.size()), entries_of(parts));
  late_measurement_.fill(parts, view);
  hand_over(view, observer);
}

template <class Real>
void Measurement<Real>::show(const StepState<Real>& state,
                             const VersionNotes& notes,
                             const ShownBeside& beside,
                             StepObserver& observer) {
  if (!is_root_) {
    return;
  }
  StepView view = view_of(state, beside, state.participants.count(), entries_of(worker_scalars_));
  view.notes = notes;
  if (state.split) {
    const auto add = [](double sum, const auto& scalars) { return sum + scalars.noise_variance; };
    view.late_noise = std::accumulate(worker_scalars_.begin(), worker_scalars_.end(), 0.0, add) /
                      static_cast<double>(worker_scalars_.size());
  }
  hand_over(view, observer);
}

template <class Real>
void Measurement<Real>::save_or_load(RunState& state) {
  virtual_.save_or_load(state);
  unperturbed_.save_or_load(state);
  state.root(last_measured_);
  if (late_) {
    late_measurement_.save_or_load(state);
  }
}

template class Measurement<float>;
template class Measurement<double>;

}  // namespace residuum
