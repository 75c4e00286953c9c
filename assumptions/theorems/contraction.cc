// These theorems do without bounded gradients, at a constant step: the noise of an iteration is
// independent of the gap it meets, so that it costs 1/r and not 1/r^2 (Stich and
// Karimireddy, JMLR 2020).
//
// Proof. With q = 1 - r, e = w - z and mean G = grad f(w) + noise of variance sigma^2/P,
//   E|e_{t+1}|^2 <= q E|e_t + eta grad f(w_t)|^2 + q eta^2 sigma^2/P
//                <= (1 - r/2) E|e_t|^2 + (2 q/r) eta^2 E|grad f(w_t)|^2 + q eta^2 sigma^2/P
// by Young's inequality with beta = r/(2q): q (1 + beta) = 1 - r/2 and q (1 + 1/beta) =
// q (2 - r)/r. Summed from e_0 = 0, which asks no more of q than the sums do:
//   mean |e|^2 <= 4 q eta^2 X/r^2 + 2 q eta^2 sigma^2/(r P).
// The certificate has X <= 2 Delta/(eta T) + L eta (X + sigma^2/P) + L^2 mean |e|^2. For eta <=
// r/(4L) the factor of X is L eta + 4 L^2 eta^2 q/r^2 <= r/4 + q/4 = 1/4, and the noise
// of the gap is at most L eta sigma^2/P times 2 L eta q/r <= 1/2:
//   X <= (4/3) (2 Delta/(eta T) + (3/2) L eta sigma^2/P).
// The workers' residuals contract by themselves: there |e|^2 <= mean |e^p|^2, sigma^2/P becomes
// sigma^2, |grad f|^2 becomes mean |grad f_p|^2 <= (1 + C)|grad f|^2 + zeta^2, and eta <=
// r/(4L sqrt(1 + C)) keeps the factor of X at 1/4.

#include <fmt/format.h>

#include <cmath>

#include "assumptions/theorems/examination.h"

namespace residuum {

/// With eta tuned to T below its limit, X <= (32/3) L Delta/(r T) + 8 sqrt(L Delta sigma^2/(3 P
/// T)): the second is the larger from T* = (16/3) L Delta P/(r^2 sigma^2) on.
Bound mean_contraction(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  exam.plain_synchronous_steps();
  exam.constant_step();
  const double workers = evidence.method().workers;
  const double smoothness = exam.need(evidence.smoothness());
  const double gap = exam.need(evidence.initial_gap());
  const double variance = exam.need(evidence.noise_variance());
  const double q = exam.gap_contracts_on_average();
  const double r = 1 - q;
  const double eta = exam.step_at_most(r / (4 * smoothness), "(1 − q)/(4L)");
  if (variance > 0) {
    exam.horizon_is(16.0 / 3 * smoothness * gap * workers / (r * r * variance));
  }
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    return std::vector<BoundTerm>{
        {Attribution::optimisation, "(8/3)Δ/(ηT)", 8.0 / 3 * gap / *now.step_sum, false},
        {Attribution::noise, "2Lησ²/P", 2 * smoothness * eta * variance / workers, false}};
  });
}

/// Every worker's residual contracts, data differ between workers, noise does not grow (M = 0).
Bound worker_contraction(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  exam.plain_synchronous_steps();
  exam.constant_step();
  exam.error_feedback_of_whole_messages();
  const double workers = evidence.method().workers;
  const double smoothness = exam.need(evidence.smoothness());
  const double gap = exam.need(evidence.initial_gap());
  const double variance = exam.need(evidence.noise_variance());
  const auto [similarity, spread] = exam.need_both(evidence.similarity());
  const double q = exam.residuals_contract();
  const double r = 1 - q;
  const double eta =
      exam.step_at_most(r / (4 * smoothness * std::sqrt(1 + similarity)), "(1 − q)/(4L√(1 + C))");
  const double square = smoothness * smoothness * eta * eta * q;
  const double hetero = 16.0 / 3 * square * spread / (r * r);
  const double residual = 8.0 / 3 * square * variance / r;
  const double noise = 4.0 / 3 * smoothness * eta * variance / workers;
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    return std::vector<BoundTerm>{
        {Attribution::optimisation, "(8/3)Δ/(ηT)", 8.0 / 3 * gap / *now.step_sum, false},
        {Attribution::noise, "(4/3)Lησ²/P", noise, false},
        {Attribution::heterogeneity, "(16/3)L²qη²ζ²/(1 − q)²", hetero, true},
        {Attribution::residual, "(8/3)L²qη²σ²/(1 − q)", residual, true}};
  });
}

}  // namespace residuum
