// These theorems are about dense gradients that are exchanged at every iteration, late, or only now
// and then. A protocol has the one theorem that was made for it: lockstep runs are judged by `bsp`
// alone, although the other two hold for them with tau = 0 and H = 1.
//
// Local SGD (Stich, ICLR 2019; derived again, because the constants differ from paper to paper).
// Let x_s be the mean of the workers' models after s gradients of each, and let them exchange at
// every H-th s. If f is L-smooth, every f_p is L_p-smooth and eta <= 1/L, then
//   E f(x_{s+1}) <= E f(x_s) - (eta/2) E|grad f(x_s)|^2 + L eta^2 sigma^2/(2P)
//                   + (eta/2) E|grad f(x_s) - mean grad f_p(x^p_s)|^2,
// and the last norm is at most L_max^2 mean |x_s - x^p_s|^2 <= L_max^2 eta^2 (H-1)^2 G^2, because
// x^p and x part at an exchange and move apart by at most H - 1 gradients of E|G^p|^2 <= G^2.
// Summed over R H values of s, and with all terms of the left side dropped but those at the
// exchanges, where f is evaluated, the mean over the R exchanges is
//   X <= 2 Delta/(eta R) + H (L eta sigma^2/P + L_max^2 eta^2 (H-1)^2 G^2).

#include "assumptions/theorems/synchronisation.h"

#include <fmt/format.h>

#include "assumptions/theorems/examination.h"

namespace residuum {
namespace {

struct Common {
  double smoothness = 0;
  double gap = 0;       // Delta
  double variance = 0;  // sigma^2
};

Common need_common(Examination& exam) {
  exam.plain_updates();
  exam.unbiased_gradients();
  exam.constant_step();
  exam.precondition("workers send everything",
                    exam.method().sends_everything,
                    "sparsifier is " + exam.method().sparsifier);
  Common common;
  common.smoothness = exam.need(exam.evidence().smoothness());
  common.gap = exam.need(exam.evidence().initial_gap());
  common.variance = exam.need(exam.evidence().noise_variance());
  return common;
}

BoundTerm noise_term(const char* formula, double value) {
  return {Attribution::noise, formula, value, false};
}

void protocol_is(Examination& exam, bool fits, std::string_view why_not = {}) {
  const std::string& protocol = exam.method().protocol;
  exam.precondition("the protocol is that of the theorem",
                    fits,
                    fits || why_not.empty() ? "protocol is " + protocol
                                            : fmt::format("protocol is {}; {}", protocol, why_not));
}

Examination::Terms with_extra(const Common& common,
                              const BoundTerm& noise,
                              const BoundTerm& extra) {
  return [=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    std::vector<BoundTerm> terms{
        {Attribution::optimisation, "2Δ/(ηT)", 2 * common.gap / *now.step_sum, false}, noise};
    if (!extra.formula.empty()) {
      terms.push_back(extra);
    }
    return terms;
  };
}

}  // namespace

Bound bsp(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  protocol_is(exam, evidence.method().synchrony == Synchrony::lockstep);
  const Common common = need_common(exam);
  const double eta = exam.step_at_most(1 / common.smoothness, "1/L");
  return exam.finish(with_extra(
      common,
      noise_term("Lησ²/P", common.smoothness * eta * common.variance / evidence.method().workers),
      {}));
}

/// Gradients are up to tau updates old; each update is the mean of b gradients.
Bound delayed(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  const MethodFacts& facts = evidence.method();
  protocol_is(exam, facts.synchrony == Synchrony::late, kNoDelays);
  const Common common = need_common(exam);
  const double tau =
      exam.need(facts.delay ? Constant{"τ", facts.delay, "measured: largest staleness"}
                            : Constant{"τ", std::nullopt, "not measured: staleness"});
  const double contributions = facts.contributions.value_or(1);
  const double eta = exam.step_at_most(1 / (2 * common.smoothness * (tau + 1)), "1/(2L(τ + 1))");
  const double noise = common.smoothness * eta * common.variance / contributions;
  return exam.finish(with_extra(
      common,
      noise_term("Lησ²/b", noise),
      {Attribution::compression, "2L²η²τσ²/b", 2 * common.smoothness * eta * tau * noise, true}));
}

/// Workers average their models every H steps. An iteration of the run is an exchange.
Bound local_sgd(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  const MethodFacts& facts = evidence.method();
  protocol_is(exam, facts.synchrony == Synchrony::periodic);
  const Common common = need_common(exam);
  const double moment = exam.need(evidence.worker_second_moment());
  const double period = exam.need(facts.period ? Constant{"H", facts.period, "exact: the period"}
                                               : Constant{"H", std::nullopt, "not known"});
  const double eta = exam.step_at_most(1 / common.smoothness, "1/L");
  const double largest = exam.need(evidence.largest_worker_smoothness());
  const double drift = largest * eta * (period - 1);
  return exam.finish(with_extra(
      common,
      noise_term("HLησ²/P", period * common.smoothness * eta * common.variance / facts.workers),
      {Attribution::heterogeneity, "HL_max²η²(H − 1)²G²", period * drift * drift * moment, true}));
}

}  // namespace residuum
