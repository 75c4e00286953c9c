#include "core/measurement/unperturbed.h"

#include <array>
#include <numeric>

#include "core/vectors/dense.h"

namespace residuum {
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

void UnperturbedIterate::visit(RunState& state) {
  if (is_followed_) {
    state.root(u_);
    state.root(sums_);
  }
}

}  // namespace residuum
