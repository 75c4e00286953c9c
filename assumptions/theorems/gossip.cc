// In gossip (decentralised SGD) every worker p has a model w^p of its own. In each version it steps
// along a gradient taken there, and mixes its model with those of its neighbours, by a symmetric
// and doubly stochastic matrix W (core/graphs/mixing.h). Theorems are about the mean model x.
//
// Proof. W leaves the mean alone, so x_{t+1} = x_t - eta_t mean G^p_t. Given the past E mean G^p_t
// = h_t, the mean of the grad f_p(w^p_t), and with the consensus error Xi_t = mean |w^p_t - x_t|^2
//   |grad f(x_t) - h_t|^2 <= mean |grad f_p(x_t) - grad f_p(w^p_t)|^2 <= L_max^2 Xi_t.
// As f is L-smooth and -2 <a, h> = |a - h|^2 - |a|^2 - |h|^2,
//   E f(x_{t+1}) <= E f(x_t) - (eta_t/2) E|grad f(x_t)|^2 - (eta_t/2) E|h_t|^2
//                   + (eta_t/2) L_max^2 E Xi_t + (L eta_t^2/2) E|mean G^p_t|^2.               (1)
//
// `gossip-certificate` is (1) summed over t < T and doubled, without the |h_t|^2; every term is
// measured. It asks only that what neighbours exchange leaves the mean alone, so that it holds with
// compressed messages too (CHOCO-SGD: Koloskova, Stich, Jaggi, ICML 2019).
//
// `gossip`: E|mean G|^2 <= E|h|^2 + sigma^2/P, and eta <= 1/L removes |h_t|^2 from (1). Mixing
// shrinks the distance to the mean model by |lambda_2| = 1 - p of the matrix that acts: W itself,
// or (1 - gamma) I + gamma W where workers go the part gamma of the way (CHOCO with whole messages;
// with compressed ones copies lag behind, and there is no such p). Whether a worker steps before it
// mixes or after,
//   (E Xi_{t+1})^(1/2) <= (1 - p) (E Xi_t)^(1/2) + eta (E mean |G^p_t - mean G_t|^2)^(1/2).
// All models begin at w_0, so that Minkowski's inequality in the space of sequences gives, with V^2
// the mean over t of the last bracket, mean E Xi_t <= eta^2 V^2/p^2, and
//   X <= 2 Delta/(eta T) + L eta sigma^2/P + L_max^2 eta^2 V^2/p^2.

#include <fmt/format.h>

#include "assumptions/theorems/examination.h"

namespace residuum {

Bound gossip(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  protocol_is(exam, Synchrony::neighbours);
  const auto [smoothness, gap, variance] = need_dense_constants(exam);
  const double largest = exam.need(evidence.largest_worker_smoothness());
  const double spread = exam.need(evidence.gradient_spread());
  const double mixing = exam.need(evidence.spectral_gap());
  exam.precondition(
      "p > 0, as on a connected graph", !(mixing <= 0), fmt::format("p = {:.6g}", mixing));
  const double eta = exam.step_at_most(1 / smoothness, "1/L");
  const double noise = smoothness * eta * variance / evidence.method().workers;
  const double drift = largest * eta / mixing;
  return exam.finish(
      start_and(gap,
                {{Attribution::noise, "Lησ²/P", noise, false},
                 {Attribution::heterogeneity, "L_max²η²V²/p²", drift * drift * spread, true}}));
}

Bound gossip_certificate(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  const RunFacts& facts = evidence.method();
  protocol_is(exam, Synchrony::neighbours);
  exam.plain_updates();
  exam.unbiased_gradients();
  exam.precondition("what neighbours exchange leaves the mean of the models alone",
                    facts.conserves,
                    facts.conserves ? "nothing is lost" : "some of it is lost for good");
  const double smoothness = exam.need(evidence.smoothness());
  const double largest = exam.need(evidence.largest_worker_smoothness());
  exam.need(evidence.initial_loss());
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.loss || !now.initial_loss || !now.noise_sum || !now.consensus_sum || !now.step_sum) {
      return std::nullopt;
    }
    const double steps = *now.step_sum;
    return std::vector<BoundTerm>{
        {Attribution::optimisation,
         "2(f(x_0) − f(x_T))/Ση",
         2 * (*now.initial_loss - *now.loss) / steps,
         false},
        {Attribution::noise, "L Ση²‖ḡ‖²/Ση", smoothness * *now.noise_sum / steps, false},
        {Attribution::heterogeneity,
         "L_max² Ση mean ‖w^p − x‖²/Ση",
         largest * largest * *now.consensus_sum / steps,
         true}};
  });
}

}  // namespace residuum
