#include "core/measurement/iterates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/vectors/dense.h"

namespace residuum {
namespace {

double rounding_of(Precision precision) {
  return precision == Precision::float32 ? std::numeric_limits<float>::epsilon()
                                         : std::numeric_limits<double>::epsilon();
}

}  // namespace

VirtualIterate::VirtualIterate(const Training& training,
                               bool late,
                               std::span<const double> initial_point)
    : method_(*training.method),
      objective_(*training.objective),
      in_gradient_units_(method_.feedback->units() == Units::gradient),
      gap_is_mean_residual_(!late && method_.gap_is_mean_residual()),
      rule_(method_.update_rule, objective_, rounding_of(training.precision)) {
  const MeasurementPlan& plan = training.plan;
  if (!plan.measure || !plan.follows_iterate || !training.cluster->world().is_root()) {
    return;
  }
  z_.assign(initial_point.begin(), initial_point.end());
  z_velocity_.resize(method_.momentum != 0 ? z_.size() : 0);
  z_ahead_.resize(method_.looks_ahead ? z_velocity_.size() : 0);
  z_direction_.resize(rule_.is_update() ? 0 : z_.size());
  if (!gap_is_mean_residual_) {
    previous_residual_.resize(z_.size());
    expected_gap_.resize(z_.size());
    gap_velocity_.resize(z_.size());
  }
}

/// Moves z through a velocity if there is momentum, clipped as the update is, with the decay of w
/// itself, which no worker compresses.
void VirtualIterate::move(const Step& step) {
  const bool has_momentum = method_.momentum != 0;
  const double unit = in_gradient_units_ ? step.size : 1.0;
  const VirtualStep moved = step_virtual(
      step.model, z_, direction(step), has_momentum ? unit : step.size * step.update_scale);
  gap_before_norm_ = std::sqrt(moved.before_sq);
  virtual_step_norm_ = std::sqrt(moved.step_sq);
  compensated_gap_norm_sq_ = moved.after_sq;
  const bool decays_alone = !has_momentum && method_.weight_decay != 0;
  for (std::size_t i = 0; decays_alone && i < z_.size(); ++i) {
    z_[i] -= step.size * method_.weight_decay * step.model[i];
  }
  add_to_sums(step);
}

std::span<const double> VirtualIterate::direction(const Step& step) {
  if (method_.momentum != 0) {
    push_velocity(step);
    return z_ahead_.empty() ? z_velocity_ : z_ahead_;
  }
  if (z_direction_.empty()) {
    return step.mean_input;
  }
  z_direction_.assign(step.mean_input.begin(), step.mean_input.end());
  rule_.take(z_direction_);
  return z_direction_;
}

void VirtualIterate::push_velocity(const Step& step) {
  std::copy(z_velocity_.begin(),
            z_velocity_.begin() + static_cast<std::ptrdiff_t>(z_ahead_.size()),
            z_ahead_.begin());
  const double push = in_gradient_units_ ? 1.0 : step.size;
  for (std::size_t i = 0; i < z_.size(); ++i) {
    z_velocity_[i] =
        method_.momentum * z_velocity_[i] + push * step.update_scale * step.mean_input[i];
  }
  for (std::size_t i = 0; method_.weight_decay != 0 && i < z_.size(); ++i) {
    z_velocity_[i] += push * method_.weight_decay * step.model[i];
  }
  for (std::size_t i = 0; i < z_ahead_.size(); ++i) {
    z_ahead_[i] = z_velocity_[i] + method_.momentum * (z_velocity_[i] - z_ahead_[i]);
  }
}

void VirtualIterate::add_to_sums(const Step& step) {
  const bool moves_by_gradients =
      method_.momentum == 0 && z_direction_.empty() && !method_.feedback->has_velocity();
  sums_before_ = sums_;
  sums_.step += step.size;
  sums_.noise += moves_by_gradients ? virtual_step_norm_ * virtual_step_norm_
                                    : step.size * step.size * norm_sq<double>(step.mean_gradient);
  sums_.gap += step.size * gap_before_norm_ * gap_before_norm_;
}

/// With momentum m and scaling (clipping, outer step) by s_t, let D_t = m D_{t-1} + s_t (mean e_t -
/// mean e_{t+1}); then w_{t+1} - z_{t+1} = w_t - z_t - c D_t, c = eta_t in gradient units and 1 in
/// step units. If the update is the mean of gradient estimates, which miss mean e_{t+1}, D_t = m
/// D_{t-1} - s_t mean e_{t+1}. If the residual is the sum of all that the estimates missed, D_t is
/// as without estimates. Nesterov's momentum has D_t + m (D_t - D_{t-1}) in place of D_t.
void VirtualIterate::move_expected_gap(const Step& step, std::span<const double> mean_residual) {
  const Feedback& feedback = *method_.feedback;
  const double kept = feedback.estimates() && !feedback.controls_error() ? 0.0 : 1.0;
  residual_fall_.resize(mean_residual.size());
  for (std::size_t i = 0; i < mean_residual.size(); ++i) {
    residual_fall_[i] = kept * previous_residual_[i] - mean_residual[i];
  }
  move_expected_gap_by(step, residual_fall_);
  previous_residual_.assign(mean_residual.begin(), mean_residual.end());
}

void VirtualIterate::move_expected_gap_by(const Step& step, std::span<const double> fall) {
  const double scale = in_gradient_units_ ? step.size : 1.0;
  for (std::size_t i = 0; i < expected_gap_.size(); ++i) {
    const double before = gap_velocity_[i];
    gap_velocity_[i] = method_.momentum * before + step.update_scale * fall[i];
    const double ahead = method_.looks_ahead ? method_.momentum * (gap_velocity_[i] - before) : 0;
    expected_gap_[i] -= scale * (gap_velocity_[i] + ahead);
  }
}

void VirtualIterate::fill(IteratesView& view) const {
  view.virtual_dense = z_;
  view.expected_gap = expected_gap_;
  view.gap_before_norm = gap_before_norm_;
  view.virtual_step_norm = virtual_step_norm_;
  view.compensated_gap_norm_sq = compensated_gap_norm_sq_;
  view.sums = sums_before_;
}

void VirtualIterate::save_or_load(RunState& state) {
  state.root(z_);
  state.root(z_velocity_);
  state.root(previous_residual_);
  state.root(expected_gap_);
  state.root(gap_velocity_);
  state.root(sums_);
}

// --- The unperturbed iterate -----------------------------------------------------------------

namespace {

/// Does the same as step_virtual, with direction + decay w in place of the direction.
VirtualStep step_decaying(std::span<const double> w,
                          std::span<double> u,
                          std::span<const double> direction,
                          double decay,
                          double scale) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> before{};
  std::array<double, kLanes> step{};
  std::array<double, kLanes> after{};
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double gap = w[i] - u[i];
    const double change = scale * (direction[i] + decay * w[i]);
    u[i] -= change;
    const double next_gap = w[i] - u[i];
    before[i % kLanes] += gap * gap;
    step[i % kLanes] += change * change;
    after[i % kLanes] += next_gap * next_gap;
  }
  const auto total = [](const std::array<double, kLanes>& lanes) {
    return std::accumulate(lanes.begin(), lanes.end(), 0.0);
  };
  return {.before_sq = total(before), .step_sq = total(step), .after_sq = total(after)};
}

