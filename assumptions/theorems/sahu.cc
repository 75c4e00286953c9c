// Hard threshold against Top-k (Sahu et al., NeurIPS 2021): E|mean G|^2 <= A |grad f|^2 + B with
// A = 1 + M (1 + C)/P and B = (sigma^2 + M zeta^2)/P. A hard threshold tau on the step-multiplied
// accumulators leaves |e|^2 <= d tau^2 whatever the gradients are; Top-k's residual is Q(q) times
// the second moment of the workers' gradients, and so meets their heterogeneity.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assumptions/estimators/compressor_constants.h"
#include "assumptions/theorems/examination.h"

namespace residuum {
namespace {

/// The convex and the non-convex form differ in these.
struct Form {
  Left left;
  double noise;        // times eta B, and L where non-convex
  double compression;  // times the gap's bound, and L or L^2
  double limit;        // eta <= 1/(limit L A)
};

/// The term of the run's beginning: factor Delta or factor |w_0 - x*|^2, over eta T.
struct Start {
  double value = 0;
  std::string formula;
};

Start need_start(Examination& exam, const Form& form, double factor) {
  if (form.left == Left::gradient) {
    return {factor * exam.need(exam.evidence().initial_gap()), fmt::format("{}Δ/(ηT)", factor)};
  }
  exam.convex_objective();
  return {factor * exam.need(exam.evidence().initial_distance_sq()),
          fmt::format("{}‖w_0 − x*‖²/(ηT)", factor)};
}

/// Returns the factor of the noise: L eta B bounds a gradient, eta B a loss.
double noise_scale(const Form& form, double smoothness) {
  return form.left == Left::gradient ? smoothness : 1;
}

double gap_scale(const Form& form, double smoothness) {
  return form.left == Left::gradient ? smoothness * smoothness : smoothness;
}

std::string letters(const Form& form, std::string_view gradient, std::string_view loss) {
  return std::string(form.left == Left::gradient ? gradient : loss);
}

Bound threshold_bound(const Evidence& evidence, const Form& form, double start_factor) {
  Examination exam(evidence, form.left);
  const RunFacts& facts = evidence.method();
  exam.plain_synchronous_steps();
  exam.constant_step();
  exam.error_feedback_of_whole_messages();
  exam.precondition("what a worker holds back is below a threshold in every entry",
                    facts.sparsifier.threshold.has_value(),
                    "sparsifier is " + facts.names.sparsifier);
  const Start start = need_start(exam, form, start_factor);
  const double smoothness = exam.need(evidence.smoothness());
  const AggregateNoise noise = aggregate_noise(exam);
  const double tau = exam.need({"τ",
                                facts.sparsifier.threshold,
                                facts.sparsifier.threshold_scales ? "exact: the threshold ηλ"
                                                                  : "exact: the fixed threshold"});
  if (!facts.sparsifier.threshold_scales) {
    exam.has_no_horizon();  // dτ² stays as it is when the step size is tuned to a longer run
  }
  const double eta = exam.step_at_most(1 / (form.limit * smoothness * noise.growth),
                                       fmt::format("1/({}LA)", form.limit));
  const double scale = form.noise * noise_scale(form, smoothness) * eta;
  const double left_over = form.compression * gap_scale(form, smoothness) * facts.dimension;
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    const std::string factor = fmt::format("{}", form.noise) + letters(form, "L", "");
    std::vector<BoundTerm> terms{
        {Attribution::optimisation, start.formula, start.value / *now.step_sum, false},
        {Attribution::noise, factor + "ησ²/P", scale * noise.variance, false}};
    add_heterogeneous_noise(terms, factor + "ηMζ²/P", scale * noise.from_heterogeneity);
    terms.push_back({Attribution::residual,
                     fmt::format("{}{}dτ²", form.compression, letters(form, "L²", "L")),
                     left_over * tau * tau,
                     true});
    return terms;
  });
}

Bound top_k_bound(const Evidence& evidence, const Form& form, double start_factor) {
  Examination exam(evidence, form.left);
  const RunFacts& facts = evidence.method();
  exam.plain_synchronous_steps();
  exam.constant_step();
  exam.error_feedback_of_whole_messages();
  exam.precondition("the sparsifier keeps a share of every accumulator, in expectation",
                    facts.sparsifier.contraction.has_value(),
                    "sparsifier is " + facts.names.sparsifier);
  const Start start = need_start(exam, form, start_factor);
  const double smoothness = exam.need(evidence.smoothness());
  const AggregateNoise noise = aggregate_noise(exam, true);
  const double q = exam.residuals_contract();
  const double amplified = q >= 0 ? amplification(q) : q;
  const double growth = std::max(
      noise.growth, std::sqrt(amplified * (1 + noise.noise_growth) * (1 + noise.similarity)));
  const double eta =
      exam.step_at_most(1 / (form.limit * smoothness * growth),
                        fmt::format("1/({0}LA), 1/({0}L√(Q(1 + M)(1 + C)))", form.limit));
  const double scale = form.noise * noise_scale(form, smoothness) * eta;
  const double left_over = form.compression * gap_scale(form, smoothness) * amplified * eta * eta;
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    const std::string factor = fmt::format("{}", form.noise) + letters(form, "L", "");
    const std::string power = fmt::format("{}{}Qη²", form.compression, letters(form, "L²", "L"));
    std::vector<BoundTerm> terms{
        {Attribution::optimisation, start.formula, start.value / *now.step_sum, false},
        {Attribution::noise, factor + "ησ²/P", scale * noise.variance, false}};
    add_heterogeneous_noise(terms, factor + "ηMζ²/P", scale * noise.from_heterogeneity);
    terms.push_back({Attribution::heterogeneity,
                     power + "(1 + M)ζ²",
                     left_over * (1 + noise.noise_growth) * noise.spread,
                     true});
    terms.push_back(
        {Attribution::compression, power + "σ²", left_over * noise.worker_variance, true});
    return terms;
  });
}

}  // namespace

Bound hard_threshold(const Evidence& evidence) {
  return threshold_bound(evidence, {Left::gradient, 2, 2, 2}, 4);
}

Bound hard_threshold_convex(const Evidence& evidence) {
  return threshold_bound(evidence, {Left::loss_gap, 2, 4, 4}, 2);
}

Bound top_k(const Evidence& evidence) {
  return top_k_bound(evidence, {Left::gradient, 4, 4, 2}, 8);
}

Bound top_k_convex(const Evidence& evidence) {
  return top_k_bound(evidence, {Left::loss_gap, 4, 8, 4}, 4);
}

}  // namespace residuum
