#include "assumptions/theorems/seed_evidence.h"

namespace residuum {
namespace {

void take_larger(std::optional<double>& largest, const std::optional<double>& value) {
  if (value && !(largest && *largest >= *value)) {
    largest = value;
  }
}

}  // namespace

SeedMeasures::SeedMeasures(std::uint64_t iterations)
    : mean_gradient(iterations),
      worker_gradient(iterations),
      true_gradient(iterations),
      worker_true(iterations),
      noise(iterations),
      heterogeneity(iterations),
      contraction(iterations),
      worker_contraction(iterations),
      selection(iterations),
      gap(iterations),
      half_bias(iterations),
      tail(iterations) {}

void SeedMeasures::add(const Row& row) {
  if (row.iteration() == 0) {
    initial_loss = row.get(Column::loss);
    initial_distortion = row.get(Column::ef21_distortion);
    initial_distance_sq = row.get(Column::distance_sq);
  }
  fill_windows(row);
  take_extremes(row);
}

void SeedMeasures::fill_windows(const Row& row) {
  const std::uint64_t t = row.iteration();
  const auto fill = [&](Windows& windows, const std::optional<double>& value) {
    if (value) {
      windows.add(t, *value);
    }
  };
  const auto& variance = row.get(Column::noise_variance);
  const auto& drawn = row.get(Column::worker_grad_norm_sq);
  fill(mean_gradient, row.get(Column::mean_grad_norm_sq));
  fill(worker_gradient, drawn);
  fill(noise, variance);
  fill(heterogeneity, row.get(Column::heterogeneity));
  const auto& evaluated = row.get(Column::grad_norm_sq);
  fill(true_gradient, evaluated ? evaluated : row.get(Column::grad_norm_sq_split));
  fill(gap, row.get(Column::gap_norm_sq));
  fill(half_bias, row.get(Column::half_batch_bias));
  fill(tail, row.get(Column::tail_ratio));
  if (variance && drawn) {
    worker_true.add(t, *drawn - *variance);
  }

  const auto& accumulated = row.get(Column::accumulator_norm_sq);
  const auto& next_gap = row.get(Column::gap_norm_sq);
  const auto& q = row.get(Column::contraction);
  if (next_gap && q && *q > 0) {
    contraction.add_ratio(t, *next_gap, *next_gap / *q);
  } else if (next_gap && q && accumulated) {
    contraction.add_ratio(t, 0, *accumulated);  // nothing is left: e + eta mean G is mean a
  }
  const auto& left = row.get(Column::residual_norm_sq);
  const auto& brought = row.get(Column::worker_accumulator_norm_sq);
  if (left && brought) {
    worker_contraction.add_ratio(t, *left, *brought);
  }
  const auto& ratio = row.get(Column::delta);
  if (ratio && accumulated) {
    selection.add_ratio(t, *ratio * *accumulated, *accumulated);
  }
}

void SeedMeasures::take_extremes(const Row& row) {
  take_larger(largest_xi, row.get(Column::xi));
  take_larger(largest_step, row.get(Column::step_size));
  // Not smoothness_descent: it need not be a lower bound of L where f is evaluated with rounding.
  for (const Column column :
       {Column::smoothness_gap, Column::smoothness_secant, Column::smoothness_power}) {
    take_larger(largest_smoothness, row.get(column));
  }
}

}  // namespace residuum
