#include "core/measurement/late_measurement.h"

#include <algorithm>

namespace residuum {
namespace {

/// mean := sum over the late messages of scale_of(late message) times vector_of(late message).
template <class Real, class ScaleOf, class VectorOf>
void sum_late_messages(const VersionParts<Real>& parts,
                       const ScaleOf& scale_of,
                       const VectorOf& vector_of,
                       std::vector<double>& mean) {
  std::fill(mean.begin(), mean.end(), 0.0);
  for (const LateMessage<Real>* late_message : parts.late_messages) {
    const double scale = scale_of(*late_message);
    const std::vector<Real>& vector = vector_of(*late_message);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += scale * static_cast<double>(vector[i]);
    }
  }
}

/// mean := the weighted sum over the divisor. It divides last, as an update does, so that it has
/// the bits of a mean in lockstep where all weights are 1.
template <class Real, class VectorOf>
void mean_of_late_messages(const VersionParts<Real>& parts,
                           const VectorOf& vector_of,
                           std::vector<double>& mean) {
  sum_late_messages(
      parts,
      [](const LateMessage<Real>& late_message) { return late_message.weight; },
      vector_of,
      mean);
  for (double& value : mean) {
    value /= parts.divisor;
  }
}

}  // namespace

template <class Real>
void LateMeasurement<Real>::take(const Parts& parts, double version_step, bool in_gradient_units) {
  double magnitude = 0;
  for (const LateMessage<Real>* late_message : parts.late_messages) {
    // Magnitudes are in units of the model at the worker's own step.
    const double longer =
        in_gradient_units ? std::max(1.0, version_step / late_message->step_size) : 1.0;
    magnitude += longer * late_message->weight / parts.divisor * late_message->magnitude;
    noise_ += late_message->has_noise ? late_message->scalars.noise_variance : 0;
    noisy_ += late_message->has_noise ? 1 : 0;
  }
  rounded_magnitude_ += (static_cast<double>(parts.late_messages.size()) + 4) * magnitude;
}

template <class Real>
void LateMeasurement<Real>::gradient(const Parts& parts, std::vector<double>& mean) const {
  mean_of_late_messages(
      parts, [](const auto& late_message) -> auto& { return late_message.gradient; }, mean);
}

template <class Real>
void LateMeasurement<Real>::input(const Parts& parts,
                                  double version_step,
                                  bool in_gradient_units,
                                  std::vector<double>& mean) const {
  const auto scale = [&](const LateMessage<Real>& late_message) {
    return late_message.weight * (in_gradient_units ? 1.0 : late_message.step_size / version_step);
  };
  sum_late_messages(
      parts, scale, [](const auto& late_message) -> auto& { return late_message.gradient; }, mean);
  for (double& value : mean) {
    value /= parts.divisor;
  }
}

template <class Real>
void LateMeasurement<Real>::accumulator(const Parts& parts, std::vector<double>& mean) const {
  mean_of_late_messages(
      parts, [](const auto& late_message) -> auto& { return late_message.accumulator; }, mean);
}

template <class Real>
void LateMeasurement<Real>::residual(const Parts& parts, std::vector<double>& mean) const {
  mean_of_late_messages(
      parts, [](const auto& late_message) -> auto& { return late_message.residual_after; }, mean);
}

template <class Real>
const std::vector<double>& LateMeasurement<Real>::residual_fall(const Parts& parts, std::size_t d) {
  fall_.assign(d, 0.0);
  for (const LateMessage<Real>* late_message : parts.late_messages) {
    for (std::size_t i = 0; i < d; ++i) {
      fall_[i] += late_message->weight * (static_cast<double>(late_message->residual_before[i]) -
                                          static_cast<double>(late_message->residual_after[i]));
    }
  }
  for (double& value : fall_) {
    value /= parts.divisor;
  }
  return fall_;
}

template <class Real>
void LateMeasurement<Real>::lists(const Parts& parts, std::vector<SparseVector<double>>& sent) {
  sent.resize(parts.late_messages.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto& entries = parts.late_messages[i]->message.entries;
    sent[i].indices = entries.indices;
    sent[i].values.assign(entries.values.begin(), entries.values.end());
  }
}

template <class Real>
void LateMeasurement<Real>::fill(const Parts& parts, StepView& view) {
  contributed_.clear();
  contributors_.clear();
  for (const LateMessage<Real>* late_message : parts.late_messages) {
    contributed_.push_back(late_message->scalars);
    contributors_.push_back(late_message->worker);
  }
  view.contributed = contributed_;
  view.contributors = contributors_;
  view.notes = parts.notes;
  view.exchange.divisor = parts.divisor;
  view.iterates.rounded_magnitude = rounded_magnitude_;
  if (noisy_ > 0) {
    view.late_noise = noise_ / noisy_;
  }
  noise_ = noisy_ = 0;
}

template <class Real>
void LateMeasurement<Real>::save_or_load(RunState& state) {
  state.root(rounded_magnitude_);
  state.root(noise_);
  state.root(noisy_);
}

template class LateMeasurement<float>;
template class LateMeasurement<double>;

}  // namespace residuum
