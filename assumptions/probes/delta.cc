// The gTop-k assumption (Shi et al., IJCAI 2019): the global selection loses no more of the dense
// mean a = mean a^p than a random selection of k entries would in expectation,
//   delta_t = |a - g/P|^2 / ((1 - rho) |a|^2) <= 1,  rho = k/d.
// The denominator is the closed form of E|a - Rand_k(a)|^2: no sample is drawn. delta_in is the
// part on the selected indices (values that other workers did not send), delta_out the rest. Where
// the data decide how much is sent (thresholds), k is the mean number of entries a worker sent.

#include "assumptions/probes/probe.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

/// Squared error of g/P against the mean accumulator, on and off the support of g.
struct SelectionError {
  double inside = 0;
  double outside = 0;
};

SelectionError sparse_error(const StepView& view) {
  SelectionError error;
  const SparseVector<double>& update = *view.update;
  std::size_t next = 0;
  for (std::size_t i = 0; i < view.dimension; ++i) {
    const double mean = view.mean_accumulator[i];
    if (next < update.size() && update.indices[next] == i) {
      const double difference = mean - update.values[next] / view.workers;
      error.inside += difference * difference;
      ++next;
    } else {
      error.outside += mean * mean;
    }
  }
  return error;
}

/// A dense update has no list of selected indices: they are those where it is not zero.
SelectionError dense_error(const StepView& view) {
  SelectionError error;
  for (std::size_t i = 0; i < view.dimension; ++i) {
    const double difference = view.mean_accumulator[i] - view.dense_update[i] / view.workers;
    (view.dense_update[i] != 0 ? error.inside : error.outside) += difference * difference;
  }
  return error;
}

class DeltaProbe final : public Probe {
 public:
  void observe(const StepView& view, Row& row, std::vector<Check>& checks) override {
    const double total = norm_sq<double>(view.mean_accumulator);
    row.set(Column::accumulator_norm_sq, total);
    if (total == 0) {
      return;
    }
    const SelectionError error = view.update_is_dense ? dense_error(view) : sparse_error(view);
    row.set(Column::captured_energy, 1 - (error.inside + error.outside) / total);
    const double random = (1 - view.rho()) * total;
    if (random <= 0) {
      return;  // rho = 1: a random selection loses nothing either, there is no ratio
    }
    const double delta = error.inside / random + error.outside / random;
    row.set(Column::delta, delta);
    row.set(Column::delta_in, error.inside / random);
    row.set(Column::delta_out, error.outside / random);
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
