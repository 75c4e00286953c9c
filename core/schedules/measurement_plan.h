#pragma once
// The plan says what is measured in a run, and when. An absent cadence means never.

#include <cstddef>
#include <optional>

#include "core/schedules/cadence.h"

namespace residuum {

struct MeasurementPlan {
  bool measure = true;                    // false: no probe wants anything; z is not even formed
  bool follows_iterate = true;            // z is moved in every iteration: something looks at w - z
  bool mean_gradient = true;              // probes look at the workers' mean gradient,
  bool mean_accumulator = true;           // their mean accumulator,
  bool mean_residual = true;              // their mean residual: each is a sum over the processes
  std::optional<Cadence> measured;        // when probes look
  std::optional<Cadence> evaluated;       // when f, grad f are evaluated on all data
  std::optional<Cadence> tested;          // when held-out data are
  bool full_gradient = true;              // evaluations include |grad f|^2
  bool averages_iterates = false;         // f is evaluated at the average of the iterates too
  std::optional<Cadence> virtual_points;  // when f is evaluated at z_t
  bool compares_points = false;           // grad f is evaluated at w_t, z_t and z_{t+1}, for L
  bool lyapunov = false;                  // V of the tight theory (tight_rate.h) is wanted
  bool wants_unperturbed = false;         // f is evaluated at u_t too (unperturbed.h) if u is not z
  std::optional<Cadence> split;           // when batches are split in halves
  std::optional<Cadence> power;           // when the curvature is taken by power iteration
  std::size_t power_samples = 1024;       // about how many samples that takes
  std::optional<Cadence> sorted;          // when measurements may sort the accumulator
  std::optional<Cadence> magnitudes;      // when the entries of accumulators are counted by size

  /// True if the iteration is measured, that is, if any cadence is due.
  bool measures(std::uint64_t iteration) const {
    return measure && (is_due(measured, iteration) || is_due(evaluated, iteration) ||
                       is_due(tested, iteration) || is_due(virtual_points, iteration) ||
                       is_due(split, iteration) || is_due(power, iteration) ||
                       is_due(sorted, iteration) || is_due(magnitudes, iteration));
  }
};

}  // namespace residuum
