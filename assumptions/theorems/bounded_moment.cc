// Theorems that assume E|mean G|^2 <= M^2. They bound the gap e = w - z by its contraction
// E|e_{t+1}|^2 <= q E|e_t + eta_t mean G_t|^2 and put it into the certificate's inequality.
//
// With steps that do not increase, R_{t+1} = sqrt q (R_t + eta_t) has by Cauchy and Schwarz
//   R_t^2 <= (sqrt q / (1 - sqrt q)) sum_{i<t} (sqrt q)^{t-i} eta_i^2,
// and eta_t <= eta_i there, so sum_t eta_t R_t^2 <= Q(q) sum_t eta_t^3: one formula for constant
// and for falling steps. Falling steps need the contraction of every iteration. A constant step
// needs it of the sums alone: with sum_{t<T} E|e_{t+1}|^2 <= q sum_{t<T} E|e_t + eta mean G_t|^2
// Minkowski's inequality in the space of sequences gives sqrt S <= sqrt q (sqrt S + eta sqrt(T)
// M), S = sum_{t<T} E|e_t|^2, hence S <= Q(q) eta^2 T M^2. Sums over iterations without a row take
// the step size before them, which is not below the true one.

#include <fmt/format.h>

#include <cmath>

#include "assumptions/estimators/compressor_constants.h"
#include "assumptions/theorems/examination.h"

namespace residuum {
namespace {

struct MomentConstants {
  double smoothness = 0;
  double gap = 0;     // Delta
  double moment = 0;  // M^2
};

MomentConstants need_moment(Examination& exam) {
  const Evidence& evidence = exam.evidence();
  MomentConstants constants;
  constants.smoothness = exam.need(evidence.smoothness());
  constants.gap = exam.need(evidence.initial_gap());
  constants.moment = exam.need(evidence.second_moment());
  return constants;
}

/// [2 Delta + L M^2 sum eta^2 + L^2 amplification M^2 sum eta^3] / sum eta.
Examination::Terms falling_step_terms(const MomentConstants& constants,
                                      double amplified,
                                      const std::string& formula) {
  return [=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum || !now.step_sq_sum || !now.step_cube_sum) {
      return std::nullopt;
    }
    const double steps = *now.step_sum;
    const double noise = constants.smoothness * constants.moment;
    return std::vector<BoundTerm>{
        {Attribution::optimisation, "2Δ/Ση", 2 * constants.gap / steps, false},
        {Attribution::noise, "L M² Ση²/Ση", noise * *now.step_sq_sum / steps, false},
        {Attribution::residual,
         formula,
         constants.smoothness * noise * amplified * *now.step_cube_sum / steps,
         true}};
  };
}

/// scale (2 Delta/(eta T) + L eta M^2) + L^2 amplified eta^2 M^2.
Examination::Terms constant_step_terms(const MomentConstants& constants,
                                       double scale,
                                       double amplified,
                                       const std::string& prefix,
                                       const std::string& formula) {
  return [=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    const double eta = *now.step_sum / static_cast<double>(now.iterations);
    const double noise = constants.smoothness * eta * constants.moment;
    return std::vector<BoundTerm>{
        {Attribution::optimisation,
         prefix == "2" ? "4Δ/(ηT)" : "2Δ/(ηT)",
         scale * 2 * constants.gap / *now.step_sum,
         false},
        {Attribution::noise, prefix + "LηM²", scale * noise, false},
        {Attribution::residual, formula, constants.smoothness * eta * noise * amplified, true}};
  };
}

}  // namespace

Bound bounded_moment(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  exam.plain_synchronous_steps();
  exam.steps_do_not_increase();
  const MomentConstants constants = need_moment(exam);
  const double q = evidence.method().step.constant ? exam.gap_contracts_on_average()
                                                   : exam.gap_contracts_in_every_iteration();
  const double amplified = q >= 0 ? amplification(q) : q;
  return exam.finish(falling_step_terms(constants, amplified, "L² Q(q) M² Ση³/Ση"));
}

namespace {

/// The paper assumes delta <= 1 of every iteration. For a selection that draws, the assumption is
/// about the expectation, of which single draws say nothing; where the law gives the expectation it
/// is 1.
void gtopk_assumption_in_every_iteration(Examination& exam) {
  constexpr double kRounding = 1e-12;
  const char* statement = "δ ≤ 1 in every iteration, the gTop-k assumption";
  const Evidence& evidence = exam.evidence();
  const RunFacts& facts = evidence.method();
  exam.ask(statement);
  if (facts.loses_as_random() && facts.sparsifier.shares_support) {
    exam.precondition(
        statement, true, "δ = 1 in expectation, by the law of " + facts.names.sparsifier);
    return;
  }
  const double delta = exam.need(evidence.selection_ratio());
  if (std::isnan(delta)) {
    return;  // the constant is named among the missing ones
  }
  if (!facts.sparsifier.deterministic) {
    exam.precondition(statement,
                      PreconditionState::no_violation_seen,
                      "the selection is random, and single draws are no expectation");
    return;
  }
  const bool everywhere = evidence.measured_everywhere(&SeedMeasures::single_selection);
  const auto below = everywhere ? PreconditionState::met : PreconditionState::no_violation_seen;
  exam.precondition(
      statement,
      delta <= 1 + kRounding ? below : PreconditionState::not_met,
      fmt::format(
          "largest δ = {:.6g}{}", delta, everywhere ? "" : ", not every iteration was measured"));
}

}  // namespace

/// The bound takes the compression ratio c = d/k and not the measured one, because the paper's
/// assumption is about d/k.
Bound ijcai(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  const RunFacts& facts = evidence.method();
  exam.plain_synchronous_steps();
  exam.constant_step();
  exam.error_feedback();
  exam.precondition("workers send k of d entries",
                    facts.k.value_or(facts.dimension) < facts.dimension,
                    "sparsifier is " + facts.names.sparsifier);
  const MomentConstants constants = need_moment(exam);
  const double compression =
      exam.need({"c", facts.dimension / facts.k.value_or(facts.dimension), "exact: d/k"});
  gtopk_assumption_in_every_iteration(exam);
  return exam.finish(constant_step_terms(
      constants, 2, 4 * ijcai_amplification(compression), "2", "4L²η²M²(c³ − c)"));
}

Bound karimireddy(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  exam.plain_synchronous_steps();
  exam.constant_step();
  const MomentConstants constants = need_moment(exam);
  const double q = exam.gap_contracts_on_average();
  return exam.finish(constant_step_terms(
      constants, 1, amplification_ceiling(1 / (1 - q)), "", "4L²η²M²q/(1 − q)²"));
}

/// The gap of Top-k messages that are all applied obeys |e_t| <= (gamma + xi) sum_{i>=1}
/// gamma^{i-1} |z_{t-i+1} - z_{t-i}|. The argument for falling steps is the same, with gamma for
/// sqrt q.
Bound alistarh(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  const RunFacts& facts = evidence.method();
  exam.plain_synchronous_steps();
  exam.steps_do_not_increase();
  exam.error_feedback_of_whole_messages();
  exam.largest_entries_are_sent();
  const MomentConstants constants = need_moment(exam);
  const double xi = exam.need(evidence.xi());
  const double gamma = std::sqrt(1 - facts.k.value_or(facts.dimension) / facts.dimension);
  const double factor = (gamma + xi) / (1 - gamma);
  return exam.finish(
      falling_step_terms(constants, factor * factor, "L² ((γ + ξ)/(1 − γ))² M² Ση³/Ση"));
}

}  // namespace residuum
