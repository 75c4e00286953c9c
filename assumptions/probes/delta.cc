// The gTop-k assumption (Shi et al., IJCAI 2019) is that the global selection loses no more of the
// dense mean a = mean a^p than a random selection of k entries would in expectation,
//   delta_t = |a - g/P|^2 / ((1 - rho) |a|^2) <= 1,  rho = k/d.
// The denominator is the closed form of E|a - Rand_k(a)|^2: no sample is drawn. delta_in is the
// part on the selected indices (values that other workers did not send), delta_out the rest. If the
// data decide how much is sent (thresholds), k is the mean number of entries a worker sent.
// If a is 0 and g is not, a random selection loses nothing and this one does: delta is infinite.

#include "assumptions/probes/probe.h"
#include "assumptions/probes/selection_error.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

class DeltaProbe final : public Probe {
 public:
  std::vector<Column> columns() const override {
    return {Column::accumulator_norm_sq,
            Column::delta,
            Column::delta_in,
            Column::delta_out,
            Column::captured_energy};
  }
  Needs needs() const override { return {.gradients = true, .mean_accumulator = true}; }

  void observe(const StepView& view, Row& row, std::vector<Check>& checks) override {
    if (!view.exchanges_gradients()) {
      return;
    }
    const double total = norm_sq<double>(view.mean.accumulator);
    row.set(Column::accumulator_norm_sq, total);
    const SelectionError error = selection_error(view, 0, view.dimension());
    if (total == 0 && error.inside <= rounding_of_sum_sq(view)) {
      return;  // nothing to select from, and nothing applied
    }
    if (total > 0) {
      row.set(Column::captured_energy, 1 - (error.inside + error.outside) / total);
    }
    if (view.rho() >= 1) {
      return;  // a random selection loses nothing either, there is no ratio
    }
    const double random = (1 - view.rho()) * total;
    const double inside = over_random(error.inside, random);
    const double outside = over_random(error.outside, random);
    const double delta = inside + outside;
    row.set(Column::delta, delta);
    row.set(Column::delta_in, inside);
    row.set(Column::delta_out, outside);
    checks.push_back({.iteration = view.iteration,
                      .name = "gtopk-assumption",
                      .worker = std::nullopt,
                      .lhs = error.inside + error.outside,
                      .rhs = random,
                      .holds = delta <= 1,
                      .hard = false,
                      .expected = true});
  }
};

}  // namespace

std::unique_ptr<Probe> make_delta_probe(const Section& /*section*/) {
  return std::make_unique<DeltaProbe>();
}

}  // namespace residuum