double gain_of(const Method& method) {
  return method.gain() * (method.optimiser == nullptr ? 1 : method.optimiser->gain());
}

}  // namespace

UnperturbedIterate::UnperturbedIterate(const Training& training,
                                       std::uint64_t local_steps,
                                       std::span<const double> initial_point)
    : is_followed_(training.follows_unperturbed(local_steps)),
      gain_(gain_of(*training.method) * static_cast<double>(local_steps)),
      decay_(training.method->effective_decay()) {
  if (is_followed_ && training.cluster->world().is_root()) {
    u_.assign(initial_point.begin(), initial_point.end());
  }
}

void UnperturbedIterate::move(double step_size,
                              std::span<const double> mean_gradient,
                              std::span<const double> model) {
  if (u_.empty()) {
    return;
  }
  const double scale = step_size * gain_;
  const VirtualStep moved = decay_ == 0 ? step_virtual(model, u_, mean_gradient, scale)
                                        : step_decaying(model, u_, mean_gradient, decay_, scale);
  sums_before_ = sums_;
  sums_.step += scale;
  sums_.noise += moved.step_sq;
  sums_.gap += scale * moved.before_sq;
}

void UnperturbedIterate::save_or_load(RunState& state) {
  if (is_followed_) {
    state.root(u_);
    state.root(sums_);
  }
}

}  // namespace residuum
