#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "assumptions/theorems/seed_evidence.h"

namespace residuum {
namespace {

// delta is a ratio of two float64 sums: if it is 1 by theory, rounding may leave a little more.
constexpr double kRounding = 1e-12;

constexpr std::array kHeld{&SeedMeasures::mean_gradient,
                           &SeedMeasures::worker_gradient,
                           &SeedMeasures::true_gradient,
                           &SeedMeasures::gradient_spread,
                           &SeedMeasures::worker_true,
                           &SeedMeasures::noise,
                           &SeedMeasures::heterogeneity,
                           &SeedMeasures::contraction,
                           &SeedMeasures::worker_contraction,
                           &SeedMeasures::worker_selection,
                           &SeedMeasures::selection,
                           &SeedMeasures::gap,
                           &SeedMeasures::half_bias,
                           &SeedMeasures::gradient_bias,
                           &SeedMeasures::tail,
                           &SeedMeasures::tail_selection};

void take_larger(std::optional<double>& largest, const std::optional<double>& value) {
  if (value && !(largest && *largest >= *value)) {
    largest = value;
  }
}

void look(HeldRatio& held, const Row& row, Column column) {
  if (const auto& value = row.get(column)) {
    held.look(row.iteration(), *value);
  }
}

/// Returns 1 - rho_t.
std::optional<double> left_at_random(const Row& row) {
  const auto& density = row.get(Column::density);
  return density ? std::optional(1 - *density) : std::nullopt;
}

/// Compares the workers' residuals with what a random selection would leave.
void look_at_residuals(SeedMeasures& measures, const Row& row) {
  const std::uint64_t t = row.iteration();
  const auto& left = row.get(Column::residual_norm_sq);
  const auto& brought = row.get(Column::worker_accumulator_norm_sq);
  if (!left || !brought) {
    return;
  }
  measures.worker_contraction.look(t, *left, *brought);
  const auto random = left_at_random(row);
  if (!random) {
    return;
  }
  measures.worker_selection.look(t, *left, *random * *brought);
  if (*random > 0) {
    // An accumulator of zeros holds nothing back, unless a message has made something of it.
    const double of_nothing = *left > 0 ? std::numeric_limits<double>::infinity() : 0;
    const double ratio = *brought > 0 ? *left / (*random * *brought) : of_nothing;
    measures.single_worker_selection.add(t, ratio, !(ratio <= 1 + kRounding));
  }
}

void look_at_tail(SeedMeasures& measures, const Row& row) {
  const auto& ratio = row.get(Column::tail_ratio);
  if (!ratio) {
    return;
  }
  const std::uint64_t t = row.iteration();
  measures.tail.look(t, *ratio);
  const auto random = left_at_random(row);
  if (!random) {
    return;
  }
  const double of_random = *random > 0 ? *ratio / (*random * *random) : *ratio;
  measures.tail_selection.look(t, of_random);
  if (*random > 0) {
    measures.single_tail.add(t, of_random, !(of_random <= 1 + kRounding));
  }
}

}  // namespace

std::optional<double> lost_by_selection(const Row& row) {
  const auto& delta = row.get(Column::delta);
  const auto& accumulated = row.get(Column::accumulator_norm_sq);
  const auto random = left_at_random(row);
  if (!delta || !accumulated || !random) {
    return std::nullopt;
  }
  if (!std::isinf(*delta)) {
    return *delta * *random * *accumulated;
  }
  // If nothing is lost for good, the mean of the residuals is the part of a that was not applied.
  const auto& residual = row.get(Column::mean_residual_norm_sq);
  const bool is_all = row.get(Column::lost_mass_norm_sq) == 0.0;
  return residual && is_all ? *residual : std::numeric_limits<double>::infinity();
}

void Range::add(double value) {
  smallest = measured == 0 ? value : std::min(smallest, value);
  largest = measured == 0 ? value : std::max(largest, value);
  sum += value;
  ++measured;
}

SeedMeasures::SeedMeasures(std::uint64_t iterations)
    : mean_gradient(iterations),
      worker_gradient(iterations),
      true_gradient(iterations),
      gradient_spread(iterations),
      worker_true(iterations),
      noise(iterations),
      heterogeneity(iterations),
      contraction(iterations),
      worker_contraction(iterations),
      worker_selection(iterations),
      selection(iterations),
      gap(iterations),
      half_bias(iterations),
      gradient_bias(iterations),
      tail(iterations),
      tail_selection(iterations) {}

void SeedMeasures::end_at(std::uint64_t iterations) {
  for (const auto held : kHeld) {
    (this->*held).end_at(iterations);
  }
}

void SeedMeasures::add(const Row& row) {
  if (row.iteration() == 0) {
    initial_loss = row.get(Column::loss);
    initial_unperturbed_loss = row.get(Column::unperturbed_loss);
    initial_residual = row.get(Column::residual_norm_sq);
    initial_distortion = row.get(Column::ef21_distortion);
    initial_weighted_distortion = row.get(Column::ef21_weighted_distortion);
    initial_distance_sq = row.get(Column::distance_sq);
  }
  const auto& distortion = row.get(Column::ef21_distortion);
  const auto& change = row.get(Column::ef21_change);
  if (distortion && change) {
    estimate_recursion.look(row.iteration(), *distortion, *change);
  }
  look_at_gradients(row);
  look_at_contraction(row);
  look_at_selection(row);
  take_extremes(row);
  look_at_versions(row);
  look_at_lyapunov(row);
}

void SeedMeasures::look_at_lyapunov(const Row& row) {
  lyapunov_rows += row.get(Column::lyapunov) ? 1 : 0;
  if (const auto& ratio = row.get(Column::lyapunov_ratio)) {
    single_lyapunov.add(row.iteration(), *ratio);
    ++lyapunov_pairs;
  }
  look_at_fall(row);
}

/// A row has a ratio if V before is above rounding. Rows without one, of which the row before was
/// not measured, count while V is above a part of its start that rounding is far below.
void SeedMeasures::look_at_fall(const Row& row) {
  constexpr double kToldPart = 1e-9;
  const auto& value = row.get(Column::lyapunov);
  if (!value || !std::isfinite(*value) || *value <= 0) {
    return;
  }
  const auto& ratio = row.get(Column::lyapunov_ratio);
  const bool has_step = ratio && *ratio > 0;
  const double now = std::log(*value);
  const auto at = static_cast<double>(row.iteration());
  LogFall& fall = lyapunov_fall;
  if (!fall.start) {
    fall.start = has_step ? now - std::log(*ratio) : now;
    fall.started_at = has_step ? at - 1 : at;
  }
  if (ratio || now > *fall.start + std::log(kToldPart)) {
    fall.change = now - *fall.start;
    fall.iterations = at - fall.started_at;
  }
}

void SeedMeasures::look_at_versions(const Row& row) {
  const auto add = [&](Range& range, Column column) {
    if (const auto& value = row.get(column)) {
      range.add(*value);
    }
  };
  add(staleness, Column::staleness_max);
  add(staleness_mean, Column::staleness_mean);
  add(contributions, Column::contributions);
}

void SeedMeasures::look_at_gradients(const Row& row) {
  look(mean_gradient, row, Column::mean_grad_norm_sq);
  look(worker_gradient, row, Column::worker_grad_norm_sq);
  look(noise, row, Column::noise_variance);
  look(heterogeneity, row, Column::heterogeneity);
  look(half_bias, row, Column::half_batch_bias);
  look(gradient_bias, row, Column::gradient_bias);
  const bool is_evaluated = row.get(Column::grad_norm_sq).has_value();
  look(true_gradient, row, is_evaluated ? Column::grad_norm_sq : Column::grad_norm_sq_split);
  const auto& variance = row.get(Column::noise_variance);
  const auto& drawn = row.get(Column::worker_grad_norm_sq);
  const auto& mean = row.get(Column::mean_grad_norm_sq);
  if (drawn && mean) {
    gradient_spread.look(row.iteration(), *drawn - *mean);
  }
  if (variance && drawn) {
    worker_true.look(row.iteration(), *drawn - *variance);
  }
}

void SeedMeasures::look_at_contraction(const Row& row) {
  const std::uint64_t t = row.iteration();
  look(gap, row, Column::gap_norm_sq);
  const auto& next_gap = row.get(Column::gap_norm_sq);
  const auto& q = row.get(Column::contraction);
  const auto& accumulated = row.get(Column::accumulator_norm_sq);
  if (next_gap && q && std::isinf(*q)) {
    contraction.look(t, *next_gap, 0);
  } else if (next_gap && q && *q > 0) {
    contraction.look(t, *next_gap, *next_gap / *q);
  } else if (next_gap && q && accumulated) {
    contraction.look(t, 0, *accumulated);  // nothing is left: e + eta mean G is mean a
  }
  if (q) {
    single_contraction.add(t, *q, !(*q < 1));
  }
  if (next_gap) {
    single_gap.add(t, *next_gap);
  }
}

void SeedMeasures::look_at_selection(const Row& row) {
  const std::uint64_t t = row.iteration();
  look_at_residuals(*this, row);
  look_at_tail(*this, row);
  const auto random = left_at_random(row);
  const auto& delta = row.get(Column::delta);
  const auto& accumulated = row.get(Column::accumulator_norm_sq);
  const auto lost = lost_by_selection(row);
  if (lost) {
    selection.look(t, *lost, *random * *accumulated);
  }
  if (delta) {
    single_selection.add(t, *delta, !(*delta <= 1 + kRounding));
  } else if (accumulated && *accumulated == 0) {
    selection.look(t, 0, 0);  // nothing to select from, and nothing lost
    single_selection.add(t, 0, false);
  }
}

void SeedMeasures::take_extremes(const Row& row) {
  take_larger(largest_xi, row.get(Column::xi));
  take_larger(largest_step, row.get(Column::step_size));
  // smoothness_descent is left out: it need not be a lower bound of L where f is evaluated with
  // rounding.
  for (const Column column : {Column::smoothness_gap, Column::smoothness_secant}) {
    if (const auto& quotient = row.get(column)) {
      single_difference.add(row.iteration(), *quotient);
    }
  }
  if (const auto& curvature = row.get(Column::smoothness_power)) {
    single_curvature.add(row.iteration(), *curvature);
  }
}

}  // namespace residuum
