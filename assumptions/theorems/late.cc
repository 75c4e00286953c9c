// These theorems are about late gradients: version t + 1 is w_{t+1} = w_t - eta g_t, where g_t is
// the mean of b_t >= b gradients, each taken at a version u with t - u <= tau. Every worker's
// gradient is one of f, with noise of variance sigma^2, and each is used once.
//
// Proof (the idea is that of Stich and Karimireddy, JMLR 2020, and of Koloskova, Stich, Jaggi,
// NeurIPS 2022; the constants are derived here). Let g_t = h_t + n_t, h_t the mean of the grad
// f(w_u) and n_t the noise. Which gradient enters when may not depend on the draws. Then w_t
// depends only on draws that entered before t, and each n_t has mean zero given all other draws and
// variance at most sigma^2/b. As f is L-smooth,
//   E f(w_{t+1}) <= E f(w_t) - (eta/2) E|grad f(w_t)|^2 - (eta/2)(1 - L eta) E|h_t|^2
//                   + (eta/2) E|grad f(w_t) - h_t|^2 + L eta^2 sigma^2/(2b).                  (1)
// For a gradient of base u the path from w_u to w_t has t - u steps, and noises add in quadrature:
//   E|grad f(w_t) - grad f(w_u)|^2 <= L^2 E|w_t - w_u|^2
//                   <= 2 L^2 eta^2 [(t - u) sum_{u<=j<t} E|h_j|^2 + (t - u) sigma^2/b].       (2)
// Let N_j be the number of gradients whose base is u <= j and that enter at a version t > j, each
// counted 1/b_t. As t - u <= tau, the sum of (2) over the versions is at most
//   2 L^2 eta^2 [tau sum_j N_j E|h_j|^2 + (sigma^2/b) sum_j N_j].                             (3)
// If N_j <= N, (1) summed over t < T gives, as long as L eta + 2 L^2 eta^2 N tau <= 1,
//   X <= 2 Delta/(eta T) + L eta sigma^2/b + 2 L^2 eta^2 N sigma^2/b,
// and that is so for eta <= 2/(L (1 + sqrt(1 + 8 N tau))), the root of the quadratic.
//
// With a lag all workers' gradients of a version have one base: h_t = grad f(w_u) also where the
// workers' objectives differ.
//
// `delayed`: only the versions t = j + 1 .. j + tau can have a gradient of base j or before, so
// that N = tau.
// `concurrency`: b = 1, and tau_C gradients are in the making at a time, of which one enters at
// version j, so that N = tau_C - 1. The paper has eta <= 1/(4L sqrt(max(1, tau_C tau_max))); the
// step allowed here is the larger one for all tau_C and tau_max.

#include <fmt/format.h>

#include <cmath>

#include "assumptions/theorems/examination.h"

namespace residuum {
namespace {

/// Returns the largest eta with L eta + 2 L^2 eta^2 N tau <= 1.
double late_step_limit(double smoothness, double crossing, double tau) {
  return 2 / (smoothness * (1 + std::sqrt(1 + 8 * crossing * tau)));
}

}  // namespace

Bound delayed(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  protocol_is(exam, Synchrony::late);
  exam.workers_are_alike();
  exam.versions_are_means();
  const auto [smoothness, gap, variance] = need_dense_constants(exam);
  const double tau = exam.need(evidence.largest_staleness());
  const double contributions = exam.need(evidence.fewest_contributions());
  const double eta =
      exam.step_at_most(late_step_limit(smoothness, tau, tau), "2/(L(1 + √(1 + 8τ²)))");
  const double noise = smoothness * eta * variance / contributions;
  return exam.finish(start_and(
      gap,
      {{Attribution::noise, "Lησ²/b", noise, false},
       {Attribution::compression, "2L²η²τσ²/b", 2 * smoothness * eta * tau * noise, true}}));
}

Bound concurrency(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  protocol_is(exam, Synchrony::late);
  exam.workers_are_alike();
  exam.versions_are_means();
  const auto [smoothness, gap, variance] = need_dense_constants(exam);
  const double tau = exam.need(evidence.largest_staleness());
  const double in_the_making = exam.need(evidence.concurrency());
  // Every version adds the staleness of its gradient, and every gradient in the making adds one to
  // that of itself; so the mean staleness contradicts a concurrency that is too small.
  const char* statement = "mean staleness ≤ τ_C − 1";
  exam.ask(statement);
  const auto staleness = evidence.mean_staleness();
  if (staleness && !std::isnan(in_the_making)) {
    exam.precondition(
        statement, *staleness <= in_the_making - 1, fmt::format("it is {:.6g}", *staleness));
  }
  const double crossing = in_the_making - 1;
  const double eta = exam.step_at_most(late_step_limit(smoothness, crossing, tau),
                                       "2/(L(1 + √(1 + 8(τ_C − 1)τ)))");
  const double noise = smoothness * eta * variance;
  return exam.finish(start_and(gap,
                               {{Attribution::noise, "Lησ²", noise, false},
                                {Attribution::compression,
                                 "2L²η²(τ_C − 1)σ²",
                                 2 * smoothness * eta * crossing * noise,
                                 true}}));
}

}  // namespace residuum
