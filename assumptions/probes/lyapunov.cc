// This probe measures the Lyapunov functions V of the tight theory of error feedback
// (core/schedules/tight_rate.h), over the number P of workers, with s = sqrt(1 - alpha):
//   EF14  V/P = |mean e_p|^2/s + mean |x - x* - e_p|^2, x = w_{t+1}, e_p residuals in units of the
//         step. As mean |x - x* - e_p|^2 = |x - x* - mean e_p|^2 + mean |e_p|^2 - |mean e_p|^2,
//         norms of means are enough;
//   EF21  V/P = s |mean grad f_p(x)|^2 + mean |grad f_p(x) - g_p|^2, x = w_t, g_p after its update.
// V_{t+1} <= rho* V_t holds for every t where the theorem applies: a hard invariant.
//
// Rounding. sqrt(V/P) is a norm of the state. An iteration rounds model, gradients, accumulators
// and their sum over the workers, each by the unit roundoff u of itself: sqrt(V/P) moves by at most
//   r = 8 (P + 4) u (|w| + |x*| + rms |e_p| (1 + 1/sqrt(s)))     EF14
//   r = 8 (P + 4) u (L |w| + rms |grad f_p| + rms |g_p - grad f_p|)  EF21
// The ratio is ((sqrt(V_{t+1}) - r)/sqrt(V_t))^2, and there is none where sqrt(V_t/P) < 100 r or
// 1e-30. x* that an objective solved for is taken to be exact to 1e-7 of itself.

#include <algorithm>
#include <cmath>
#include <optional>

#include "assumptions/probes/probe.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

/// sqrt(V/P), and by how much rounding may have moved it in one iteration.
struct LyapunovState {
  double root = 0;
  double rounding = 0;
};

class LyapunovProbe final : public Probe {
 public:
  std::vector<Column> columns() const override {
    return {Column::lyapunov, Column::lyapunov_ratio};
  }
  Needs needs() const override {
    return {.gradients = true, .lyapunov = true, .mean_gradient = true, .mean_residual = true};
  }

  void observe(const StepView& view, Row& row, std::vector<Check>& checks) override {
    const bool has_minimizer = !view.minimizer.empty();
    if (!view.lyapunov || !(view.estimates() || has_minimizer)) {
      return;
    }
    const LyapunovState now = view.estimates() ? of_estimates(view) : of_residuals(view);
    row.set(Column::lyapunov, now.root * now.root);
    const auto before = root_before(view);
    previous_ = now.root;
    constexpr double kAboveRounding = 100;
    constexpr double kLeast = 1e-30;  // float32 has fewer digits for numbers that are much smaller
    if (!before || !(*before >= std::max(kLeast, kAboveRounding * now.rounding))) {
      return;
    }
    const double root = std::max(0.0, now.root - now.rounding) / *before;
    row.set(Column::lyapunov_ratio, root * root);
    if (view.lyapunov->rate) {
      constexpr double kOfFormula = 1e-12;  // rho* is rounded, too
      checks.push_back({.iteration = view.iteration,
                        .name = "tight-contraction",
                        .worker = std::nullopt,
                        .lhs = root * root,
                        .rhs = *view.lyapunov->rate,
                        .holds = root * root <= *view.lyapunov->rate * (1 + kOfFormula),
                        .hard = true,
                        .expected = true});
    }
  }

  void save_or_load(RunState& state) override { state.root(previous_); }

 private:
  static double rounding_unit(const StepView& view) {
    return 8 * (view.facts.workers + 4.0) * view.unit_roundoff;
  }

  static LyapunovState of_residuals(const StepView& view) {
    // Residuals in units of gradients are multiplied by the step.
    const double unit = view.memory_step > 0 ? view.step_size / view.memory_step : 1;
    double residuals = 0;
    for (const auto& scalars : view.worker_scalars) {
      residuals += unit * unit * scalars.residual_norm_sq / view.facts.workers;
    }
    double mean = 0;
    double corrected = 0;
    for (std::size_t j = 0; j < view.minimizer.size(); ++j) {
      const double e_j = unit * view.mean.residual[j];
      const double distance = view.iterates.model[j] - view.minimizer[j] - e_j;
      mean += e_j * e_j;
      corrected += distance * distance;
    }
    const double s = view.lyapunov->root;
    const double value = mean / s + corrected + std::max(0.0, residuals - mean);
    const double to_minimizer = std::sqrt(norm_sq<double>(view.minimizer));
    const double magnitude = std::sqrt(norm_sq<double>(view.iterates.model)) + to_minimizer +
                             std::sqrt(residuals) * (1 + 1 / std::sqrt(s));
    constexpr double kOfMinimizer = 1e-7;
    return {.root = std::sqrt(value),
            .rounding = rounding_unit(view) * magnitude + kOfMinimizer * to_minimizer};
  }

  static LyapunovState of_estimates(const StepView& view) {
    double distortion = 0;
    double gradients = 0;
    for (const auto& scalars : view.worker_scalars) {
      distortion += scalars.residual_norm_sq / view.facts.workers;
      gradients += scalars.gradient_norm_sq / view.facts.workers;
    }
    const LyapunovFacts& facts = *view.lyapunov;
    const double value = facts.root * norm_sq<double>(view.mean.gradient) + distortion;
    const double magnitude = facts.smoothness * std::sqrt(norm_sq<double>(view.iterates.model)) +
                             std::sqrt(gradients) + std::sqrt(distortion);
    return {.root = std::sqrt(value), .rounding = rounding_unit(view) * magnitude};
  }

  /// Before the first iteration residuals are 0, so that V_0/P is |w_0 - x*|^2. EF21's estimates
  /// begin with the first update.
  std::optional<double> root_before(const StepView& view) const {
    if (view.iteration == 0) {
      return view.estimates() || !view.iterates.distance_sq
                 ? std::nullopt
                 : std::optional(std::sqrt(*view.iterates.distance_sq));
    }
    return view.follows_measured ? std::optional(previous_) : std::nullopt;
  }

  double previous_ = 0;  // sqrt(V/P) of the measured iteration before
};

}  // namespace

std::unique_ptr<Probe> make_lyapunov_probe(const Section& /*section*/) {
  return std::make_unique<LyapunovProbe>();
}

}  // namespace residuum
