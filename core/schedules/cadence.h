#pragma once
// A cadence says at which iterations something is done: every N-th, ever more rarely, or so that no
// iteration stands for many. The last iteration always belongs to it.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

namespace residuum {

class Cadence {
 public:
  /// `value` is one of
  ///   N                        a whole number N >= 1: every N-th iteration from 0 on
  ///   {"geometric": F}         F > 1: t is followed by ceil(F t), by t + 1 at least
  ///   {"even": N}              N >= 1: t is followed by t + min(max(1, ceil(t/10)), G), where G =
  ///                            max(1, floor(T/N)) of a run of T iterations
  /// The last kind begins densely, as {"geometric": 1.1} does, until its gaps are G: N rows and
  /// those of the start. A row that stands for the iterations up to the next one then stands for
  /// at most T/N of them: an average over the run that is taken so is off by at most V/N, V being
  /// the sum of the changes of what is averaged from iteration to iteration. From N = T on it is
  /// every iteration. At most ten million iterations are listed. `where` names the key in messages.
  Cadence(const nlohmann::json& value, const std::string& where, std::uint64_t iterations);

  bool due(std::uint64_t iteration) const;

 private:
  void list_geometric(double factor, const std::string& where, std::uint64_t iterations);
  void list_even(std::uint64_t rows, const std::string& where, std::uint64_t iterations);

  std::uint64_t every_ = 0;  // 0: the listed iterations
  std::uint64_t last_ = 0;
  std::vector<std::uint64_t> listed_;
};

/// True if the cadence exists and is due; an absent cadence is never due.
inline bool is_due(const std::optional<Cadence>& cadence, std::uint64_t iteration) {
  return cadence && cadence->due(iteration);
}

/// The plan lists the quantities that are measured in a run, and the iterations. An absent cadence
/// means never.
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
  bool wants_unperturbed = false;         // f is evaluated at u_t too (iterates.h) if u is not z
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
