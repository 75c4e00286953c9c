#pragma once
// LateMeasurement does on the root what Measurement does with the workers of a run in lockstep: it
// takes the means over what a version is made of, from the late messages that keep it.

#include <optional>
#include <vector>

#include "core/cluster/run_state.h"
#include "core/measurement/step_view.h"
#include "core/training/late_message.h"

namespace residuum {

template <class Real>
class LateMeasurement {
 public:
  using Parts = VersionParts<Real>;

  /// Notes a version; called for each, measured or not. Its mean of x is the weighted sum of the
  /// late messages' x over the divisor, as the update is.
  void take(const Parts& parts, double version_step, bool in_gradient_units);

  /// Computes the mean of G^p, d numbers.
  void gradient(const Parts& parts, std::vector<double>& mean) const;
  /// Computes the mean of what entered the memories, in units of `version_step`: a worker steps
  /// with eta of the version that it has read.
  void input(const Parts& parts,
             double version_step,
             bool in_gradient_units,
             std::vector<double>& mean) const;
  /// Computes the means of a^p, and of what the messages left of it.
  void accumulator(const Parts& parts, std::vector<double>& mean) const;
  void residual(const Parts& parts, std::vector<double>& mean) const;
  /// Returns the mean of e^p before minus after, by which w - z changes if nothing is lost.
  const std::vector<double>& residual_fall(const Parts& parts, std::size_t d);

  /// Copies the lists of a measured version. They have their weights already.
  void lists(const Parts& parts, std::vector<SparseVector<double>>& sent);
  /// Fills in the known values of the contributions of a measured version.
  void fill(const Parts& parts, StepView& view);

  void save_or_load(RunState& state);

 private:
  double rounded_magnitude_ = 0;
  double noise_ = 0;  // sum over the gradients since the last row that have a noise
  double noisy_ = 0;  // their number
  std::vector<double> fall_;
  std::vector<WorkerScalars> contributed_;
  std::vector<int> contributors_;
};

}  // namespace residuum
