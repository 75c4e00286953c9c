// EF21 (Richtarik, Sokolov, Fatkhullin, NeurIPS 2021) is, with full gradients,
//   x' = x - eta g,  g_p' = g_p + C(grad f_p(x') - g_p).
// Its theorems follow from one recursion of the distortion
// G = mean over workers of |g_p - grad f_p(x)|^2,
//   G' <= (1 - A) G + B mean |grad f_p(x') - grad f_p(x)|^2 <= (1 - A) G + B L~^2 |x' - x|^2,
// with L~^2 the mean of the L_p^2. For a sparsifier that keeps the share alpha of every accumulator
// A = theta = 1 - sqrt(1 - alpha) and B = beta = (1 - alpha)/theta, so that sqrt(beta/theta) =
// sqrt(1 - alpha)/theta (assumptions/probes/ef21.cc). |g - grad f|^2 <= G, and by smoothness
//   f(x') <= f(x) - (eta/2)|grad f(x)|^2 - (1/(2 eta) - L/2)|x' - x|^2 + (eta/2) G.       (1)
//
// EF21, 3PC: f + (eta/(2A)) G falls by (eta/2)|grad f|^2 if 1 >= L eta + (B/A) L~^2 eta^2, which
// eta <= 1/(L + L~ sqrt(B/A)) gives: X <= 2 Delta/(eta T) + G_0/(A T).
// Arithmetic mean: with w_p = L_p / sum L, |g - grad f|^2 <= G_w = P^-2 sum |g_p - grad f_p|^2/w_p
// (Jensen), each worker obeys the recursion with its own L_p, and P^-2 sum L_p^2/w_p = L_AM^2, the
// square of the mean: the same with G_w for G and L_AM for L~.
// PL: |grad f|^2 >= 2 mu (f - f*) in (1), and (eta/A) G added: f - f* + (eta/A) G shrinks by 1 -
// eta mu if eta mu <= A/2 and 1 >= L eta + 2 (B/A) L~^2 eta^2.

#include <fmt/format.h>

#include <cmath>

#include "assumptions/theorems/examination.h"

namespace residuum {
namespace {

void synchronous_estimates_of_full_gradients(Examination& exam) {
  exam.lockstep_with_plain_updates();
  exam.constant_step();
  exam.estimates_are_exchanged();
  exam.full_gradients();
}

/// The constants theta and sqrt(beta/theta) of the share alpha that every message keeps.
struct Share {
  double theta = 0;
  double root = 0;  // sqrt(beta/theta)
};

Share need_share(Examination& exam) {
  exam.whole_messages_are_applied();
  const double rest = std::sqrt(1 - exam.sparsifier_keeps_a_share());
  return {.theta = 1 - rest, .root = rest / (1 - rest)};
}

/// 2 Delta/(eta T) + G_0/(A T).
Examination::Terms terms(double gap, double forgotten, const std::string& formula) {
  return [=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    return std::vector<BoundTerm>{
        {Attribution::optimisation, "2Δ/(ηT)", 2 * gap / *now.step_sum, false},
        {Attribution::compression,
         formula,
         forgotten / static_cast<double>(now.iterations),
         false}};
  };
}

/// Returns the pair with the largest A among those that allow the step; if none does, the one that
/// allows the largest step. A is the part of a distortion that one iteration forgets.
EstimateRecursion::Pair best_pair(const std::vector<EstimateRecursion::Pair>& pairs,
                                  double largest_ratio) {
  EstimateRecursion::Pair best = pairs.front();
  for (const auto& pair : pairs) {  // by falling A
    if (pair.b / pair.a <= largest_ratio) {
      return pair;
    }
    best = pair.b / pair.a < best.b / best.a ? pair : best;
  }
  return best;
}

}  // namespace

Bound ef21(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  synchronous_estimates_of_full_gradients(exam);
  const double smoothness = exam.need(evidence.smoothness());
  const double worker_smoothness = exam.need(evidence.worker_smoothness());
  const double gap = exam.need(evidence.initial_gap());
  const double distortion = exam.need(evidence.initial_distortion());
  const Share share = need_share(exam);
  exam.step_at_most(1 / (smoothness + worker_smoothness * share.root), "1/(L + L̃√(β/θ))");
  return exam.finish(terms(gap, distortion / share.theta, "G⁰/(θT)"));
}

Bound ef21_arithmetic_mean(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  synchronous_estimates_of_full_gradients(exam);
  const double smoothness = exam.need(evidence.smoothness());
  const double mean_smoothness = exam.need(evidence.mean_worker_smoothness());
  const double gap = exam.need(evidence.initial_gap());
  const double distortion = exam.need(evidence.initial_weighted_distortion());
  const Share share = need_share(exam);
  exam.step_at_most(1 / (smoothness + mean_smoothness * share.root), "1/(L + L_AM√(β/θ))");
  return exam.finish(terms(gap, distortion / share.theta, "G_w/(θT)"));
}

namespace {

/// 1/(L + L~ sqrt(2 beta/theta)), theta/(2 mu).
double pl_limit(double smoothness, double worker_smoothness, double convexity, const Share& share) {
  return std::min(1 / (smoothness + std::sqrt(2) * worker_smoothness * share.root),
                  share.theta / (2 * convexity));
}

}  // namespace

std::optional<ContractionRate> ef21_pl_rate(const CompressedProblem& problem,
                                            std::optional<double> step) {
  const double rest = problem.root();
  const Share share{.theta = 1 - rest, .root = rest / (1 - rest)};
  const double limit =
      pl_limit(problem.smoothness, problem.smoothness, problem.strong_convexity, share);
  constexpr double kRounding = 1e-12;
  const double eta = step.value_or(limit);
  if (!(eta <= limit * (1 + kRounding))) {
    return std::nullopt;
  }
  return ContractionRate{.step = eta, .rate = 1 - eta * problem.strong_convexity, .of = "f − f*"};
}

/// Both sides fall below the roundoff of f in float64. So the bound is compared only until its
/// right side is 1e-9 of its first value.
Bound ef21_pl(const Evidence& evidence) {
  constexpr double kTold = 1e-9;
  Examination exam(evidence, Left::last_model);
  synchronous_estimates_of_full_gradients(exam);
  const double smoothness = exam.need(evidence.smoothness());
  const double worker_smoothness = exam.need(evidence.worker_smoothness());
  const double convexity = exam.need(evidence.strong_convexity());
  exam.precondition("μ > 0", !(convexity <= 0), fmt::format("μ = {:.6g}", convexity));
  const double gap = exam.need(evidence.initial_gap());
  const double distortion = exam.need(evidence.initial_distortion());
  const Share share = need_share(exam);
  const double limit = pl_limit(smoothness, worker_smoothness, convexity, share);
  const double eta = exam.step_at_most(limit, "1/(L + L̃√(2β/θ)), θ/(2μ)");
  const double compression = eta / share.theta * distortion;
  exam.has_rate(1 - eta * convexity);
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    const double left = std::pow(1 - eta * convexity, static_cast<double>(now.iterations));
    if (!(left >= kTold)) {
      return std::nullopt;
    }
    return std::vector<BoundTerm>{
        {Attribution::optimisation, "(1 − ημ)^T Δ", left * gap, false},
        {Attribution::compression, "(1 − ημ)^T ηG⁰/θ", left * compression, false}};
  });
}

