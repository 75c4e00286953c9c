// Mem-SGD (Stich, Cordonnier, Jaggi, NeurIPS 2018) asks for a mu-strongly convex f, eta_t = 8/(mu
// (a + t)), models averaged with weights (a + t)^2, and E|G^p|^2 <= G^2. With several workers the
// memory is their mean, whose second moment is not above the mean of theirs.
//
// The paper asks for alpha > 4 with (alpha + 1) d/k + r/(r + 1) <= a, r = 4 alpha/((alpha - 4)
// (alpha + 1)^2). As r/(r + 1) < 1, alpha = (a - 1) k/d - 1 always satisfies the second; it is
// larger than the safe choice a = (alpha + 2) d/k gives, and 4 alpha/(alpha - 4) falls with alpha.

#include <fmt/format.h>

#include <cmath>

#include "assumptions/theorems/examination.h"

namespace residuum {
namespace {

void step_rule_is_that_of_the_theorem(Examination& exam, double shift, double convexity) {
  const RunFacts& facts = exam.method();
  exam.precondition("step rule 8/(μ(a + t))",
                    facts.step.shift.has_value(),
                    "step rule is " + facts.names.step_rule);
  const char* first_step = "the first step is 8/(μa)";
  exam.ask(first_step);
  const double eta = exam.evidence().step_size().value.value_or(std::nan(""));
  const double ratio = eta * convexity * shift / 8;
  if (!std::isnan(ratio)) {
    exam.precondition(
        first_step, std::abs(ratio - 1) < 1e-9, fmt::format("it is {:.6g} times that", ratio));
  }
}

/// S_T = sum of (a + t)^2 over t < T = T (2T^2 + 6aT - 3T + 6a^2 - 6a + 1)/6.
double weight_sum(double iterations, double shift) {
  const double t = iterations;
  const double a = shift;
  return t * (2 * t * t + 6 * a * t - 3 * t + 6 * a * a - 6 * a + 1) / 6;
}

}  // namespace

Bound mem_sgd(const Evidence& evidence) {
  Examination exam(evidence, Left::averaged_model);
  const RunFacts& facts = evidence.method();
  exam.plain_synchronous_steps();
  exam.error_feedback_of_whole_messages();
  exam.convex_objective();
  exam.precondition("the sparsifier keeps the share k/d of every accumulator, in expectation",
                    facts.k && facts.sparsifier.contraction &&
                        *facts.sparsifier.contraction >= *facts.k / facts.dimension * (1 - 1e-12),
                    "sparsifier is " + facts.names.sparsifier);
  const double convexity = exam.need(evidence.strong_convexity());
  exam.precondition("μ > 0", !(convexity <= 0), fmt::format("μ = {:.6g}", convexity));
  const double smoothness = exam.need(evidence.smoothness());
  const double distance = exam.need(evidence.initial_distance_sq());
  const double moment = exam.need(evidence.worker_second_moment());
  const double a =
      exam.need(facts.step.shift ? Constant{"a", facts.step.shift, "exact: shift of the step rule"}
                                 : Constant{"a", std::nullopt, "the step rule has no shift"});
  step_rule_is_that_of_the_theorem(exam, a, convexity);
  const double ratio = facts.dimension / facts.k.value_or(facts.dimension);
  const double alpha = (a - 1) / ratio - 1;
  const char* shift_is_large = "(α + 1) d/k + 1 ≤ a with α > 4";
  exam.ask(shift_is_large);
  if (!std::isnan(alpha)) {
    exam.precondition(shift_is_large, alpha > 4, fmt::format("α = {:.4g}", alpha));
  }
  exam.rates_are_of_one_over_t();
  const double memory = 4 * alpha / (alpha - 4) * ratio * ratio * moment;
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    // The average of row t is over w_0 .. w_t.
    const double t = static_cast<double>(now.iterations) + 1;
    const double weights = weight_sum(t, a);
    return std::vector<BoundTerm>{
        {Attribution::noise,
         "4T(T + 2a)G²/(μS)",
         4 * t * (t + 2 * a) * moment / (convexity * weights),
         false},
        {Attribution::optimisation,
         "μa³‖w_0 − x*‖²/(8S)",
         convexity * a * a * a * distance / (8 * weights),
         true},
        {Attribution::residual,
         "64T(1 + 2L/μ)(4α/(α − 4))(d/k)²G²/(μS)",
         64 * t * (1 + 2 * smoothness / convexity) * memory / (convexity * weights),
         true}};
  });
}

}  // namespace residuum
