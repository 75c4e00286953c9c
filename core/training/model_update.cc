#include "core/training/model_update.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/gradient_source.h"
#include "core/training/divergence.h"
#include "core/vectors/dense.h"

namespace residuum {

namespace {

template <class Real, class Visit>
void for_each_entry(const ExchangeResult<Real>& exchanged, const Visit& visit) {
  if (exchanged.is_dense) {
    for (std::size_t i = 0; i < exchanged.dense_sum.size(); ++i) {
      visit(i, static_cast<double>(exchanged.dense_sum[i]));
    }
    return;
  }
  for (std::size_t i = 0; i < exchanged.sum.size(); ++i) {
    visit(exchanged.sum.indices[i], static_cast<double>(exchanged.sum.values[i]));
  }
}

template <class Real>
double sum_norm(const ExchangeResult<Real>& exchanged) {
  return std::sqrt(exchanged.is_dense ? norm_sq<Real>(exchanged.dense_sum)
                                      : norm_sq<Real>(exchanged.sum.values));
}

/// Returns the room for w_t - w_{t+1}, set to 0, where the training is outside and asks for it.
std::span<double> update_asked_for(const Objective& objective) {
  GradientSource* const source = objective.source();
  const std::span<double> update = source != nullptr ? source->update() : std::span<double>();
  std::fill(update.begin(), update.end(), 0.0);
  return update;
}

}  // namespace

template <class Real>
ModelUpdate<Real>::ModelUpdate(const Training& training)
    : method_(*training.method),
      objective_(*training.objective),
      d_(training.objective->dimension()),
      velocity_(method_.momentum != 0 ? d_ : 0),
      previous_velocity_(method_.momentum != 0 && method_.looks_ahead ? d_ : 0),
      estimate_(method_.feedback->estimates() ? d_ : 0),
      rule_(method_.update_rule, objective_, std::numeric_limits<Real>::epsilon()),
      direction_(rule_.is_update() ? 0 : d_) {}

template <class Real>
MeanUpdate<Real> ModelUpdate<Real>::take(const ExchangeResult<Real>& exchanged, double divisor) {
  if (!estimate_.empty()) {
    for_each_entry(exchanged, [&](std::size_t i, double g) { estimate_[i] += g / divisor; });
  }
  return {exchanged, divisor};
}

template <class Real>
ClippedUpdate<Real> ModelUpdate<Real>::clip(MeanUpdate<Real>&& mean, double eta) const {
  if (method_.clip != Clip::update) {
    return {std::move(mean), method_.outer_step};
  }
  const double norm = estimate_.empty() ? sum_norm(mean.exchanged_) / mean.divisor_
                                        : std::sqrt(norm_sq<double>(estimate_));
  const double bound = method_.clip_norm * (method_.feedback->units() == Units::step ? eta : 1.0);
  return {std::move(mean), method_.outer_step * (norm > bound ? bound / norm : 1.0)};
}

template <class Real>
// NOLINTNEXTLINE(readability-function-cognitive-complexity): one branch for each rule
bool ModelUpdate<Real>::apply(ClippedUpdate<Real>&& clipped,
                              double eta,
                              std::span<double> model,
                              std::span<Real> working_model) {
  const bool in_gradient_units = method_.feedback->units() == Units::gradient;
  const double step = in_gradient_units ? eta : 1.0;
  const double push = in_gradient_units ? 1.0 : eta;
  bool usable = true;
  const std::span<double> update = update_asked_for(objective_);
  const auto move = [&](std::size_t i, double change) {
    model[i] -= change;
    if (!update.empty()) {
      update[i] += change;
    }
    working_model[i] = static_cast<Real>(model[i]);
    usable = usable && is_usable(working_model[i]);
  };
  if (method_.momentum != 0) {
    take_velocity(clipped, push, model);
    for (std::size_t i = 0; i < d_; ++i) {
      move(i, step * (velocity_[i] + ahead_of_velocity(i)));
    }
    return usable;
  }
  if (method_.weight_decay != 0) {
    for (std::size_t i = 0; i < d_; ++i) {
      move(i, eta * method_.weight_decay * model[i]);
    }
  }
  if (!direction_.empty()) {
    take_direction(clipped);
    for (std::size_t i = 0; i < d_; ++i) {
      move(i, eta * (clipped.scale_ * direction_[i]));
    }
    return usable;
  }
  if (!estimate_.empty()) {
    for (std::size_t i = 0; i < d_; ++i) {
      move(i, step * (clipped.scale_ * estimate_[i]));
    }
    return usable;
  }
  for_each_entry(clipped.exchanged_, [&](std::size_t i, double g) {
    move(i, step * (clipped.scale_ * (g / clipped.divisor_)));
  });
  return usable;
}

/// Computes v = m v + s g/P + lambda w, in the units of the memories.
template <class Real>
void ModelUpdate<Real>::take_velocity(const ClippedUpdate<Real>& clipped,
                                      double push,
                                      std::span<const double> model) {
  std::copy(velocity_.begin(),
            velocity_.begin() + static_cast<std::ptrdiff_t>(previous_velocity_.size()),
            previous_velocity_.begin());
  for (double& value : velocity_) {
    value *= method_.momentum;
  }
  if (estimate_.empty()) {
    for_each_entry(clipped.exchanged_, [&](std::size_t i, double g) {
      velocity_[i] += clipped.scale_ * (g / clipped.divisor_);
    });
  } else {
    for (std::size_t i = 0; i < d_; ++i) {
      velocity_[i] += clipped.scale_ * estimate_[i];
    }
  }
  if (method_.weight_decay != 0) {
    for (std::size_t i = 0; i < d_; ++i) {
      velocity_[i] += push * method_.weight_decay * model[i];
    }
  }
}

/// With x = u + lambda w = v - m v', Nesterov's x + m v is v + m (v - v'): returns the last term.
template <class Real>
double ModelUpdate<Real>::ahead_of_velocity(std::size_t i) const {
  return method_.looks_ahead ? method_.momentum * (velocity_[i] - previous_velocity_[i]) : 0.0;
}

template <class Real>
void ModelUpdate<Real>::take_direction(const ClippedUpdate<Real>& clipped) {
  if (estimate_.empty()) {
    std::fill(direction_.begin(), direction_.end(), 0.0);
    for_each_entry(clipped.exchanged_,
                   [&](std::size_t i, double g) { direction_[i] = g / clipped.divisor_; });
  } else {
    direction_ = estimate_;
  }
  rule_.take(direction_);
}

template <class Real>
void ModelUpdate<Real>::save_or_load(RunState& state) {
  state.shared(velocity_);
  state.shared(estimate_);
}

template class ModelUpdate<float>;
template class ModelUpdate<double>;

}  // namespace residuum
