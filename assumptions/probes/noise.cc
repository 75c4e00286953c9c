// This probe estimates noise and heterogeneity by half batches. With G^{p,1} and G^{p,2} the
// gradients of the two halves of worker p's batch, all of these are unbiased:
//   sigma^2 = mean_p |G^{p,1} - G^p|^2 n_1/n_2                 of a worker's batch gradient
//   zeta^2  = mean_p |G^p - mean G|^2 - (1 - 1/P) sigma^2     may come out negative: average first
//   |grad f|^2 = <mean G^{.,1}, mean G^{.,2}>
// The halves are independent if samples are drawn with replacement, and half_batch_bias has the
// expectation one if those of different workers are, too. A part that all gradients share cancels
// in it. Whether they are unbiased is said by
//   b = <mean G - grad f(w), grad f(w)> / |grad f(w)|^2,   of mean 0 where E mean G = grad f(w),
// wherever grad f(w_t) was evaluated. With whole shards b is the bias itself, up to rounding,
// unless some workers are left out: then it has the noise of the draw of those that take part. P is
// the number of these in all of it; zeta^2 is that of all workers, as those that take part estimate
// it.

#include "assumptions/probes/probe.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

class NoiseProbe final : public Probe {
 public:
  std::vector<Column> columns() const override {
    return {Column::worker_grad_norm_sq,
            Column::noise_variance,
            Column::heterogeneity,
            Column::grad_norm_sq_split,
            Column::decayed_grad_norm_sq_split,
            Column::half_batch_bias,
            Column::gradient_bias};
  }
  Needs needs() const override {
    return {.halves = true, .gradients = true, .mean_gradient = true};
  }

  void observe(const StepView& view, Row& row, std::vector<Check>& /*checks*/) override {
    if (view.steps_locally) {
      observe_local_steps(view, row);
      return;
    }
    double gradient = 0;
    const auto contributions = view.contributions();
    for (const auto& scalars : contributions) {
      gradient += scalars.gradient_norm_sq / static_cast<double>(contributions.size());
    }
    row.set(Column::worker_grad_norm_sq, gradient);
    if (!view.gradients_are_current()) {
      observe_late(view, row);
      return;
    }
    observe_bias(view, row);
    const double mean = norm_sq<double>(view.mean.gradient);
    if (view.batch_is_exact) {
      row.set(Column::noise_variance, 0);
      set_heterogeneity(view, gradient - mean, row);
      set_split(view, mean, row);
      return;
    }
    if (view.halves) {
      observe_halves(view, gradient, mean, row);
    }
  }

 private:
  /// Gradients at several models tell nothing of one; what is known of them is their noise.
  static void observe_late(const StepView& view, Row& row) {
    if (view.batch_is_exact) {
      row.set(Column::noise_variance, 0);
    } else if (view.late_noise) {
      row.set(Column::noise_variance, *view.late_noise);
    }
  }

  /// With local steps, mean G is a sum of gradients at many points and tells nothing of one. Of
  /// single gradients only the norms are known, and the noise of the first, by half of its batch.
  static void observe_local_steps(const StepView& view, Row& row) {
    double gradient = 0;
    double variance = 0;
    for (const auto& scalars : view.contributions()) {
      gradient += scalars.step_grad_norm_sq / contributors(view);
      variance += scalars.noise_variance / contributors(view);
    }
    row.set(Column::worker_grad_norm_sq, gradient);
    if (view.batch_is_exact) {
      row.set(Column::noise_variance, 0);
    } else if (view.halves) {
      row.set(Column::noise_variance, variance);
    }
  }

  static double contributors(const StepView& view) {
    return static_cast<double>(view.contributions().size());
  }

  /// Sets zeta^2 from the spread of the gradients around their mean. The spread of m workers drawn
  /// of P is smaller than that of all, by m - 1 over m times P over P - 1 in expectation; one
  /// worker has none.
  static void set_heterogeneity(const StepView& view, double spread, Row& row) {
    const double m = contributors(view);
    const double workers = view.facts.workers;
    if (!view.leaves_out()) {
      row.set(Column::heterogeneity, spread);
    } else if (m > 1) {
      row.set(Column::heterogeneity, spread * m / (m - 1) * (workers - 1) / workers);
    }
  }

  /// Sets the estimate of |grad f|^2, and with weight decay that of |grad f + lambda w|^2. The mean
  /// gradient of some workers estimates their own objective, and that at a shift of w another
  /// point's: they have no such estimate.
  static void set_split(const StepView& view, double split, Row& row) {
    if (view.leaves_out() || view.facts.aggregator.shifts_model) {
      return;
    }
    row.set(Column::grad_norm_sq_split, split);
    if (view.iterates.decay_terms) {
      row.set(Column::decayed_grad_norm_sq_split, split + view.iterates.decay_terms->added());
    }
  }

  static void observe_bias(const StepView& view, Row& row) {
    double full_sq = 0;
    double along = 0;
    for (std::size_t i = 0; i < view.evaluations.gradient.size(); ++i) {
      full_sq += view.evaluations.gradient[i] * view.evaluations.gradient[i];
      along +=
          (view.mean.gradient[i] - view.evaluations.gradient[i]) * view.evaluations.gradient[i];
    }
    if (full_sq > 0) {
      row.set(Column::gradient_bias, along / full_sq);
    }
  }

  static void observe_halves(const StepView& view, double gradient, double mean, Row& row) {
    double variance = 0;
    const double workers = contributors(view);
    for (const auto& scalars : view.contributions()) {
      variance += scalars.noise_variance / workers;
    }
    row.set(Column::noise_variance, variance);
    set_heterogeneity(view, gradient - mean - (1 - 1.0 / workers) * variance, row);

    // mean G = c_1 mean G^1 + c_2 mean G^2.
    const double c_1 = view.halves->first;
    const double c_2 = 1 - c_1;
    double first_with_mean = 0;
    for (std::size_t i = 0; i < view.dimension(); ++i) {
      first_with_mean += view.halves->mean_first[i] * view.mean.gradient[i];
    }
    const double first = norm_sq<double>(view.halves->mean_first);
    set_split(view, (first_with_mean - c_1 * first) / c_2, row);
    if (variance > 0) {
      // |mean G^1 - mean G|^2 = c_2^2 |mean G^1 - mean G^2|^2, of expectation (c_2/c_1) sigma^2/P.
      const double apart = distance_sq(view.halves->mean_first, view.mean.gradient);
      row.set(Column::half_batch_bias, apart * workers * c_1 / (c_2 * variance));
    }
  }
};

}  // namespace

std::unique_ptr<Probe> make_noise_probe(const Section& /*section*/) {
  return std::make_unique<NoiseProbe>();
}

}  // namespace residuum
