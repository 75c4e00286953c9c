#include <algorithm>
#include <limits>

#include "assumptions/probes/probe.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

SelectionError sparse_error(const StepView& view, std::size_t begin, std::size_t end) {
  SelectionError error;
  const SparseVector<double>& update = *view.exchange.update;
  const auto first = std::lower_bound(update.indices.begin(), update.indices.end(), begin);
  auto next = static_cast<std::size_t>(first - update.indices.begin());
  for (std::size_t i = begin; i < end; ++i) {
    const double mean = view.mean.accumulator[i];
    if (next < update.size() && update.indices[next] == i) {
      const double difference = mean - update.values[next] / view.divisor();
      error.inside += difference * difference;
      ++next;
    } else {
      error.outside += mean * mean;
    }
  }
  return error;
}

/// A dense update has no list of selected indices: its non-zero entries stand for them.
SelectionError dense_error(const StepView& view, std::size_t begin, std::size_t end) {
  SelectionError error;
  for (std::size_t i = begin; i < end; ++i) {
    const double difference =
        view.mean.accumulator[i] - view.exchange.dense_update[i] / view.divisor();
    (view.exchange.dense_update[i] != 0 ? error.inside : error.outside) += difference * difference;
  }
  return error;
}

}  // namespace

SelectionError selection_error(const StepView& view, std::size_t begin, std::size_t size) {
  return view.exchange.is_dense ? dense_error(view, begin, begin + size)
                                : sparse_error(view, begin, begin + size);
}

double over_random(double lost, double random) {
  if (random > 0) {
    return lost / random;
  }
  return lost > 0 ? std::numeric_limits<double>::infinity() : 0;
}

double rounding_of_sum_sq(const StepView& view) {
  double sum = 0;
  for (const auto& scalars : view.contributions()) {
    sum += scalars.accumulator_norm_sq;
  }
  const auto workers = static_cast<double>(view.contributions().size());
  const double part = workers * view.unit_roundoff;
  return part * part * sum / workers;
}

// The gTop-k assumption (Shi et al., IJCAI 2019) is that the global selection loses no more of the
// dense mean a = mean a^p than a random selection of k entries would in expectation,
//   delta_t = |a - g/P|^2 / ((1 - rho) |a|^2) <= 1,  rho = k/d.
// The denominator is the closed form of E|a - Rand_k(a)|^2: no sample is drawn. delta_in is the
// part on the selected indices (values that other workers did not send), delta_out the rest. If the
// data decide how much is sent (thresholds), k is the mean number of entries a worker sent.
// If a is 0 and g is not, a random selection loses nothing and this one does: delta is infinite.

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
                      .name = "delta",
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
