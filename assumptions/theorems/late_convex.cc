// These theorems are about late gradients of a convex f, and bound f(w_t) - f* of the server's own
// sequence. They ask for no limit of the step, and not for a bounded domain. The notation is that
// of late.cc: w_{t+1} = w_t - eta g_t, and a gradient of g_t has a base u with t - u <= tau.
//
// Proof. The noise of g_t has mean zero given all other draws, and so given w_t. Hence
//   E|w_{t+1} - x*|^2 = E|w_t - x*|^2 - 2 eta E<grad f(w_u), w_t - x*> + eta^2 E|g_t|^2,       (1)
// where a function of u stands for its mean over the gradients of g_t. In a sum over t the step j
// lies between u and t for versions of t = j + 1 .. j + tau only, so that it is counted at most tau
// times, as in late.cc.
//
// `delayed-convex`, with f L-smooth: f* >= f(w_u) + <grad f(w_u), x* - w_u> and the descent from
// w_u to w_t give f(w_t) - f* <= <grad f(w_u), w_t - x*> + (L/2)|w_t - w_u|^2. The last square is
// at most eta^2 (t - u) sum_{u<=j<t} |g_j|^2, so that (1) summed over t < T gives
//   mean (f - f*) <= |w_0 - x*|^2/(2 eta T) + (eta/2)(1 + L eta tau^2) mean |g|^2.
//
// `ssp-regret`, without smoothness: f(w_u) - f* <= <grad f(w_u), w_u - x*> and f(w_t) - f(w_u) <=
// |grad f(w_t)| |w_t - w_u| add to (1) the mean of (|grad f(w_t)| + |grad f(w_u)|) |w_t - w_u|,
// where |w_t - w_u| <= eta sum_{u<=j<t} |g_j|. By a b <= (a^2 + b^2)/2, and with G^2 above the mean
// of E|G|^2 over the gradients that enter and the mean of E|grad f(w_t)|^2,
//   mean (f - f*) <= |w_0 - x*|^2/(2 eta T) + eta G^2 (1/2 + 2 tau).
// In SSP(s) tau <= (2s+1)(P-1) and 1 + 4 tau <= 8 (s+1) P, so that the best step leaves a regret of
// at most 2 |w_0 - x*| G sqrt(2 (s+1) P T). Ho et al. (NIPS 2013) have 4 F G sqrt(2 (s+1) P T) with
// F^2 >= |x - x'|^2/2 over the domain, for losses at the workers' views and eta_t ~ 1/sqrt t. Here
// the step is constant: a late gradient enters with the step size of its base.

#include <algorithm>

#include "assumptions/theorems/examination.h"

namespace residuum {
namespace {

/// Asks for the preconditions of both; returns |w_0 - x*|^2.
double need_late_convex(Examination& exam) {
  protocol_is(exam, Synchrony::late);
  exam.workers_are_alike();
  exam.versions_are_means();
  exam.plain_updates();
  exam.unbiased_gradients();
  exam.constant_step();
  exam.everything_is_sent();
  exam.convex_objective();
  return exam.need(exam.evidence().initial_distance_sq());
}

BoundTerm distance_term(double distance_sq, double step_sum) {
  return {Attribution::optimisation, "‖w_0 − x*‖²/(2ηT)", distance_sq / (2 * step_sum), false};
}

}  // namespace

Bound delayed_convex(const Evidence& evidence) {
  Examination exam(evidence, Left::loss_gap);
  const double distance_sq = need_late_convex(exam);
  const double smoothness = exam.need(evidence.smoothness());
  const double tau = exam.need(evidence.largest_staleness());
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum || !now.noise_sum) {
      return std::nullopt;
    }
    const double eta = *now.step_sum / static_cast<double>(now.iterations);
    const double noise = *now.noise_sum / (2 * *now.step_sum);
    return std::vector<BoundTerm>{distance_term(distance_sq, *now.step_sum),
                                  {Attribution::noise, "(η/2) mean ‖ḡ‖²", noise, false},
                                  {Attribution::compression,
                                   "(η/2)Lητ² mean ‖ḡ‖²",
                                   smoothness * eta * tau * tau * noise,
                                   true}};
  });
}

Bound ssp_regret(const Evidence& evidence) {
  Examination exam(evidence, Left::loss_gap);
  const double distance_sq = need_late_convex(exam);
  const double drawn = exam.need(evidence.worker_second_moment());
  const double full = exam.need(evidence.true_gradient());
  const double tau = exam.need(evidence.largest_staleness());
  const double eta = exam.need(evidence.step_size());
  const double moment = std::max(drawn, full);
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    return std::vector<BoundTerm>{
        distance_term(distance_sq, *now.step_sum),
        {Attribution::noise, "ηG²/2", eta * moment / 2, false},
        {Attribution::compression, "2ητG²", 2 * eta * tau * moment, false}};
  });
}

}  // namespace residuum
