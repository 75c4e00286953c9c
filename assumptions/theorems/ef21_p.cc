// EF21-P (Gruntkowska, Tyurin, Richtarik, ICML 2023) for f that need not be convex, with constants
// of our own. Workers take gradients at the shift W of the server's model x,
//   x' = x - eta g,  E[g | past] = grad f(W),  variance of g at most sigma^2/P;
//   W' = W + C(x' - W),  |x' - W'|^2 <= (1 - alpha)|x' - W|^2,  W_0 = x_0.
//
// Proof. Let h = grad f(W) and G = |x - W|^2. As f is L-smooth, |grad f(x) - h|^2 <= L^2 G and
//   E f(x') <= f(x) - (eta/2)|grad f(x)|^2 - (eta/2)(1 - L eta)|h|^2 + (eta/2) L^2 G
//              + L eta^2 sigma^2/(2P).                                                        (1)
// With Young's inequality, as for the estimates of EF21, theta = 1 - sqrt(1 - alpha) and beta =
// (1 - alpha)/theta,
//   E G' <= (1 - theta) G + beta E|x' - x|^2 <= (1 - theta) G + beta eta^2 (|h|^2 + sigma^2/P). (2)
// (1) plus eta L^2/(2 theta) times (2): f + (eta L^2/(2 theta)) G falls by (eta/2)|grad f(x)|^2,
// but for noise, if L eta + (beta/theta) L^2 eta^2 <= 1, which eta <= 1/(L (1 + sqrt(beta/theta)))
// gives. As G_0 = 0, the sum over t < T is
//   X <= 2 Delta/(eta T) + L eta sigma^2/P + (beta/theta) L^2 eta^2 sigma^2/P,
// sqrt(beta/theta) = sqrt(1 - alpha)/theta. With alpha = 1 it is the bound of `bsp`.

#include <cmath>

#include "assumptions/theorems/examination.h"

namespace residuum {

Bound ef21_p(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  protocol_is(exam, Synchrony::lockstep);
  exam.plain_updates();
  exam.unbiased_draws();
  exam.workers_hand_in_gradients();
  exam.constant_step();
  exam.everything_is_sent();
  const double smoothness = exam.need(evidence.smoothness());
  const double gap = exam.need(evidence.initial_gap());
  const double variance = exam.need(evidence.noise_variance());
  const double rest = std::sqrt(1 - exam.model_is_shifted());
  const double root = rest / (1 - rest);  // sqrt(beta/theta)
  const double eta =
      exam.step_at_most(1 / (smoothness * (1 + root)), "1/(L(1 + √(1 − α)/(1 − √(1 − α))))");
  const double noise = smoothness * eta * variance / evidence.method().workers;
  return exam.finish(start_and(
      gap,
      {{Attribution::noise, "Lησ²/P", noise, false},
       {Attribution::compression, "(β/θ)L²η²σ²/P", root * root * smoothness * eta * noise, true}}));
}

}  // namespace residuum
