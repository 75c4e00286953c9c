// These theorems are about dense gradients that are exchanged at every iteration or only now and
// then; late.cc has those about late gradients, gossip.cc those about gossip. A protocol has the
// theorems that were made for it: lockstep runs are judged by `bsp` alone, although the others hold
// for them with H = 1 and tau = 0.
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

#include <utility>

namespace residuum {

DenseConstants need_dense_constants(Examination& exam) {
  exam.plain_updates();
  exam.unbiased_gradients();
  exam.constant_step();
  exam.everything_is_sent();
  DenseConstants constants;
  constants.smoothness = exam.need(exam.evidence().smoothness());
  constants.gap = exam.need(exam.evidence().initial_gap());
  constants.variance = exam.need(exam.evidence().noise_variance());
  return constants;
}

namespace {

const char* protocol_statement(Synchrony synchrony) {
  switch (synchrony) {
    case Synchrony::lockstep:
      return "workers exchange in lockstep";
    case Synchrony::periodic:
      return "workers exchange after local steps";
    case Synchrony::late:
      return "versions are made of gradients that may be late";
    case Synchrony::neighbours:
      break;
  }
  return "workers exchange with their neighbours in a graph";
}

}  // namespace

void protocol_is(Examination& exam, Synchrony synchrony) {
  exam.precondition(protocol_statement(synchrony),
                    exam.method().protocol.synchrony == synchrony,
                    "protocol is " + exam.method().names.protocol);
}

Examination::Terms start_and(double gap, std::vector<BoundTerm> rest) {
  return [=, rest = std::move(rest)](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    std::vector<BoundTerm> terms{
        {Attribution::optimisation, "2Δ/(ηT)", 2 * gap / *now.step_sum, false}};
    terms.insert(terms.end(), rest.begin(), rest.end());
    return terms;
  };
}

Bound bsp(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  protocol_is(exam, Synchrony::lockstep);
  const auto [smoothness, gap, variance] = need_dense_constants(exam);
  const double eta = exam.step_at_most(1 / smoothness, "1/L");
  const double noise = smoothness * eta * variance / evidence.method().workers;
  return exam.finish(start_and(gap, {{Attribution::noise, "Lησ²/P", noise, false}}));
}

/// Workers average their models every H steps. An iteration of the run is an exchange.
Bound local_sgd(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  const RunFacts& facts = evidence.method();
  protocol_is(exam, Synchrony::periodic);
  const auto [smoothness, gap, variance] = need_dense_constants(exam);
  const double moment = exam.need(evidence.worker_second_moment());
  const double period = exam.need(evidence.local_steps());
  const double eta = exam.step_at_most(1 / smoothness, "1/L");
  const double largest = exam.need(evidence.largest_worker_smoothness());
  const double drift = largest * eta * (period - 1);
  const double noise = period * smoothness * eta * variance / facts.workers;
  return exam.finish(start_and(gap,
                               {{Attribution::noise, "HLησ²/P", noise, false},
                                {Attribution::heterogeneity,
                                 "HL_max²η²(H − 1)²G²",
                                 period * drift * drift * moment,
                                 true}}));
}

}  // namespace residuum
