// EF21-SGDM (Fatkhullin, Tyurin, Richtarik, NeurIPS 2023) is v_p' = (1 - a) v_p + a G_p(x'), g_p' =
// g_p + C(v_p' - g_p), x' = x - eta g; the constants here are explicit. Notation: D = |v - grad
// f(x)|^2 of the mean, M = mean |v_p - grad f_p(x)|^2, G = mean |g_p - v_p|^2, R = |x' - x|^2.
//
// Proof. As for EF21 (ef21.cc), with |g - grad f|^2 <= 2 G + 2 D,
//   f(x') <= f(x) - (eta/2)|grad f(x)|^2 - (1/(2 eta) - L/2) R + eta G + eta D.
// The noise of x' is independent of what came before. By Young's inequality with a, and (1 - a)^2
// (1 + a) <= 1 - a, and with alpha/2, where (1 - alpha)(1 + 2/alpha) <= 2/alpha:
//   E D' <= (1 - a) D + (L^2/a) R + a^2 sigma^2/P,
//   E M' <= (1 - a) M + (L~^2/a) R + a^2 sigma^2,
//   E G' <= (1 - alpha/2) G + (4 a^2/alpha)(M + L~^2 R) + a^2 sigma^2.
// f + (eta/a) D + (2 eta/alpha) G + (8 eta a/alpha^2) M then falls by (eta/2)|grad f|^2 up to
//   eta a sigma^2/P + 2 eta a^2 sigma^2/alpha + 8 eta a^3 sigma^2/alpha^2
// if the factor of R is not positive: 1 >= L eta + 2 eta^2 (L^2/a^2 + 8 (1 + a^2) L~^2/alpha^2).
// At the start v_p is one gradient (core/feedback/ef21_sgdm.cc): E D = sigma^2/P, E M = sigma^2.

#include <fmt/format.h>

#include <cmath>

#include "assumptions/theorems/examination.h"

namespace residuum {

Bound ef21_sgdm(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  const RunFacts& facts = evidence.method();
  exam.lockstep();
  exam.unbiased_gradients();
  exam.constant_step();
  exam.nothing_decays_or_is_clipped();
  exam.precondition("no momentum after the exchange",
                    facts.update.momentum == 0,
                    fmt::format("momentum is {}", facts.update.momentum));
  exam.no_outer_step();
  exam.estimates_are_exchanged();
  exam.precondition("estimates follow an average of the gradients",
                    facts.feedback.averaging.has_value(),
                    facts.feedback.averaging ? fmt::format("a = {}", *facts.feedback.averaging)
                                             : "they follow the gradients themselves");
  exam.whole_messages_are_applied();
  const double alpha = exam.sparsifier_keeps_a_share();
  const double smoothness = exam.need(evidence.smoothness());
  const double worker_smoothness = exam.need(evidence.worker_smoothness());
  const double gap = exam.need(evidence.initial_gap());
  const double variance = exam.need(evidence.noise_variance());
  const double distortion = exam.need(evidence.initial_distortion());
  const double a =
      exam.need({"a", facts.feedback.averaging, "exact: weight of the newest gradient"});
  const double mean_part = smoothness / a;
  const double worker_part = worker_smoothness / alpha;
  const double root =
      std::sqrt(2 * mean_part * mean_part + 16 * (1 + a * a) * worker_part * worker_part);
  exam.step_at_most(1 / (smoothness + root), "1/(L + √(2L²/a² + 16(1 + a²)L̃²/α²))");
  const double mean_variance = variance / facts.workers;
  const double share = a / alpha;
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    const auto t = static_cast<double>(now.iterations);
    return std::vector<BoundTerm>{
        {Attribution::optimisation, "2Δ/(ηT)", 2 * gap / *now.step_sum, false},
        {Attribution::compression, "4G⁰/(αT)", 4 * distortion / (alpha * t), false},
        {Attribution::noise, "2σ²/(aPT) + 2aσ²/P", 2 * mean_variance * (1 / (a * t) + a), false},
        {Attribution::compression,
         "16aσ²/(α²T) + 4a²σ²/α + 16a³σ²/α²",
         variance * (16 * share / (alpha * t) + 4 * a * share + 16 * a * share * share),
         false}};
  });
}

}  // namespace residuum
