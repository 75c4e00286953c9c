// EControl (Gao, Islamov, Stich, ICLR 2024, arXiv:2311.05645; core/feedback/econtrol.cc) has, with
// w for the error weight, G = grad f_p(x) + noise of variance sigma^2 and r = a - C(a),
//   a = w e + G - h,  h' = h + C(a),  e' = e + G - h',  x' = x - eta mean h',  h = e = 0 at first.
// The bound here has explicit constants of its own: ours is the proof, theirs the method and the
// orders in alpha and T (at w of the order of alpha).
//
// Notation: alpha is the share that messages keep, q = 1 - alpha; E, R: means over workers and
// expectations of |e|^2, |r|^2; D = L~^2 E|x' - x|^2, L~^2 the mean of the L_p^2; X: |grad f|^2.
//
// Proof. h' = w e + G - r, so that e' = (1 - w) e + r and, with G' = grad f_p(x') + noise',
//   a' = (1 + w) r - w^2 e + (grad f_p(x') - grad f_p(x)) - noise + noise'.
// noise' is independent of what came before. Let nu = q (1 + w)^2 < 1. By Young's inequality with
// beta = (1 - nu)/(2 nu), where 1 + 1/beta = (1 + nu)/(1 - nu), and E|r'|^2 <= q E|a'|^2,
//   R' <= ((1 + nu)/2) R + 3 q ((1 + nu)/(1 - nu)) (w^4 E + D + sigma^2) + q sigma^2.
// By convexity E' <= (1 - w) E + R/w, so that sum E <= sum R/w^2. Summed over T iterations, with
//   B = 6 q (1 + nu)/(1 - nu)^2,  B' = B + 2 q/(1 - nu)  and  B w^2 <= 1/2:
//   sum R <= (4/(1 - nu)) R_0 + 2 B sum D + 2 B' T sigma^2.
// mean h' = mean G + mean (w e - r): D <= L~^2 eta^2 (2 X + 2 sigma^2/P + 4 w^2 E + 4 R), of which
// the last two sum to at most 8 sum R. With 32 B L~^2 eta^2 <= 1
//   sum R <= (8/(1 - nu)) R_0 + 8 B L~^2 eta^2 (sum X + T sigma^2/P) + 4 B' T sigma^2.
// z = x - eta mean e moves by -eta mean G, as with error feedback: by smoothness of f at z
//   mean X <= 2 Delta/(eta T) + L eta (mean X + sigma^2/P) + L^2 eta^2 mean E.
// With L eta <= 1/4 and 32 B L^2 L~^2 eta^4 <= w^2 the factor of mean X on the right is at most
// 1/2. R_0 is the error that the first messages leave, mean |e_1|^2.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assumptions/theorems/examination.h"

namespace residuum {
namespace {

/// The constants of the recursion of R, which follow from the share alpha and the weight of
/// EControl.
struct ErrorRecursion {
  double lost = 0;      // q
  double weight = 1;    // w
  double slowness = 0;  // nu

  double of_change() const {  // B
    const double rest = 1 - slowness;
    return 6 * lost * (1 + slowness) / (rest * rest);
  }
  double of_noise() const { return of_change() + 2 * lost / (1 - slowness); }  // B'
  bool is_forgotten() const { return slowness < 1 && of_change() * weight * weight <= 0.5; }
};

void synchronous_estimates_with_error_control(Examination& exam) {
  const RunFacts& facts = exam.method();
  exam.lockstep();
  exam.unbiased_gradients();
  exam.constant_step();
  exam.nothing_decays_or_is_clipped();
  exam.precondition("no momentum after the exchange",
                    facts.update.momentum == 0,
                    fmt::format("momentum is {}", facts.update.momentum));
  exam.no_outer_step();
  exam.precondition(
      "workers exchange changes of estimates and sum what these have missed",
      facts.feedback.memory == Memory::control && facts.feedback.error_weight.has_value(),
      fmt::format("{} is {}", facts.names.feedback, memory_text(facts.feedback.memory)));
  exam.whole_messages_are_applied();
}

ErrorRecursion need_recursion(Examination& exam) {
  ErrorRecursion errors;
  errors.lost = 1 - exam.sparsifier_keeps_a_share();
  errors.weight =
      exam.need({"w", exam.method().feedback.error_weight, "exact: of the error in a message"});
  errors.slowness = errors.lost * (1 + errors.weight) * (1 + errors.weight);
  const char* statement = "w is small against α: ν < 1, Bw² ≤ 1/2";
  if (std::isnan(errors.slowness)) {
    exam.ask(statement);
  } else {
    exam.precondition(statement,
                      errors.is_forgotten(),
                      fmt::format("ν = {:.6g}, Bw² = {:.6g}",
                                  errors.slowness,
                                  errors.of_change() * errors.weight * errors.weight));
  }
  return errors;
}

}  // namespace

Bound econtrol(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  synchronous_estimates_with_error_control(exam);
  const ErrorRecursion errors = need_recursion(exam);
  const double smoothness = exam.need(evidence.smoothness());
  const double worker_smoothness = exam.need(evidence.worker_smoothness());
  const double gap = exam.need(evidence.initial_gap());
  const double variance = exam.need(evidence.noise_variance());
  const double first = exam.need(evidence.initial_residual());
  const double root = std::sqrt(32 * errors.of_change());
  const double limit =
      std::min({1 / (4 * smoothness),
                1 / (worker_smoothness * root),
                std::sqrt(errors.weight / (smoothness * worker_smoothness * root))});
  const bool is_known = !std::isnan(smoothness + worker_smoothness + root);
  const double eta =
      exam.step_at_most(is_known ? limit : std::nan(""), "1/(4L), 1/(L̃√(32B)), √(w/(LL̃√(32B)))");
  const double mean_variance = variance / exam.method().workers;
  const double of_error = std::pow(smoothness * eta / errors.weight, 2);
  const double moved = worker_smoothness * worker_smoothness * eta * eta * mean_variance;
  const double noise =
      of_error * (8 * errors.of_noise() * variance + 16 * errors.of_change() * moved);
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    const auto t = static_cast<double>(now.iterations);
    return std::vector<BoundTerm>{
        {Attribution::optimisation, "4Δ/(ηT)", 4 * gap / *now.step_sum, false},
        {Attribution::noise, "2Lησ²/P", 2 * smoothness * eta * mean_variance, false},
        {Attribution::compression,
         "16L²η²R⁰/((1 − ν)w²T)",
         of_error * 16 * first / ((1 - errors.slowness) * t),
         true},
        {Attribution::residual, "(L²η²/w²)(8B′σ² + 16BL̃²η²σ²/P)", noise, true}};
  });
}

}  // namespace residuum