/// 3PC (Richtarik, Sokolov, Gasanov, Fatkhullin, Li, Gorbunov, ICML 2022) is judged with the (A, B)
/// that the run itself has not refuted, whatever the sparsifier and the aggregator promise.
Bound three_point(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  synchronous_estimates_of_full_gradients(exam);
  const double smoothness = exam.need(evidence.smoothness());
  const double worker_smoothness = exam.need(evidence.worker_smoothness());
  const double gap = exam.need(evidence.initial_gap());
  const double distortion = exam.need(evidence.initial_distortion());
  const auto recursion = evidence.estimate_recursion();
  const auto pairs = recursion.pairs();
  const bool is_random = !evidence.method().sparsifier.deterministic;
  const char* recursion_holds = "G′ ≤ (1 − A)G + B mean ‖∇f_p(x′) − ∇f_p(x)‖² in every iteration";
  const char* step_limit = "1/(L + L̃√(B/A))";
  exam.ask(recursion_holds);
  exam.ask(fmt::format("η ≤ {}", step_limit));
  if (is_random || pairs.empty()) {
    const char* reason = is_random
                             ? "not measured: A and B bound an expectation, of which single draws "
                               "of a random selection say nothing"
                             : "not measured: distortions of successive iterations (probe ef21, "
                               "probes.every = 1)";
    exam.need({"A", std::nullopt, reason});
    exam.need({"B", std::nullopt, reason});
    return exam.finish({});
  }
  // eta <= 1/(L + L~ sqrt(B/A)) for B/A up to ((1/eta - L)/L~)^2.
  const double room =
      std::max(0.0, 1 / evidence.step_size().value.value_or(0) - smoothness) / worker_smoothness;
  const auto [a, b] = best_pair(pairs, room * room);
  const std::string origin =
      fmt::format("measured: refuted by none of {} pairs of iterations", recursion.compared());
  exam.need({"A", a, origin});
  exam.need({"B", b, origin + ", the least for this A"});
  exam.precondition(recursion_holds,
                    PreconditionState::no_violation_seen,
                    fmt::format("in {} of {} pairs of successive iterations",
                                recursion.compared(),
                                evidence.successive_iterations()));
  exam.step_at_most(1 / (smoothness + worker_smoothness * std::sqrt(b / a)), step_limit);
  return exam.finish(terms(gap, distortion / a, "G⁰/(AT)"));
}

}  // namespace residuum
