#include "experiments/program/runs/run_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/measurement/evaluations.h"
#include "core/vectors/dense.h"
#include "experiments/program/study/worker_smoothness.h"

namespace residuum {
namespace {

bool holds_gradients(const Method& method) { return method.feedback->units() == Units::gradient; }

std::optional<Known> known(const std::optional<double>& value) {
  return value ? std::optional(Known{.value = *value, .origin = {}}) : std::nullopt;
}

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

void add_sparsifier(const PreparedRun& run, RunFacts& facts) {
  const Method& method = *run.method;
  const SparsifierLaw law = sparsifier_law(run);
  const auto k = method.sparsifier->k(run.objective->dimension());
  facts.k = k ? std::optional(static_cast<double>(*k)) : std::nullopt;
  facts.sends_everything = sends_everything(run);
  facts.contraction = law.contraction;
  facts.contraction_is_exact = law.exact;
  facts.contraction_is_pathwise = law.pathwise;
  facts.keeps_largest = law.keeps_largest;
  facts.shares_support = law.shares_support;
  facts.is_unbiased = law.unbiased;
  facts.selects_at_random = !law.deterministic;
  facts.selects_by_layer = !method.sparsifier->segments().empty();
  facts.density_varies = !method.stages.empty();
  facts.threshold = step_threshold(law, method);
  facts.threshold_follows_step = law.threshold && (holds_gradients(method) || law.threshold_scales);
  facts.law_is_claimed = law.claimed;
}

/// Adds the law for as many values as a worker sends at most.
void add_quantiser(const PreparedRun& run, RunFacts& facts) {
  if (run.method->quantiser == nullptr) {
    return;
  }
  const std::size_t d = run.objective->dimension();
  const std::size_t values = std::max<std::size_t>(1, run.method->sparsifier->k(d).value_or(d));
  const QuantiserLaw law = run.method->quantiser->law(values);
  facts.quantiser_contraction = law.contraction;
  facts.quantiser_variance = law.variance;
  facts.quantiser_bits = law.bits;
  facts.quantiser_draws = law.random;
}

void add_exchange(const PreparedRun& run, RunFacts& facts) {
  const AggregatorLaw law = run.method->aggregator->law();
  facts.applies_whole_messages = law.applies_whole_messages;
  facts.weighs_messages = law.weighs_messages;
  facts.approximates_sum = law.approximates_sum;
  facts.cuts_in_merges = law.cuts_in_merges;
  facts.is_sparse = law.is_sparse;
  facts.completes_support = law.completes_support;
  facts.selects_largest = law.selects_largest;
  if (law.shifts_model) {
    const std::size_t d = run.objective->dimension();
    facts.shift_contraction =
        static_cast<double>(run.method->aggregator->shift_entries(d)) / static_cast<double>(d);
  }
  const Feedback& feedback = *run.method->feedback;
  facts.memory = feedback.controls_error() ? Memory::control
                 : feedback.estimates()    ? Memory::estimate
                 : feedback.has_velocity() ? Memory::velocity
                                           : Memory::residual;
  facts.averaging = feedback.averaging();
  facts.error_weight = feedback.error_weight();
  facts.conserves = known_losses(run).empty();
  facts.in_gradient_units = holds_gradients(*run.method);
}

std::optional<double> number_of(const std::optional<std::uint64_t>& count) {
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

/// No matrix mixes models whose differences are compressed: then there is no spectral gap.
void add_protocol(const PreparedRun& run, RunFacts& facts) {
  const ProtocolLaw law = law_of(run);
  facts.synchrony = law.synchrony;
  facts.local_steps = static_cast<double>(law.local_steps);
  facts.staleness = number_of(law.staleness);
  facts.contributions = number_of(law.contributions);
  facts.contributions_weigh_alike = law.contributions_weigh_alike;
  facts.in_rounds = law.in_rounds;
  facts.spectral_gap = facts.sends_everything ? law.spectral_gap : std::nullopt;
  facts.participants = number_of(law.participants);
}

void add_update(const Method& method, RunFacts& facts) {
  const StepLaw law = method.step_rule->law();
  facts.has_optimisers = method.optimiser != nullptr;
  facts.steps_are_constant = method.step_rule->constant().has_value();
  facts.steps_may_grow = law.may_grow;
  facts.step_shift = law.shift;
  facts.momentum = facts.memory == Memory::velocity ? method.feedback->momentum() : method.momentum;
  facts.outer_step = method.outer_step;
  facts.takes_signs = method.update_rule == UpdateRule::signs;
  facts.direction =
      method.update_rule == UpdateRule::orthogonal ? "the polar factors of its layers" : "";
  facts.weight_decay = method.weight_decay;
  facts.effective_decay = method.effective_decay();
  facts.clipped = method.clip == Clip::none     ? "nothing"
                  : method.clip == Clip::worker ? "worker"
                                                : "update";
}

/// Tells why the expectation of gradients is not grad f of the f that is evaluated: the objective's
/// reasons and those of how the run draws and treats gradients. Empty: it is.
std::string gradient_bias(const Facts& facts, const Training& training) {
  std::vector<std::string> reasons;
  if (!facts.gradient_bias.empty()) {
    reasons.push_back(facts.gradient_bias);
  }
  if (training.sampling == Sampling::shuffle && training.batch > 0) {
    reasons.emplace_back("a pass is shuffled: its batches depend on those before");
  }
  if (training.method->clip == Clip::worker) {
    reasons.emplace_back("workers' gradients are clipped");
  }
  return fmt::to_string(fmt::join(reasons, "; "));
}

/// Adds how many samples there are, and how many f and the power iteration for L look at.
/// Differences of gradients are those of grad f on the samples that f is evaluated on.
void add_evaluation(const PreparedRun& run, RunFacts& facts) {
  const std::size_t n = run.objective->samples();
  if (n == 0) {
    return;
  }
  const std::size_t evaluated = run.objective->evaluated().size();
  facts.samples = static_cast<double>(n);
  facts.evaluated_samples = static_cast<double>(evaluated == 0 ? n : evaluated);
  if (run.training.plan.power) {
    facts.power_samples = static_cast<double>(curvature_samples(run.training));
  }
  facts.differences_are_of_f = *facts.evaluated_samples >= *facts.samples;
  facts.curvature_is_of_f =
      facts.differences_are_of_f && facts.power_samples.value_or(*facts.samples) >= *facts.samples;
}

void add_gradients(const PreparedRun& run, const Facts& of_objective, RunFacts& facts) {
  const bool takes_whole_shards = run.objective->samples() > 0 && run.training.batch == 0;
  facts.full_gradients = takes_whole_shards || of_objective.noise_variance == 0.0;
  facts.gradient_bias = gradient_bias(of_objective, run.training);
  facts.workers_are_alike = of_objective.workers_are_alike;
  facts.shares_minimizer = of_objective.shares_minimizer || run.workers == 1;
  facts.independent_draws = run.training.sampling == Sampling::replacement;
  facts.starts_from_seed = of_objective.starts_from_seed;
  facts.gradients_from_seed =
      !run.objective->recorded_steps() && run.objective->source() == nullptr;
  facts.partition_from_seed =
      run.config["workers"].value("partition_seed", nlohmann::json()) == "run";
  // Unless they enter in rounds, which gradients are late, and by how much, may be drawn.
  const bool draws_batches = !facts.full_gradients && facts.gradients_from_seed;
  facts.deterministic = !draws_batches && !facts.starts_from_seed && !facts.partition_from_seed &&
                        (facts.synchrony != Synchrony::late || facts.in_rounds) &&
                        !facts.selects_at_random && !facts.participants;
}

/// Adds the L of EF21's theorems, in which all workers count the same: the root of the mean of
/// L_p^2, and the mean of L_p; and the largest L_p, which bounds the drift of local steps.
void add_worker_smoothness(std::span<const double> of_each, RunFacts& facts) {
  if (of_each.empty()) {
    return;
  }
  double sum = 0;
  double sum_sq = 0;
  double largest = 0;
  for (const double smoothness : of_each) {
    sum += smoothness;
    sum_sq += smoothness * smoothness;
    largest = std::max(largest, smoothness);
  }
  const auto workers = static_cast<double>(of_each.size());
  facts.worker_smoothness = known(std::sqrt(sum_sq / workers));
  facts.mean_worker_smoothness = known(sum / workers);
  facts.largest_worker_smoothness = known(largest);
}

void add_objective(const PreparedRun& run, const Facts& of_objective, RunFacts& facts) {
  facts.convex = of_objective.convex;
  facts.smoothness = known(of_objective.smoothness);
  add_worker_smoothness(run.training.worker_smoothness, facts);
  facts.strong_convexity = known(of_objective.strong_convexity);
  facts.worker_strong_convexity = known(worker_strong_convexity(run));
  facts.minimum = known(of_objective.minimum);
  facts.lower_bound = known(of_objective.lower_bound);
  facts.noise_variance = known(of_objective.noise_variance);
  if (!of_objective.minimizer.empty()) {
    std::vector<double> start(of_objective.minimizer.size());
    run.objective->initial_point(run.seed, start);
    facts.initial_distance_sq = known(distance_sq(start, of_objective.minimizer));
  }
}

}  // namespace

bool sends_everything(const PreparedRun& run) {
  return sparsifier_law(run).contraction == 1.0;  // E|a - C(a)|^2 <= 0
}

std::vector<std::string> known_losses(const PreparedRun& run) {
  if (law_of(run).synchrony == Synchrony::neighbours) {
    return {};
  }
  return run.method->known_losses(sends_everything(run), run.participants());
}

RunFacts run_facts(const PreparedRun& run) {
  const Facts of_objective = run.objective->facts();
  RunFacts facts;
  facts.workers = run.workers;
  facts.dimension = static_cast<double>(run.objective->dimension());
  add_sparsifier(run, facts);
  add_quantiser(run, facts);
  add_exchange(run, facts);
  add_protocol(run, facts);
  add_update(*run.method, facts);
  add_gradients(run, of_objective, facts);
  add_evaluation(run, facts);
  add_objective(run, of_objective, facts);
  return facts;
}

}  // namespace residuum
