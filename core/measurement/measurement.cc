#include "core/measurement/measurement.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#include "core/vectors/dense.h"

namespace residuum {
namespace {

static_assert(std::is_trivially_copyable_v<WorkerScalars> &&
              sizeof(WorkerScalars) % sizeof(double) == 0);

template <class Real>
SparseVector<double> widened(const SparseVector<Real>& vector) {
  return {.indices = vector.indices, .values = {vector.values.begin(), vector.values.end()}};
}

/// Gathers list_of(worker) of all workers on the root and widens the values to float64.
template <class Real, class ListOf>
std::vector<SparseVector<double>> gathered(const Cluster& cluster,
                                           std::span<const Worker<Real>> workers,
                                           Mail<Real>& mail,
                                           const ListOf& list_of) {
  std::vector<const SparseVector<Real>*> mine;
  for (const auto& worker : workers) {
    mine.push_back(&list_of(worker));
  }
  std::vector<SparseVector<double>> all;
  for (const auto* list : cluster.all_gather<Real>(mine, mail)) {
    all.push_back(widened(*list));
  }
  return all;
}

/// Fills in how many entries of every layer a worker may send, where layers are selected from
/// separately.
void fill_layers(const Sparsifier& sparsifier, StepView& view) {
  const std::size_t layers = sparsifier.segments().size();
  view.selects_by_layer = layers > 0;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    if (const auto k = sparsifier.segment_k(layer)) {
      view.layer_k.push_back(static_cast<double>(*k));
    }
  }
}

}  // namespace

template <class Real>
Measurement<Real>::Measurement(const Training& training, std::span<const double> initial_point)
    : training_(training),
      is_root_(training.cluster->world().is_root()),
      in_gradient_units_(training.method->feedback->units() == Units::gradient),
      gap_is_mean_residual_(training.method->momentum == 0 && !in_gradient_units_ &&
                            training.method->clip != Clip::update),
      unperturbed_(training, initial_point) {
  if (!training.plan.measure) {
    return;
  }
  const std::size_t d = initial_point.size();
  if (!is_root_) {
    passing_.resize(d);
    return;
  }
  mean_gradient_.resize(d);
  mean_accumulator_.resize(d);
  mean_residual_.resize(d);
  mean_input_.resize(training.method->feedback->has_velocity() ? d : 0);
  z_.assign(initial_point.begin(), initial_point.end());
  if (training.method->momentum != 0) {
    z_velocity_.resize(d);
  }
  if (!gap_is_mean_residual_) {
    previous_residual_.resize(d);
    expected_gap_.resize(d);
    gap_velocity_.resize(d);
  }
}

/// Takes the mean on one process, which has all vectors. It goes block by block, so that sums stay
/// in the nearest cache, and adds in the same order as several processes do.
template <class Real>
template <class VectorOf>
void Measurement<Real>::mean_here(Workers workers,
                                  const VectorOf& vector_of,
                                  std::vector<double>& mean) {
  constexpr std::size_t kBlock = 1024;
  const auto count = static_cast<double>(workers.size());
  for (std::size_t begin = 0; begin < mean.size(); begin += kBlock) {
    const auto block = std::span(mean).subspan(begin, std::min(kBlock, mean.size() - begin));
    std::fill(block.begin(), block.end(), 0.0);
    for (const auto& worker : workers) {
      add_to<Real>(block, vector_of(worker).subspan(begin, block.size()));
    }
    for (double& value : block) {
      value /= count;
    }
  }
}

template <class Real>
template <class VectorOf>
void Measurement<Real>::mean_of(Workers workers,
                                const VectorOf& vector_of,
                                std::vector<double>& mean) {
  const Cluster& cluster = *training_.cluster;
  if (cluster.world().size() == 1) {
    mean_here(workers, vector_of, mean);
    return;
  }
  const auto add = [&](int worker, std::size_t begin, std::span<double> block) {
    add_to<Real>(block, vector_of(workers[cluster.slot(worker)]).subspan(begin, block.size()));
  };
  cluster.sum_in_worker_order(std::span(is_root_ ? mean : passing_), /*everywhere=*/false, add);
  if (is_root_) {
    const double count = cluster.workers();
    for (double& value : mean) {
      value /= count;
    }
  }
}

