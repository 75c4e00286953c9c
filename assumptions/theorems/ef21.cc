// EF21 (Richtarik, Sokolov, Fatkhullin, NeurIPS 2021): x' = x - eta g, g_p' = g_p + C(grad f_p(x')
// - g_p), full gradients. theta = 1 - sqrt(1 - alpha), beta = (1 - alpha)/theta with alpha = k/d,
// and sqrt(beta/theta) = sqrt(1 - alpha)/theta.

#include <fmt/format.h>

#include <cmath>

#include "assumptions/theorems/examination.h"

namespace residuum {

Bound ef21(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  const MethodFacts& facts = evidence.method();
  exam.lockstep_with_plain_updates();
  exam.constant_step();
  exam.precondition("workers exchange changes of gradient estimates",
                    facts.memory == Memory::estimate,
                    fmt::format("{} is {}", facts.feedback, memory_text(facts.memory)));
  exam.whole_messages_are_applied();
  exam.precondition(
      "full gradients",
      facts.full_gradients,
      facts.full_gradients ? "gradients are full" : "gradients are drawn from batches");
  exam.precondition("the sparsifier keeps a share of every accumulator",
                    facts.promised_share.has_value(),
                    "sparsifier is " + facts.sparsifier);
  const double smoothness = exam.need(evidence.smoothness());
  const double worker_smoothness =
      exam.need(facts.worker_smoothness
                    ? Constant{"L̃", facts.worker_smoothness->value, facts.worker_smoothness->origin}
                    : Constant{"L̃", std::nullopt, "not known: the workers' own smoothness"});
  const double gap = exam.need(evidence.initial_gap());
  const double distortion = exam.need(evidence.initial_distortion());
  const double alpha =
      exam.need({"α", facts.promised_share, "exact: the share that the sparsifier keeps"});
  const double rest = std::sqrt(1 - alpha);
  const double theta = 1 - rest;
  exam.step_at_most(1 / (smoothness + worker_smoothness * rest / theta), "1/(L + L̃√(β/θ))");
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    return std::vector<BoundTerm>{
        {Attribution::optimisation, "2Δ/(ηT)", 2 * gap / *now.step_sum, false},
        {Attribution::compression,
         "G⁰/(θT)",
         distortion / (theta * static_cast<double>(now.iterations)),
         false}};
  });
}

}  // namespace residuum
