#include "core/training/worker_memory.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/vectors/dense.h"

namespace residuum {
namespace {

/// Returns the factor from the units of the memory to those of the model.
double model_units(const Feedback& feedback, double eta) {
  return feedback.units() == Units::step ? 1.0 : eta;
}

/// Returns how many thresholds the sparsifier reuses of d entries.
std::size_t reused_thresholds(const Sparsifier& sparsifier, std::size_t d) {
  const bool reuses = sparsifier.law(d, 1).reuses_threshold;
  return reuses ? std::max<std::size_t>(1, sparsifier.segments().size()) : 0;
}

}  // namespace

template <class Real>
WorkerMemory<Real>::WorkerMemory(const Training& training, int worker)
    : training_(training),
      method_(*training.method),
      worker_(worker),
      d_(training.objective->dimension()),
      vectors_(make_memory_vectors<Real>(training)),
      may_amplify_(!training.method->sparsifier->law(d_, 1).keeps_values ||
                   training.method->quantiser != nullptr),
      thresholds_(reused_thresholds(*method_.sparsifier, d_)) {}

template <class Real>
MemoryStep<Real> WorkerMemory<Real>::step_of(const Turn& turn,
                                             const GradientAt<Real>& gradient) const {
  const double eta = turn.step_size;
  return {.gradient = gradient,
          .step_size = eta,
          .is_first = turn.before == 0,
          .version = turn.version,
          .context = {.seed = training_.seed,
                      .worker = worker_,
                      .iteration = turn.number,
                      .step_size = method_.feedback->units() == Units::step ? eta : 1.0,
                      .messages = turn.before}};
}

template <class Real>
void WorkerMemory<Real>::start(const Turn& turn,
                               const GradientAt<Real>& gradient,
                               const ScratchBuffers<Real>& scratch) {
  vectors_->start(step_of(turn, gradient), scratch.segments);
}

template <class Real>
void WorkerMemory<Real>::compress(const Turn& turn,
                                  const GradientAt<Real>& gradient,
                                  ScratchBuffers<Real>& scratch,
                                  WorkerScalars& scalars) {
  auto& parts = scratch.selection.parts;
  bounds_.resize(parts.size());
  for (std::size_t s = 0; s < parts.size(); ++s) {
    static_cast<CandidateBound&>(parts[s]) = bounds_[s];
  }
  for (std::size_t s = 0; s < thresholds_.size(); ++s) {
    parts[s].reused_threshold = thresholds_[s];
  }
  const MemoryStep<Real> step = step_of(turn, gradient);
  const PassNorms norms =
      vectors_->accumulate(step, {.segments = scratch.segments, .candidates = parts});
  has_accumulator_ = true;
  note_norms(step.is_first, norms, scalars);
  is_residual_counted_ = false;
  if (!std::isfinite(norms.gradient_sq) || !std::isfinite(norms.accumulator_sq)) {
    return;
  }
  note_magnitudes(turn.step_size, norms, scalars);
  select(step, scratch.selection, scalars);
  for (std::size_t s = 0; s < parts.size(); ++s) {
    bounds_[s] = parts[s];
  }
  for (std::size_t s = 0; s < thresholds_.size(); ++s) {
    thresholds_[s] = parts[s].reused_threshold;
  }
}

template <class Real>
void WorkerMemory<Real>::note_norms(bool is_first,
                                    const PassNorms& norms,
                                    WorkerScalars& scalars) const {
  scalars.gradient_norm_sq = norms.gradient_sq;
  scalars.accumulator_norm_sq = norms.accumulator_sq;
  if (method_.feedback->averaging()) {
    // Estimates start at zero, so the whole first average counts as change.
    scalars.average_norm_sq = norms.average_sq;
    scalars.gradient_change_sq = is_first ? norms.average_sq : norms.average_change_sq;
  }
  if (!is_residual_counted_) {
    scalars.total_error += norms.residual_sq;
  }
}

template <class Real>
void WorkerMemory<Real>::select(const MemoryStep<Real>& step,
                                SelectWorkspace& workspace,
                                WorkerScalars& scalars) {
  vectors_->compress(step, workspace, message_);
  scalars.nnz_sent = static_cast<double>(message_.values_sent(d_));
  scalars.total_nnz += scalars.nnz_sent;
  note_amplification(step.step_size, scalars);
}

/// Returns an upper bound of the norm of what entered the memory in this iteration, in units of the
/// model.
template <class Real>
double WorkerMemory<Real>::magnitude_added(double eta, const PassNorms& norms) const {
  if (method_.feedback->averaging()) {
    return eta * std::sqrt(norms.average_sq);
  }
  if (method_.feedback->has_velocity()) {
    // The velocity that was added is the difference of accumulator and residual, so their norms
    // bound it.
    const double units = model_units(*method_.feedback, eta);
    return units * std::sqrt(norms.accumulator_sq) + units * std::sqrt(norms.residual_sq);
  }
  if (method_.feedback->controls_error()) {
    return eta * (std::sqrt(norms.gradient_sq) + std::sqrt(norms.residual_sq));
  }
  return eta * std::sqrt(norms.gradient_sq);
}

template <class Real>
void WorkerMemory<Real>::note_magnitudes(double eta,
                                         const PassNorms& norms,
                                         WorkerScalars& scalars) {
  const auto formed_at = [&](double step) {
    const double units = model_units(*method_.feedback, step);
    return units * std::sqrt(norms.accumulator_sq) + magnitude_added(step, norms);
  };
  if (!method_.feedback->estimates()) {
    scalars.magnitude += formed_at(eta);
    return;
  }
  // A rounding error of an estimate stays in it and enters every later update. It is there too at a
  // step of 0, from which a warm-up may begin: what is formed is proportional to the step.
  const double step = eta == 0 ? 1 : eta;
  drift_ += 2 * formed_at(step) / step;
  scalars.magnitude += eta * drift_;
}

/// Adds to the magnitudes where a scaled message is larger than the accumulator, because its
/// rounding errors are larger too.
template <class Real>
void WorkerMemory<Real>::note_amplification(double eta, WorkerScalars& scalars) {
  if (!may_amplify_ || message_.everything || !training_.plan.measure) {
    return;
  }
  const double sent = std::sqrt(norm_sq<Real>(message_.entries.values));
  const double excess = std::max(0.0, sent - std::sqrt(scalars.accumulator_norm_sq));
  if (method_.feedback->estimates()) {
    drift_ += 2 * excess;
  }
  scalars.magnitude += model_units(*method_.feedback, eta) * excess;
}

template <class Real>
void WorkerMemory<Real>::measure(WorkerScalars& scalars) const {
  assert(has_accumulator_);
  if (message_.everything) {
    scalars.sent_norm_sq = scalars.sent_dot = scalars.accumulator_norm_sq;
    return;
  }
  scalars.sent_norm_sq = norm_sq<Real>(message_.entries.values);
  scalars.sent_dot = vectors_->dot(message_.entries);
}

template <class Real>
void WorkerMemory<Real>::update_residual(const MessageOutcome<Real>& outcome,
                                         bool measured,
                                         const ScratchBuffers<Real>& scratch,
                                         WorkerScalars& scalars) {
  assert(has_accumulator_);
  vectors_->update_residual(outcome, residual_update_);
  has_accumulator_ = false;
  if (measured) {
    measure_residual(scratch, scalars);
    scalars.total_error += scalars.residual_norm_sq;
  }
  is_residual_counted_ = measured;
}

template <class Real>
void WorkerMemory<Real>::measure_residual(const ScratchBuffers<Real>& scratch,
                                          WorkerScalars& scalars) const {
  assert(!has_accumulator_);
  const ResidualNorms norms = vectors_->norms(scratch.segments);
  scalars.residual_norm_sq = norms.square;
  scalars.residual_norm_inf = norms.largest;
}

template <class Real>
void WorkerMemory<Real>::skip_version(double step_size,
                                      const ScratchBuffers<Real>& scratch,
                                      WorkerScalars& scalars) {
  message_.entries.clear();
  message_.everything = false;
  message_.coded.clear();
  message_.coded_values = 0;
  message_.blocks.clear();
  residual_update_.remove_nothing();
  scalars.nnz_sent = scalars.sent_norm_sq = scalars.sent_dot = 0;
  scalars.noise_variance = scalars.gradient_change_sq = 0;
  scalars.magnitude += method_.feedback->estimates() ? step_size * drift_ : 0;
  if (!training_.plan.measure) {
    return;
  }
  measure_residual(scratch, scalars);
  scalars.total_error += (is_residual_counted_ ? 1 : 2) * scalars.residual_norm_sq;
  is_residual_counted_ = true;
}

template <class Real>
void WorkerMemory<Real>::return_message(const Message<Real>& message,
                                        std::span<const Real> accumulator) {
  const std::span<Real> memory = vectors_->all_to_write();
  if (message.everything) {
    for (std::size_t i = 0; i < d_; ++i) {
      memory[i] += accumulator[i];
    }
    return;
  }
  for (std::size_t i = 0; i < message.entries.size(); ++i) {
    memory[message.entries.indices[i]] += message.entries.values[i];
  }
}

template class WorkerMemory<float>;
template class WorkerMemory<double>;

}  // namespace residuum