template <class Real>
void Measurement<Real>::before_update(const StepState<Real>& state, bool measured) {
  if (!training_.plan.measure) {
    return;
  }
  mean_of(
      state.workers,
      [](const Worker<Real>& worker) { return std::span(worker.gradient.gradient()); },
      mean_gradient_);
  if (training_.method->feedback->has_velocity()) {
    mean_of(
        state.workers,
        [&](const Worker<Real>& worker) { return worker.memory.all().subspan(state.model.size()); },
        mean_input_);
  }
  if (measured) {
    mean_of(
        state.workers,
        [](const Worker<Real>& worker) { return worker.memory.accumulator(); },
        mean_accumulator_);
  }
  if (state.split) {
    mean_half_gradient_.resize(mean_gradient_.size());  // used on the root
    mean_of(
        state.workers,
        [](const Worker<Real>& worker) { return std::span(worker.gradient.half()); },
        mean_half_gradient_);
  }
  if (is_root_) {
    move_virtual_iterate(state);
    add_to_sums(state.step_size);
    unperturbed_.move(state.step_size, mean_gradient_, state.model);
    if (measured) {
      note_decay(state.model);
    }
    if (measured && !training_.minimizer.empty()) {
      distance_sq_ = distance_sq(state.model, training_.minimizer);
    }
  }
}

template <class Real>
void Measurement<Real>::add_to_sums(double step_size) {
  sums_before_ = sums_;
  sums_.step += step_size;
  sums_.noise += training_.method->momentum == 0 && mean_input_.empty()
                     ? virtual_step_norm_ * virtual_step_norm_
                     : step_size * step_size * norm_sq<double>(mean_gradient_);
  sums_.gap += step_size * gap_before_norm_ * gap_before_norm_;
}

template <class Real>
void Measurement<Real>::note_decay(std::span<const double> model) {
  const double decay = training_.method->effective_decay();
  if (decay == 0 || !training_.follows_unperturbed()) {
    return;
  }
  decay_terms_ = {.decay = decay,
                  .gradient_dot_model =
                      std::inner_product(model.begin(), model.end(), mean_gradient_.begin(), 0.0),
                  .model_norm_sq = norm_sq<double>(model)};
}

/// Moves z as the model would move if nothing were sparsified: through a velocity if there is
/// momentum, clipped as the update is, with the decay of w itself, which no worker compresses.
template <class Real>
void Measurement<Real>::move_virtual_iterate(const StepState<Real>& state) {
  const Method& method = *training_.method;
  const std::span<const double> input = mean_input_.empty() ? mean_gradient_ : mean_input_;
  std::span<const double> direction = input;
  double scale = state.step_size * state.update_scale;
  if (method.momentum != 0) {
    const double push = in_gradient_units_ ? 1.0 : state.step_size;
    for (std::size_t i = 0; i < z_.size(); ++i) {
      z_velocity_[i] = method.momentum * z_velocity_[i] + push * state.update_scale * input[i];
    }
    for (std::size_t i = 0; method.weight_decay != 0 && i < z_.size(); ++i) {
      z_velocity_[i] += push * method.weight_decay * state.model[i];
    }
    direction = z_velocity_;
    scale = in_gradient_units_ ? state.step_size : 1.0;
  }
  const bool decays_alone = method.momentum == 0 && method.weight_decay != 0;
  const VirtualStep step = step_virtual(state.model, z_, direction, scale);
  gap_before_norm_ = std::sqrt(step.before_sq);
  virtual_step_norm_ = std::sqrt(step.step_sq);
  compensated_gap_norm_sq_ = step.after_sq;
  for (std::size_t i = 0; decays_alone && i < z_.size(); ++i) {
    z_[i] -= state.step_size * method.weight_decay * state.model[i];
  }
}

