#pragma once
// How the model takes what the workers have exchanged: clipping, weight decay and momentum, in this
// order and after the aggregation, as the public code of the gTop-k papers has it.
//   u = s g/P, s = min(1, C/|g/P|);  v = m v + u + lambda w;  w -= eta v.

#include <span>
#include <vector>

#include "core/training/training.h"
#include "core/training/worker_scalars.h"

namespace residuum {

template <class Real>
class ModelUpdate {
 public:
  explicit ModelUpdate(const Training& training);

  /// s for what was exchanged; takes note of it. Once per iteration, before `apply`.
  double clip(const Delivery<Real>& delivery, double eta);

  /// The float64 model takes the step; the working copy that gradients see is its rounding. False
  /// if an entry that moved is no longer usable.
  bool apply(const Delivery<Real>& delivery,
             double eta,
             std::span<double> model,
             std::span<Real> working_model);

  void visit(RunState& state);

 private:
  void take_velocity(const Delivery<Real>& delivery, double push, std::span<const double> model);

  const Method& method_;
  double workers_;
  std::size_t d_;
  double scale_ = 1;              // s of this iteration
  std::vector<double> velocity_;  // v
  std::vector<double> estimate_;  // mean of the workers' gradient estimates, in place of g/P
};

}  // namespace residuum
