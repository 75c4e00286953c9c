#pragma once
// ModelUpdate moves the model by the exchanged update: clipping, weight decay and momentum follow
// the aggregation in this order, as in the public code of the gTop-k papers.
//   u = s g/P, s = alpha min(1, C/|g/P|);  v = m v + u + lambda w;  w -= eta v.
// alpha is the outer step of local methods, 1 without; Nesterov's momentum has w -= eta (u + lambda
// w + m v) in place of the last (Douillard et al., DiLoCo, 2023). Of signs and
// polar factors there is no momentum:
//   u = alpha signs(g/P);  w -= eta (u + lambda w), whatever the units of the memories are.

#include <span>
#include <vector>

#include "core/objective.h"
#include "core/training/training.h"
#include "core/training/update_direction.h"
#include "core/training/worker_parts.h"

namespace residuum {

template <class Real>
class ModelUpdate {
 public:
  explicit ModelUpdate(const Training& training);

  // An iteration calls these once, in this order.

  /// Takes the exchanged update: `divisor` makes a mean of the sum g, which gradient estimates move
  /// by. In lockstep it is the number of workers that take part, or of all where they have
  /// estimates.
  void take(const Delivery<Real>& delivery, double divisor);

  /// Computes s for that update, and returns it.
  double clip(const Delivery<Real>& delivery, double eta);

  /// Moves the float64 model; the working copy, from which gradients are computed, is its rounding.
  /// Returns false if an entry that moved is no longer usable.
  bool apply(const Delivery<Real>& delivery,
             double eta,
             std::span<double> model,
             std::span<Real> working_model);

  void visit(RunState& state);

 private:
  void take_velocity(const Delivery<Real>& delivery, double push, std::span<const double> model);
  double ahead_of_velocity(std::size_t i) const;
  void take_direction(const Delivery<Real>& delivery);

  const Method& method_;
  const Objective& objective_;
  std::size_t d_;
  double scale_;                           // s of this iteration
  double divisor_ = 1;                     // of g in this iteration
  std::vector<double> velocity_;           // v
  std::vector<double> previous_velocity_;  // for Nesterov's momentum
  std::vector<double> estimate_;  // mean of the workers' gradient estimates, in place of g/P
  UpdateDirection rule_;
  std::vector<double> direction_;  // where it is not the update itself
};

}  // namespace residuum
