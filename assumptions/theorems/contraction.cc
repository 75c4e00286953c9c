// Theorems without bounded gradients, constant step: the noise of an iteration is independent of
// the gap it meets, so that it costs 1/delta and not 1/delta^2 (Stich and Karimireddy).

#include <fmt/format.h>

#include <cmath>

#include "assumptions/theorems/examination.h"

namespace residuum {

/// The mean over workers contracts: eta <= delta/(4L). The leading terms are the smaller ones from
/// T* = (16/3) L Delta P / (delta^2 sigma^2) on, when the step size is tuned to T.
Bound mean_contraction(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  exam.plain_synchronous_steps();
  exam.constant_step();
  const double workers = evidence.method().workers;
  const double smoothness = exam.need(evidence.smoothness());
  const double gap = exam.need(evidence.initial_gap());
  const double variance = exam.need(evidence.noise_variance());
  const double q = exam.gap_contracts_on_average();
  const double delta = 1 - q;
  const double eta = exam.step_at_most(delta / (4 * smoothness), "δ/(4L)");
  if (variance > 0) {
    exam.horizon_is(16.0 / 3 * smoothness * gap * workers / (delta * delta * variance));
  }
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    return std::vector<BoundTerm>{
        {Attribution::optimisation, "8Δ/(ηT)", 8 * gap / *now.step_sum, false},
        {Attribution::noise, "6Lησ²/P", 6 * smoothness * eta * variance / workers, false}};
  });
}

/// Every worker's residual contracts, data differ between workers, noise does not grow (M = 0).
Bound worker_contraction(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  exam.plain_synchronous_steps();
  exam.constant_step();
  exam.error_feedback_of_whole_messages();
  const double workers = evidence.method().workers;
  const double smoothness = exam.need(evidence.smoothness());
  const double gap = exam.need(evidence.initial_gap());
  const double variance = exam.need(evidence.noise_variance());
  const auto [similarity, spread] = exam.need_both(evidence.similarity());
  const double q = exam.residuals_contract();
  const double delta = 1 - q;
  const double eta =
      exam.step_at_most(delta / (4 * smoothness * std::sqrt(1 + similarity)), "δ/(4L√(1 + C))");
  const double square = smoothness * smoothness * eta * eta * q;
  const double hetero = 16 * square * spread / (delta * delta);
  const double residual = 8 * square * variance / delta;
  const double noise = 4 * smoothness * eta * variance / workers;
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    return std::vector<BoundTerm>{
        {Attribution::optimisation, "8Δ/(ηT)", 8 * gap / *now.step_sum, false},
        {Attribution::noise, "4Lησ²/P", noise, false},
        {Attribution::heterogeneity, "16L²(1 − δ)η²ζ²/δ²", hetero, true},
        {Attribution::residual, "8L²(1 − δ)η²σ²/δ", residual, true}};
  });
}

}  // namespace residuum
