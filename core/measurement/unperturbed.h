#pragma once
// The unperturbed iterate: plain SGD on the mean gradients that the run's own models give,
//   u_0 = w_0,  u_{t+1} = u_t - eta'_t (mean G_t + lambda' w_t),
// for the certificate of any update rule (assumptions/theorems/certificate.cc), which needs to know
// of a rule only how far its models stay from u. Every eta' would do. With eta'_t = eta_t times the
// gain, by which one gradient moves the model in the end (1/(1 - m) for momentum m), w stays near
// u: a heavy ball v_t = m v_{t-1} + x_t, w_{t+1} = w_t - v_t, in units of the step and fed with x_t
// = eta_t (mean G_t + lambda w_t) + mean e_t - mean e_{t+1} (error feedback), has
//   w_t - u_t = (m v_{t-1} + mean e_t) / (1 - m),  v_{t-1} = w_{t-1} - w_t,
// since w_t - m v_{t-1}/(1 - m) moves by -x_t/(1 - m) and the residuals telescope. In units of the
// gradient (w_{t+1} = w_t - eta_t v_t, most training code) every change of the step adds
// (eta_{t-1} - eta_t) (m v_{t-1} + mean e_t)/(1 - m) to that, and it stays. Clipping of updates and
// the masking of velocities (dgc) are no part of u: what they take from w - u stays as well.
//
// Decay: lambda w_t moves the model by eta_t lambda over 1 - m of the momentum after the exchange
// alone, while gradients also pass the momentum before it. Relative to gradients it is lambda' =
// lambda over the gain of the feedback: the run minimises f + (lambda'/2)|w|^2.

#include <span>
#include <vector>

#include "core/measurement/step_view.h"
#include "core/training/training.h"

namespace residuum {

class UnperturbedIterate {
 public:
  /// On the root of a run that follows u; empty elsewhere.
  UnperturbedIterate(const Training& training, std::span<const double> initial_point);

  /// Takes the gradients at w_t, d numbers each; nothing where u is empty.
  void move(double step_size, std::span<const double> mean_gradient, std::span<const double> model);

  std::span<const double> iterate() const { return u_; }
  /// Sums over the iterations before the last `move`: eta', eta'^2 |mean G + lambda' w|^2 and
  /// eta' |w - u|^2.
  const RunningSums& sums_before() const { return sums_before_; }

  void visit(RunState& state);

 private:
  const Training& training_;
  std::vector<double> u_;
  RunningSums sums_, sums_before_;
};

}  // namespace residuum
