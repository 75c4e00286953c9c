// This probe measures residual norms and the total error (Sahu et al., NeurIPS 2021: the sum over
// iterations and workers of |e^p_{t+1}|^2). With a hard threshold lambda on the accumulator and
// nothing rejected afterwards, |e^p|_inf < lambda for every worker and iteration, whatever the
// gradients are: a hard invariant. It is not one where e^p has a part that the accumulator lacks.

#include "assumptions/probes/probe.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

class ResidualProbe final : public Probe {
 public:
  std::vector<Column> columns() const override {
    return {Column::residual_norm_sq,
            Column::mean_residual_norm_sq,
            Column::total_error,
            Column::worker_accumulator_norm_sq};
  }
  Needs needs() const override { return {.gradients = true, .mean_residual = true}; }

  void observe(const StepView& view, Row& row, std::vector<Check>& checks) override {
    if (!view.exchanges_gradients()) {
      return;
    }
    double residual = 0;
    double total_error = 0;
    double accumulator = 0;
    for (const auto& scalars : view.contributions()) {
      accumulator += scalars.accumulator_norm_sq;
    }
    for (const auto& scalars : view.worker_scalars) {
      residual += scalars.residual_norm_sq;
      total_error += scalars.total_error;
    }
    row.set(Column::residual_norm_sq, residual / view.facts.workers);
    if (view.gradients_are_current()) {  // the mean is over all workers
      row.set(Column::mean_residual_norm_sq, norm_sq<double>(view.mean.residual));
    }
    row.set(Column::total_error, total_error);
    row.set(Column::worker_accumulator_norm_sq,
            accumulator / static_cast<double>(view.contributions().size()));
    if (view.selection.threshold && view.facts.aggregator.applies_whole_messages &&
        view.accumulators_hold_residuals()) {
      check_threshold(view, checks);
    }
  }

 private:
  static void check_threshold(const StepView& view, std::vector<Check>& checks) {
    const auto contributions = view.contributions();
    for (std::size_t i = 0; i < contributions.size(); ++i) {
      const double largest = contributions[i].residual_norm_inf;
      checks.push_back({.iteration = view.iteration,
                        .name = "threshold-bound",
                        .worker = view.contributor(i),
                        .lhs = largest,
                        .rhs = *view.selection.threshold,
                        .holds = largest < *view.selection.threshold || largest == 0,
                        .hard = true,
                        .expected = true});
    }
  }
};

}  // namespace

std::unique_ptr<Probe> make_residual_probe(const Section& /*section*/) {
  return std::make_unique<ResidualProbe>();
}

}  // namespace residuum