template <class Real>
void Measurement<Real>::after_update(const StepState<Real>& state, bool measured) {
  if (!training_.plan.measure) {
    return;
  }
  if (measured || !gap_is_mean_residual_) {
    mean_of(
        state.workers,
        [](const Worker<Real>& worker) { return worker.memory.accumulator(); },
        mean_residual_);
  }
  if (!gap_is_mean_residual_ && is_root_) {
    move_expected_gap(state);
  }
  if (measured) {
    gather(state);
  }
}

/// Updates the gap that is expected if nothing was lost. With momentum m and clipping by s_t, let
/// D_t = m D_{t-1} + s_t (mean e_t - mean e_{t+1}); then w_{t+1} - z_{t+1} = w_t - z_t - c D_t, c =
/// eta_t in gradient units and 1 in step units. Where the update is the mean of gradient estimates,
/// which miss mean e_{t+1}, D_t = m D_{t-1} - s_t mean e_{t+1}.
template <class Real>
void Measurement<Real>::move_expected_gap(const StepState<Real>& state) {
  const double scale = in_gradient_units_ ? state.step_size : 1.0;
  const double kept = training_.method->feedback->estimates() ? 0.0 : 1.0;
  for (std::size_t i = 0; i < expected_gap_.size(); ++i) {
    gap_velocity_[i] = training_.method->momentum * gap_velocity_[i] +
                       state.update_scale * (kept * previous_residual_[i] - mean_residual_[i]);
    expected_gap_[i] -= scale * gap_velocity_[i];
  }
  previous_residual_ = mean_residual_;
}

template <class Real>
void Measurement<Real>::gather(const StepState<Real>& state) {
  const Cluster& cluster = *training_.cluster;
  constexpr std::size_t kNumbers = sizeof(WorkerScalars) / sizeof(double);
  std::vector<double> mine(state.workers.size() * kNumbers);
  for (std::size_t slot = 0; slot < state.workers.size(); ++slot) {
    std::memcpy(&mine[slot * kNumbers], &state.workers[slot].scalars, sizeof(WorkerScalars));
  }
  const auto all = cluster.all_gather(mine);
  worker_scalars_.resize(all.size() / kNumbers);
  std::memcpy(static_cast<void*>(worker_scalars_.data()), all.data(), all.size() * sizeof(double));
  gather_lists(state);
}

template <class Real>
void Measurement<Real>::gather_lists(const StepState<Real>& state) {
  const Cluster& cluster = *training_.cluster;
  // The method decides whether messages and settlements are whole, so the first worker here tells
  // for all.
  const WorkerMemory<Real>& first = state.workers.front().memory;
  sent_everything_ = first.message().everything;
  cleared_everything_ = first.settlement().cleared_everything();
  Mail<Real> mail;
  using List = const SparseVector<Real>;
  using Of = const Worker<Real>;
  sent_ = gathered(cluster, state.workers, mail, [](Of& worker) -> List& {
    return worker.memory.message().entries;
  });
  cleared_ = gathered(cluster, state.workers, mail, [](Of& worker) -> List& {
    return worker.memory.settlement().cleared();
  });
  returned_ = gathered(cluster, state.workers, mail, [](Of& worker) -> List& {
    return worker.memory.settlement().returned();
  });
}

