// This probe measures the gap e = w - z and its contraction, the constant that the proofs need
// below one, q_t = |e_{t+1}|^2 / |e_t + eta_t mean G_t|^2. Pathwise,
//   U_{t+1} = sqrt(q_t) (U_t + |z_{t+1} - z_t|)
// dominates |e_{t+1}| for any measured q_t: a hard invariant of every run (the step of z is
// eta_t |mean G_t| without momentum). If e_t + eta_t mean G_t is 0 and e_{t+1} is not, q_t is
// infinite, and the bound starts anew from the gap.
//
// If a server sends compressed changes of the model, the gap of their sum W must contract too:
// |w_{t+1} - W_{t+1}|^2 <= (1 - k/d) |w_{t+1} - W_t|^2.

#include <cmath>
#include <limits>

#include "assumptions/estimators/compressor_constants.h"
#include "assumptions/probes/probe.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

/// Relative room for the rounding of the float64 norms that enter.
constexpr double kNormRounding = 1e-10;
constexpr double kUnitRoundoff = 0x1.0p-53;

class ContractionProbe final : public Probe {
 public:
  std::vector<Column> columns() const override {
    return {
        Column::mean_grad_norm_sq, Column::gap_norm_sq, Column::contraction, Column::memory_factor};
  }
  Needs needs() const override {
    return {.iterate = true, .gradients = true, .mean_gradient = true};
  }

  void observe(const StepView& view, Row& row, std::vector<Check>& checks) override {
    row.set(Column::mean_grad_norm_sq, norm_sq<double>(view.mean.gradient));
    const double gap_sq = distance_sq(view.iterates.model, view.iterates.virtual_dense);
    row.set(Column::gap_norm_sq, gap_sq);
    if (view.iterates.shift) {
      check_shift(view, *view.iterates.shift, checks);
    }
    const double compensated = view.iterates.compensated_gap_norm_sq;
    if (compensated == 0 && gap_sq <= rounding_of_step_sq(view)) {
      bound_ = std::sqrt(gap_sq);
      return;
    }
    const double contraction =
        compensated > 0 ? gap_sq / compensated : std::numeric_limits<double>::infinity();
    row.set(Column::contraction, contraction);
    checks.push_back({.iteration = view.iteration,
                      .name = "contraction",
                      .worker = std::nullopt,
                      .lhs = gap_sq,
                      .rhs = compensated,
                      .holds = contraction < 1,
                      .hard = false,
                      .expected = true});
    if (compensated == 0) {
      bound_ = std::sqrt(gap_sq);
      recursion_.reset();
      return;
    }
    set_memory_factor(view, contraction, row);
    // If the iteration before was not measured, the recursion starts anew from the gap itself.
    const double before = view.follows_measured ? bound_ : view.iterates.gap_before_norm;
    // The step that z took differs from the one meant by the rounding of z itself.
    const double rounding = kUnitRoundoff * std::sqrt(norm_sq<double>(view.iterates.virtual_dense));
    // The root of the contraction would not do: a quotient of squares can be too small for a
    // double.
    const double shrinkage = std::sqrt(gap_sq) / std::sqrt(compensated);
    bound_ = shrinkage * (before + view.iterates.virtual_step_norm + rounding);
    checks.push_back({.iteration = view.iteration,
                      .name = "pathwise-residual",
                      .worker = std::nullopt,
                      .lhs = std::sqrt(gap_sq),
                      .rhs = bound_,
                      .holds = std::sqrt(gap_sq) <= bound_ * (1 + kNormRounding),
                      .hard = true,
                      .expected = true});
  }

  void save_or_load(RunState& state) override {
    state.root(bound_);
    state.root(recursion_);
  }

 private:
  /// An entry that was sent is off by the rounding of a difference and of a sum.
  static void check_shift(const StepView& view, const ShiftGap& gap, std::vector<Check>& checks) {
    const double unit = view.unit_roundoff;
    const double rounding = 9 * unit * unit * norm_sq<double>(view.iterates.model);
    const double allowed = gap.kept * gap.before_sq;
    checks.push_back({.iteration = view.iteration,
                      .name = "shift-contraction",
                      .worker = std::nullopt,
                      .lhs = gap.after_sq,
                      .rhs = allowed,
                      .holds = gap.after_sq <= allowed * (1 + kNormRounding) + rounding,
                      .hard = true,
                      .expected = true});
  }

  /// Returns what rounding may leave of a step that is 0 without it.
  static double rounding_of_step_sq(const StepView& view) {
    const double units = view.memory_step > 0 ? view.step_size / view.memory_step : 0;
    return units * units * rounding_of_sum_sq(view);
  }

  /// Sets D_t = R_{t+1} / eta_t. The recursion runs from the start and is lost when an iteration is
  /// not measured.
  void set_memory_factor(const StepView& view, double contraction, Row& row) {
    if (view.iteration > 0 && !view.follows_measured) {
      recursion_.reset();
    }
    if (recursion_) {
      recursion_->step(contraction, view.step_size);
      row.set(Column::memory_factor, recursion_->memory_factor());
    }
  }

  double bound_ = 0;                                        // U_t
  std::optional<GapRecursion> recursion_ = GapRecursion();  // R_t
};

}  // namespace

std::unique_ptr<Probe> make_contraction_probe(const Section& /*section*/) {
  return std::make_unique<ContractionProbe>();
}

}  // namespace residuum
