#pragma once
// The unperturbed iterate u is plain SGD on the mean gradients at the run's own models,
//   u_0 = w_0,  u_{t+1} = u_t - eta'_t (mean G_t + lambda' w_t),
// for the certificate of any update rule (assumptions/theorems/certificate.cc), which depends on a
// rule only through the distance of its models from u. Any eta' is valid. With eta'_t = eta_t times
// the gain, by which one gradient moves the model in the end (1/(1 - m) for momentum m), w stays
// near u: a heavy ball v_t = m v_{t-1} + x_t, w_{t+1} = w_t - v_t, in units of the step and fed
// with x_t = eta_t (mean G_t + lambda w_t) + mean e_t - mean e_{t+1} (error feedback), has
//   w_t - u_t = (m v_{t-1} + mean e_t) / (1 - m),  v_{t-1} = w_{t-1} - w_t,
// since w_t - m v_{t-1}/(1 - m) moves by -x_t/(1 - m) and the residuals telescope. In units of the
// gradient (w_{t+1} = w_t - eta_t v_t, most training code) every change of the step adds
// (eta_{t-1} - eta_t) (m v_{t-1} + mean e_t)/(1 - m) to that, and it stays. Clipping of updates and
// the masking of velocities (dgc) are no part of u: what they take from w - u stays as well.
//
// Workers that step locally take the gradients of their first steps alone at w_t, which all share:
// the mean gradient is that of these, and eta' counts H steps. The other steps, along gradients
// elsewhere or along an optimiser's directions, are a part of w - u.
//
// Weight decay: lambda w_t passes only the momentum m after the exchange and moves the model by
// eta_t lambda/(1 - m), while gradients also pass the momentum before it. Relative to gradients the
// decay is lambda' = lambda over the gain of the feedback: the run minimises f + (lambda'/2)|w|^2.

#include <cstdint>
#include <span>
#include <vector>

#include "core/measurement/step_view.h"
#include "core/training/training.h"

namespace residuum {

class UnperturbedIterate {
 public:
  /// The iterate exists on the root of a run that follows u; elsewhere it is empty.
  UnperturbedIterate(const Training& training,
                     std::uint64_t local_steps,
                     std::span<const double> initial_point);

  /// Returns whether the run follows u, on every process.
  bool is_followed() const { return is_followed_; }

  /// Moves u by the mean gradient at w_t, d numbers; does nothing where u is empty.
  void move(double step_size, std::span<const double> mean_gradient, std::span<const double> model);

  std::span<const double> iterate() const { return u_; }
  /// Returns the sums over the iterations before the last `move`: eta', eta'^2 |mean G + lambda'
  /// w|^2 and eta' |w - u|^2.
  const RunningSums& sums_before() const { return sums_before_; }

  void visit(RunState& state);

 private:
  bool is_followed_;
  double gain_;   // eta' over eta
  double decay_;  // lambda'
  std::vector<double> u_;
  RunningSums sums_, sums_before_;
};

}  // namespace residuum
