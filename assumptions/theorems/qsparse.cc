// Local SGD with compressed messages and error feedback (Qsparse-local-SGD: Basu, Data, Karakus,
// Diggavi, NeurIPS 2019; core/protocols/local.cc). The constants are derived here, and are others
// than the paper's. Every worker takes H gradients G^p_0 .. G^p_{H-1} from w_t on, on a model of
// its own; D^p is their sum, a^p = e^p + eta D^p, it sends s^p = C(a^p) and keeps e^p = a^p - s^p,
// and w_{t+1} = w_t - mean s^p.
//
// Proof. Let z_t = w_t - mean e^p_t: then z_{t+1} = z_t - eta mean D^p, whatever C is. Let h be the
// mean over workers and their H steps of grad f_p(w^p_i), so that mean D^p = H h + n, where n is
// the noise, E|n|^2 <= H sigma^2/P, and has mean zero given w_t and z_t. With c = eta H,
//   E f(z_{t+1}) <= E f(z_t) - c E<grad f(z_t), h> + L c^2 E|h|^2 + L c eta sigma^2/P.
// With a = grad f(w_t) and |a - grad f(z_t)| <= L |mean e|,
//   -<grad f(z_t), h> <= (|a - h|^2 - |a|^2 - |h|^2)/2 + |h|^2/4 + L^2 |mean e|^2.
// For c <= 1/(4L) the terms with |h|^2 vanish. Summed over R versions and divided by R c/2,
//   X <= 2 Delta/(eta H R) + 2 L eta sigma^2/P + mean E|a - h|^2 + 2 L^2 mean E|mean e|^2.
// Drift: |a - h|^2 is at most L_max^2 times the mean over workers and i < H of |w_t - w^p_i|^2,
// which is at most eta^2 i sum_{j<i} |G^p_j|^2. The j-th norm has the factor sum_{j<i<H} i <=
// H(H-1)/2, so that E|a - h|^2 <= L_max^2 eta^2 H(H-1) G^2/2, with G^2 the mean of E|G^p_j|^2.
// Residuals: |mean e|^2 <= mean |e^p|^2. If their sums contract by q, Minkowski's inequality in the
// space of sequences gives sqrt S <= sqrt q (sqrt S + eta H G sqrt R), so that
//   mean E|mean e|^2 <= Q(q) eta^2 H^2 G^2,  Q(q) = q/(1 - sqrt q)^2.

#include "assumptions/estimators/compressor_constants.h"
#include "assumptions/theorems/examination.h"

namespace residuum {

Bound qsparse_local_sgd(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  const RunFacts& facts = evidence.method();
  protocol_is(exam, Synchrony::periodic);
  exam.plain_updates();
  exam.unbiased_gradients();
  exam.constant_step();
  exam.error_feedback_of_whole_messages();
  const double smoothness = exam.need(evidence.smoothness());
  const double largest = exam.need(evidence.largest_worker_smoothness());
  const double gap = exam.need(evidence.initial_gap());
  const double variance = exam.need(evidence.noise_variance());
  const double moment = exam.need(evidence.worker_second_moment());
  const double period = exam.need(evidence.local_steps());
  const double q = exam.residuals_contract();
  const double eta = exam.step_at_most(1 / (4 * smoothness * period), "1/(4LH)");
  const double noise = 2 * smoothness * eta * variance / facts.workers;
  const double drift = largest * largest * eta * eta * period * (period - 1) / 2 * moment;
  const double scale = smoothness * eta * period;
  const double residual = 2 * scale * scale * (q >= 0 ? amplification(q) : q) * moment;
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    return std::vector<BoundTerm>{
        {Attribution::optimisation, "2Δ/(ηHT)", 2 * gap / (period * *now.step_sum), false},
        {Attribution::noise, "2Lησ²/P", noise, false},
        {Attribution::heterogeneity, "L_max²η²H(H − 1)G²/2", drift, true},
        {Attribution::residual, "2L²Q(q)η²H²G²", residual, true}};
  });
}

}  // namespace residuum
