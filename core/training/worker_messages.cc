#include "core/training/worker_messages.h"

#include <algorithm>
#include <cmath>

#include "core/vectors/dense.h"
#include "core/vectors/large_vector.h"

namespace residuum {
namespace {

/// Returns the factor from the units of the memory to those of the model.
double model_units(const Feedback& feedback, double eta) {
  return feedback.units() == Units::step ? 1.0 : eta;
}

}  // namespace

template <class Real>
WorkerMessages<Real>::WorkerMessages(const Training& training)
    : training_(training),
      method_(*training.method),
      d_(training.objective->dimension()),
      messages_(static_cast<std::size_t>(training.cluster->count())),
      settlements_(messages_.size()) {
  for (std::size_t slot = 0; slot < messages_.size(); ++slot) {
    memories_.push_back(large_vector<Real>(d_ * method_.feedback->vectors()));
  }
  const auto segments = method_.sparsifier->segments();
  segments_.assign(segments.begin(), segments.end());
  if (segments_.empty()) {
    segments_.push_back({.begin = 0, .size = d_});
  }
  bounds_.resize(memories_.size() * segments_.size());
  workspace_.parts.resize(segments_.size());
  for (const auto& memory : memories_) {
    accumulators_.push_back(std::span<const Real>(memory).first(d_));
  }
  drifts_.resize(method_.feedback->estimates() ? memories_.size() : 0);
}

template <class Real>
void WorkerMessages<Real>::form(std::uint64_t t,
                                double eta,
                                std::span<const std::vector<Real>> gradients,
                                std::span<WorkerScalars> scalars) {
  for (std::size_t slot = 0; slot < memories_.size(); ++slot) {
    auto& of_worker = scalars[slot];
    const auto bounds = std::span(bounds_).subspan(slot * segments_.size(), segments_.size());
    for (std::size_t s = 0; s < bounds.size(); ++s) {
      workspace_.parts[s].bound = bounds[s];
    }
    const std::span<const Real> gradient = gradients[slot];
    if (t == 0) {
      method_.feedback->begin(std::span<Real>(memories_[slot]), gradient);
    }
    const PassNorms norms =
        method_.feedback->accumulate(std::span<Real>(memories_[slot]),
                                     gradient,
                                     eta,
                                     {.segments = segments_, .candidates = workspace_.parts});
    note_norms(t, norms, of_worker);
    if (!std::isfinite(norms.gradient_sq) || !std::isfinite(norms.accumulator_sq)) {
      continue;
    }
    note_magnitudes(eta, slot, norms, of_worker);
    select(t, eta, slot, of_worker);
    for (std::size_t s = 0; s < bounds.size(); ++s) {
      bounds[s] = workspace_.parts[s].bound;
    }
  }
  residuals_counted_ = false;
}

template <class Real>
void WorkerMessages<Real>::note_norms(std::uint64_t t,
                                      const PassNorms& norms,
                                      WorkerScalars& scalars) const {
  scalars.gradient_norm_sq = norms.gradient_sq;
  scalars.accumulator_norm_sq = norms.accumulator_sq;
  if (method_.feedback->averaging()) {
    // Estimates start at zero, so the whole first average counts as change.
    scalars.average_norm_sq = norms.average_sq;
    scalars.gradient_change_sq = t == 0 ? norms.average_sq : norms.average_change_sq;
  }
  if (!residuals_counted_) {
    scalars.total_error += norms.residual_sq;
  }
}

template <class Real>
void WorkerMessages<Real>::select(std::uint64_t t,
                                  double eta,
                                  std::size_t slot,
                                  WorkerScalars& scalars) {
  const SelectionContext context{.seed = training_.seed,
                                 .worker = training_.cluster->first() + static_cast<int>(slot),
                                 .iteration = t,
                                 .step_size = method_.feedback->units() == Units::step ? eta : 1.0};
  auto& message = messages_[slot];
  method_.sparsifier_at(t).select(accumulators_[slot], context, workspace_, message);
  scalars.nnz_sent = static_cast<double>(message.everything ? d_ : message.entries.size());
  scalars.total_nnz += scalars.nnz_sent;
  note_amplification(eta, slot, scalars);
}

/// Returns an upper bound of the norm of what entered the memory in this iteration, in units of the
/// model.
template <class Real>
double WorkerMessages<Real>::magnitude_added(double eta, const PassNorms& norms) const {
  if (method_.feedback->averaging()) {
    return eta * std::sqrt(norms.average_sq);
  }
  if (method_.feedback->has_velocity()) {
    // The velocity that was added is the difference of accumulator and residual, so their norms
    // bound it.
    const double units = model_units(*method_.feedback, eta);
    return units * std::sqrt(norms.accumulator_sq) + units * std::sqrt(norms.residual_sq);
  }
  return eta * std::sqrt(norms.gradient_sq);
}

template <class Real>
void WorkerMessages<Real>::note_magnitudes(double eta,
                                           std::size_t slot,
                                           const PassNorms& norms,
                                           WorkerScalars& scalars) {
  const double units = model_units(*method_.feedback, eta);
  const double accumulator = units * std::sqrt(norms.accumulator_sq);
  const double formed = accumulator + magnitude_added(eta, norms);
  if (!method_.feedback->estimates()) {
    scalars.magnitude += formed;
    return;
  }
  // A rounding error of an estimate stays in it and enters every later update.
  drifts_[slot] += 2 * formed / eta;
  scalars.magnitude += eta * drifts_[slot];
}

/// Adds to the magnitudes where a scaled message is larger than the accumulator, because its
/// rounding errors are larger too.
template <class Real>
void WorkerMessages<Real>::note_amplification(double eta,
                                              std::size_t slot,
                                              WorkerScalars& scalars) {
  if (messages_[slot].everything || !training_.plan.measure) {
    return;
  }
  const double sent = std::sqrt(norm_sq<Real>(messages_[slot].entries.values));
  const double excess = std::max(0.0, sent - std::sqrt(scalars.accumulator_norm_sq));
  if (method_.feedback->estimates()) {
    drifts_[slot] += 2 * excess;
  }
  scalars.magnitude += model_units(*method_.feedback, eta) * excess;
}

template <class Real>
void WorkerMessages<Real>::measure(std::span<WorkerScalars> scalars) const {
  for (std::size_t slot = 0; slot < memories_.size(); ++slot) {
    auto& of_worker = scalars[slot];
    const auto& message = messages_[slot];
    if (message.everything) {
      of_worker.sent_norm_sq = of_worker.sent_dot = of_worker.accumulator_norm_sq;
      continue;
    }
    of_worker.sent_norm_sq = norm_sq<Real>(message.entries.values);
    of_worker.sent_dot = 0;
    for (std::size_t i = 0; i < message.entries.size(); ++i) {
      of_worker.sent_dot += static_cast<double>(message.entries.values[i]) *
                            static_cast<double>(memories_[slot][message.entries.indices[i]]);
    }
  }
}

template <class Real>
void WorkerMessages<Real>::settle(const Delivery<Real>& delivery,
                                  bool measured,
                                  std::span<WorkerScalars> scalars) {
  for (std::size_t slot = 0; slot < memories_.size(); ++slot) {
    method_.feedback->settle(
        std::span<Real>(memories_[slot]), delivery.fate(messages_[slot], slot), settlements_[slot]);
    if (measured) {
      auto& of_worker = scalars[slot];
      of_worker.residual_norm_sq = norm_sq(accumulators_[slot], std::span(segments_));
      of_worker.residual_norm_inf = static_cast<double>(norm_inf<Real>(accumulators_[slot]));
      of_worker.total_error += of_worker.residual_norm_sq;
    }
  }
  residuals_counted_ = measured;
}

template <class Real>
void WorkerMessages<Real>::visit(RunState& state) {
  state.workers(memories_, d_ * method_.feedback->vectors());
  if (method_.feedback->estimates()) {
    state.workers(drifts_);
  }
  state.shared(residuals_counted_);
}

template class WorkerMessages<float>;
template class WorkerMessages<double>;

}  // namespace residuum
