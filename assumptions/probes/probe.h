#pragma once
// A probe turns the view of an iteration into quantities and checks. It watches and never changes a
// run. One file and one registry line per probe.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/cluster/run_state.h"
#include "core/config/registry.h"
#include "core/measurement/step_view.h"
#include "core/record/record.h"

namespace residuum {

/// Needs names the quantities that are measured only if a probe asks for them.
struct Needs {
  bool halves = false;             // gradients of half batches
  bool virtual_loss = false;       // f(z_t)
  bool unperturbed = false;        // and u_t, with f there
  bool compares_points = false;    // grad f at w_t and z_t
  bool power = false;              // power iteration
  bool averages_iterates = false;  // f at the average of the iterates
  bool sorts = false;              // sorted accumulators
  bool iterate = false;            // z_t, for which every iteration takes a mean of d numbers
  /// The probe needs gradients, accumulators or memories of all workers, or z, which is made of
  /// them: the root has them only where it sees more than messages.
  bool gradients = false;
  bool lyapunov = false;  // the constants of V, which may take a pass over the data
  // Means over the workers, each of which takes d numbers and a sum over the processes.
  bool mean_gradient = false;
  bool mean_accumulator = false;
  bool mean_residual = false;
};

class Probe {
 public:
  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  Probe(Probe&&) = delete;
  Probe& operator=(Probe&&) = delete;
  virtual ~Probe() = default;

  /// Names the columns that it may fill in.
  virtual std::vector<Column> columns() const { return {}; }

  /// Names what the training must provide for the probe besides what every view has.
  virtual Needs needs() const { return {}; }

  /// Called on the root process for every measured iteration, in order.
  virtual void observe(const StepView& view, Row& row, std::vector<Check>& checks) = 0;

  /// Saves or loads the values that one iteration leaves for the next.
  virtual void save_or_load(RunState& /*state*/) {}
};

/// A probe's example is `{}`: probes take no keys.
std::span<const Entry<Probe>> probes();

// The selection error tells how far the applied update is from the mean of the accumulators, on a
// part of the model.

/// Squared error of g/P against the mean accumulator, on and off the support of g.
struct SelectionError {
  double inside = 0;
  double outside = 0;
};

/// Computes the error over the entries begin .. begin + size - 1.
SelectionError selection_error(const StepView& view, std::size_t begin, std::size_t size);

/// Returns a part of the error over what a random selection would lose, both of them squares: 0
/// where neither loses anything, infinite where a random selection loses nothing.
double over_random(double lost, double random);

/// Returns the square of what rounding may leave of a sum of the accumulators that is 0 without
/// it: (P u)^2 times the mean of |a^p|^2, u being the unit roundoff.
double rounding_of_sum_sq(const StepView& view);

}  // namespace residuum
