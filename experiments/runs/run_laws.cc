#include "experiments/runs/run_laws.h"

#include <algorithm>

#include "reports/tables/result_folder.h"

namespace residuum {
namespace {

using reports::Json;
using reports::json_number;

bool holds_gradients(const Method& method) { return method.feedback->units() == Units::gradient; }

/// Returns the weakest law of all stages, at the step size that the sparsifier sees, with what the
/// quantiser adds.
SparsifierLaw sparsifier_law(const PreparedRun& run) {
  const Method& method = *run.method;
  const std::size_t d = run.objective->dimension();
  const double seen_step = holds_gradients(method) ? 1.0 : method.step_rule->at(0, 0);
  SparsifierLaw law = method.message_law(*method.sparsifier, d, seen_step);
  for (const auto& stage : method.stages) {
    law = weaker_of(law, method.message_law(*stage.sparsifier, d, seen_step));
  }
  return law;
}

/// Returns the threshold on step-multiplied accumulators; a threshold on gradients is eta times as
/// large there.
std::optional<double> step_threshold(const SparsifierLaw& law, const Method& method) {
  const auto step = method.step_rule->constant();
  if (!law.threshold || !step) {
    return std::nullopt;
  }
  return holds_gradients(method) ? *step * *law.threshold : *law.threshold;
}

Json sparsifier_json(const PreparedRun& run) {
  const Method& method = *run.method;
  const SparsifierLaw law = sparsifier_law(run);
  Json json{{"contraction", json_number(law.contraction)},
            {"exact", law.exact},
            {"pathwise", law.pathwise},
            {"deterministic", law.deterministic},
            {"keeps_largest", law.keeps_largest},
            {"shares_support", law.shares_support},
            {"unbiased", law.unbiased},
            {"threshold", json_number(step_threshold(law, method))},
            {"threshold_follows_step",
             law.threshold && (holds_gradients(method) || law.threshold_scales)},
            {"sends_everything", sends_everything(run)},
            {"by_layer", !method.sparsifier->segments().empty()},
            {"scheduled", !method.stages.empty()}};
  if (law.claimed) {
    json["claimed"] = true;
  }
  return json;
}

/// Tells the law for as many values as a worker sends at most.
Json quantiser_json(const PreparedRun& run) {
  const std::size_t d = run.objective->dimension();
  const std::size_t values = std::max<std::size_t>(1, run.method->sparsifier->k(d).value_or(d));
  const QuantiserLaw law = run.method->quantiser->law(values);
  return {{"contraction", json_number(law.contraction)},
          {"variance", json_number(law.variance)},
          {"random", law.random},
          {"bits", law.bits}};
}

Json aggregator_json(const AggregatorLaw& law) {
  return {{"applies_whole_messages", law.applies_whole_messages},
          {"cuts_in_merges", law.cuts_in_merges},
          {"is_sparse", law.is_sparse},
          {"completes_support", law.completes_support},
          {"selects_largest", law.selects_largest},
          {"weighs_messages", law.weighs_messages},
          {"approximates_sum", law.approximates_sum}};
}

Json feedback_json(const Method& method) {
  const Feedback& feedback = *method.feedback;
  const char* memory = feedback.controls_error() ? "control"
                       : feedback.estimates()    ? "estimate"
                       : feedback.has_velocity() ? "velocity"
                                                 : "residual";
  return {{"memory", memory},
          {"units", holds_gradients(method) ? "gradient" : "step"},
          {"gain", feedback.gain()},
          {"averaging", json_number(feedback.averaging())}};
}

/// Runs in which all workers take part have no `participants`, as before there were others. No
/// matrix mixes models whose differences are compressed: then there is no spectral gap.
Json protocol_json(ProtocolLaw law, bool arrives_whole) {
  if (!arrives_whole) {
    law.spectral_gap.reset();
  }
  Json json{{"synchrony", name_of(law.synchrony)},
            {"local_steps", law.local_steps},
            {"staleness", json_number(law.staleness)},
            {"contributions", json_number(law.contributions)},
            {"contributions_weigh_alike", law.contributions_weigh_alike},
            {"spectral_gap", json_number(law.spectral_gap)}};
  if (law.participants) {
    json["participants"] = *law.participants;
  }
  return json;
}

}  // namespace

bool sends_everything(const PreparedRun& run) {
  return sparsifier_law(run).contraction == 1.0;  // E|a - C(a)|^2 <= 0
}

Json laws_json(const PreparedRun& run) {
  Json laws{{"sparsifier", sparsifier_json(run)},
            {"aggregator", aggregator_json(run.method->aggregator->law())},
            {"feedback", feedback_json(*run.method)},
            {"protocol", protocol_json(law_of(run), sends_everything(run))}};
  if (run.method->optimiser != nullptr) {
    laws["local"] = {{"has_optimiser", true}};
  }
  if (run.method->update_rule == UpdateRule::signs) {
    laws["update"] = {{"takes_signs", true}};
  }
  if (run.method->quantiser != nullptr) {
    laws["quantiser"] = quantiser_json(run);
  }
  return laws;
}

}  // namespace residuum