template <class Real>
void Measurement<Real>::fill_scalars(const StepState<Real>& state, StepView& view) const {
  const Method& method = *training_.method;
  view.iteration = state.iteration;
  view.epoch = state.epoch;
  view.step_size = state.step_size;
  view.workers = training_.cluster->workers();
  view.dimension = state.model.size();
  const double seen_step = in_gradient_units_ ? 1.0 : state.step_size;
  view.memory_step = seen_step;
  const Sparsifier& sparsifier = method.sparsifier_at(state.iteration);
  const auto law = sparsifier.law(view.dimension, seen_step);
  if (law.threshold) {
    view.threshold = static_cast<Real>(*law.threshold);  // rounded as the selection compares
  }
  if (law.pathwise) {
    view.contraction_promise = law.contraction;
  }
  view.estimates = method.feedback->estimates();
  view.worker_smoothness = training_.worker_smoothness;
  view.batch_is_exact = training_.objective->samples() > 0 && training_.batch == 0;
  view.sorts = training_.plan.sorted && training_.plan.sorted->due(state.iteration);
  view.sums = sums_before_;
  if (training_.follows_unperturbed()) {
    view.unperturbed_sums = unperturbed_.sums_before();
    view.decay_terms = decay_terms_;
  }
  view.distance_sq = distance_sq_;
  if (state.split) {
    view.halves =
        HalfBatches{.mean_first = mean_half_gradient_, .first = first_half_of_batch(training_)};
  }
  view.conserves =
      method.feedback->conserves(method.aggregator->law(), sent_everything_, view.workers);
  view.applies_whole_messages = method.aggregator->law().applies_whole_messages;
  view.unit_roundoff = std::numeric_limits<Real>::epsilon() / 2;
  view.momentum = method.momentum;
  double sent = 0;
  for (const auto& scalars : worker_scalars_) {
    sent += scalars.nnz_sent;
    view.traffic.bytes += static_cast<std::uint64_t>(scalars.bytes);
  }
  view.traffic.rounds = state.delivery->traffic.rounds;
  const bool has_k = sparsifier.k(view.dimension).has_value();
  view.k = has_k ? static_cast<double>(state.k) : sent / view.workers;
  fill_layers(sparsifier, view);
  view.traffic_model =
      method.aggregator->traffic_model({.workers = view.workers,
                                        .entries = sent,
                                        .whole_messages = sent_everything_,
                                        .dimension = static_cast<double>(view.dimension),
                                        .k = static_cast<double>(state.k),
                                        .value_bytes = sizeof(Real)});
}

template <class Real>
void Measurement<Real>::show(const StepState<Real>& state,
                             const Landscape& landscape,
                             const std::optional<TestResult>& test,
                             StepTimes times,
                             StepObserver& observer) {
  if (!is_root_) {
    return;
  }
  StepView view;
  fill_scalars(state, view);
  view.mean_gradient = mean_gradient_;
  view.mean_accumulator = mean_accumulator_;
  view.mean_residual = mean_residual_;
  view.model = state.model;
  view.virtual_iterate = z_;
  view.unperturbed_iterate = unperturbed_.iterate();
  view.expected_gap = gap_is_mean_residual_ ? mean_residual_ : expected_gap_;
  view.gap_before_norm = gap_before_norm_;
  view.virtual_step_norm = virtual_step_norm_;
  view.compensated_gap_norm_sq = compensated_gap_norm_sq_;
  view.follows_measured = last_measured_ + 1 == state.iteration;
  last_measured_ = state.iteration;
  view.update_is_dense = state.delivery->is_dense;
  if (view.update_is_dense) {
    dense_update_.assign(state.delivery->dense_sum.begin(), state.delivery->dense_sum.end());
  } else {
    update_ = widened(state.delivery->sum);
  }
  view.dense_update = dense_update_;
  view.update = &update_;
  view.sent = sent_;
  view.cleared = cleared_;
  view.returned = returned_;
  view.sent_everything = sent_everything_;
  view.cleared_everything = cleared_everything_;
  view.worker_scalars = worker_scalars_;
  view.evaluation = landscape.evaluation();
  view.full_gradient = landscape.gradient();
  view.landscape = landscape.view();
  view.minimum = training_.minimum;
  view.test = test;
  view.times = times;
  observer.observe(view);
}

template <class Real>
void Measurement<Real>::visit(RunState& state) {
  state.root(z_);
  state.root(z_velocity_);
  state.root(previous_residual_);
  state.root(expected_gap_);
  state.root(gap_velocity_);
  state.root(sums_);
  unperturbed_.visit(state);
  state.root(last_measured_);
}

template class Measurement<float>;
template class Measurement<double>;

}  // namespace residuum
