// This probe measures the distortion G_t = mean_p |G^p_t - g^p_t|^2 of EF21's gradient estimates
// (Richtarik, Sokolov, Fatkhullin, NeurIPS 2021). With a sparsifier that keeps at least the share
// alpha of every accumulator, theta = 1 - sqrt(1 - alpha) and beta = (1 - alpha) / theta,
//   G_{t+1} <= (1 - theta) G_t + beta mean_p |G^p_{t+1} - G^p_t|^2
// for any gradients at all: a hard invariant. (The paper's form has L^2 |x_{t+1} - x_t|^2 in the
// place of the change, which bounds it for full gradients.) Proof: the accumulator is the old error
// plus the change, of which at most 1 - alpha stays; Young's inequality with the factor
// 1/sqrt(1 - alpha) - 1. The gradients of absent workers are not known: then nothing is recorded.
// If the estimates follow an average v^p of the gradients (EF21-SGDM), the same holds with v^p in
// the place of G^p.

#include <cmath>

#include "assumptions/probes/probe.h"

namespace residuum {
namespace {

class Ef21Probe final : public Probe {
 public:
  std::vector<Column> columns() const override {
    return {Column::ef21_distortion, Column::ef21_change, Column::ef21_weighted_distortion};
  }
  Needs needs() const override { return {.gradients = true}; }

  void observe(const StepView& view, Row& row, std::vector<Check>& checks) override {
    if (!view.estimates() || view.leaves_out()) {
      return;
    }
    double distortion = 0;
    double change = 0;
    double magnitude = 0;
    for (const auto& scalars : view.worker_scalars) {
      distortion += scalars.residual_norm_sq / view.facts.workers;
      change += scalars.gradient_change_sq / view.facts.workers;
      magnitude += (scalars.gradient_norm_sq + scalars.accumulator_norm_sq) / view.facts.workers;
      magnitude += scalars.average_norm_sq / view.facts.workers;
    }
    row.set(Column::ef21_distortion, distortion);
    row.set(Column::ef21_change, change);
    set_weighted(view, row);
    const bool comparable = view.follows_measured || view.iteration == 0;
    if (comparable && view.selection.contraction && view.facts.aggregator.applies_whole_messages) {
      check(view, {distortion, change, magnitude}, checks);
    }
    previous_ = distortion;
  }

  void save_or_load(RunState& state) override { state.root(previous_); }

 private:
  struct Seen {
    double distortion;
    double change;
    double magnitude;
  };

  /// With weights w_p in the proportion of the L_p, P^-2 sum_p |g^p - G^p|^2 / w_p is the mean of
  /// the L_p times the mean of |g^p - G^p|^2 / L_p.
  static void set_weighted(const StepView& view, Row& row) {
    double smoothness = 0;
    double weighted = 0;
    for (std::size_t p = 0; p < view.worker_smoothness.size(); ++p) {
      smoothness += view.worker_smoothness[p] / view.facts.workers;
      weighted +=
          view.worker_scalars[p].residual_norm_sq / view.worker_smoothness[p] / view.facts.workers;
    }
    if (std::isfinite(weighted) && smoothness > 0) {
      row.set(Column::ef21_weighted_distortion, smoothness * weighted);
    }
  }

  void check(const StepView& view, const Seen& seen, std::vector<Check>& checks) const {
    // g^p = 0 and G^p = 0 before the start: the first gradient is all change.
    const double before = view.iteration == 0 ? 0 : previous_;
    const double root = std::sqrt(1 - *view.selection.contraction);
    const double beta = root < 1 ? root * root / (1 - root) : 0;
    const double bound = root * before + beta * seen.change;
    const double rounding = 8 * view.unit_roundoff * std::sqrt(seen.magnitude);
    checks.push_back({.iteration = view.iteration,
                      .name = "ef21-distortion",
                      .worker = std::nullopt,
                      .lhs = seen.distortion,
                      .rhs = bound,
                      .holds = std::sqrt(seen.distortion) <= std::sqrt(bound) + rounding,
                      .hard = true,
                      .expected = true});
  }

  double previous_ = 0;
};

}  // namespace

std::unique_ptr<Probe> make_ef21_probe(const Section& /*section*/) {
  return std::make_unique<Ef21Probe>();
}

}  // namespace residuum
