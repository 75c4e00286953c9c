#include "reports/verdicts/evidence.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "reports/verdicts/remarks.h"

namespace residuum::reports {
namespace {

// This is 2^53: what a foreign file says beyond it is no number of iterations.
constexpr double kMostIterations = 9007199254740992.0;

std::optional<Known> known_at(const Json& object, std::string_view path, const char* origin) {
  const auto value = number_at(object, path);
  if (!value || !std::isfinite(*value)) {
    return std::nullopt;
  }
  return Known{.value = *value, .origin = origin};
}

/// Returns the text at a path, or the program's default where there is none.
std::string word_at(const Json& config, std::string_view path, std::string_view fallback) {
  const std::string word = text_at(config, path);
  return word.empty() ? std::string(fallback) : word;
}

bool is_one_of(const std::string& word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void add_laws(MethodFacts& facts, const Json& laws) {
  facts.contraction = number_at(laws, "sparsifier.contraction");
  facts.selects_at_random = !flag_at(laws, "sparsifier.deterministic", false);
  facts.density_varies = flag_at(laws, "sparsifier.scheduled", false);
  facts.contraction_is_exact = flag_at(laws, "sparsifier.exact", false);
  facts.keeps_largest = flag_at(laws, "sparsifier.keeps_largest", false);
  facts.shares_support = flag_at(laws, "sparsifier.shares_support", false);
  facts.law_is_claimed = flag_at(laws, "sparsifier.claimed", false);
  facts.sends_everything = flag_at(laws, "sparsifier.sends_everything", false);
  facts.applies_whole_messages = flag_at(laws, "aggregator.applies_whole_messages", false);
  facts.weighs_messages = flag_at(laws, "aggregator.weighs_messages", false);
  facts.approximates_sum = flag_at(laws, "aggregator.approximates_sum", false);
  facts.cuts_in_merges = flag_at(laws, "aggregator.cuts_in_merges", false);
  facts.completes_support = flag_at(laws, "aggregator.completes_support", false);
  facts.selects_largest = flag_at(laws, "aggregator.selects_largest", false);
  facts.in_gradient_units = text_at(laws, "feedback.units") == "gradient";
  const std::string memory = text_at(laws, "feedback.memory");
  if (memory == "estimate") {
    facts.memory = Memory::estimate;
  } else if (memory == "velocity") {
    facts.memory = Memory::velocity;
  } else if (memory == "control") {
    facts.memory = Memory::control;
  }
  facts.averaging = number_at(laws, "feedback.averaging");
  facts.synchrony = synchrony_of(text_at(laws, "protocol.synchrony")).value_or(Synchrony::lockstep);
  facts.local_steps = number_at(laws, "protocol.local_steps");
  facts.staleness = number_at(laws, "protocol.staleness");
  facts.contributions = number_at(laws, "protocol.contributions");
  facts.contributions_weigh_alike = flag_at(laws, "protocol.contributions_weigh_alike", true);
  facts.spectral_gap = number_at(laws, "protocol.spectral_gap");
  facts.participants = number_at(laws, "protocol.participants");
  facts.threshold = number_at(laws, "sparsifier.threshold");
  facts.threshold_follows_step = flag_at(laws, "sparsifier.threshold_follows_step", false);
  facts.has_optimisers = flag_at(laws, "local.has_optimiser", false);
  facts.takes_signs = flag_at(laws, "update.takes_signs", false);
}

/// Adds the method's laws as the run wrote them.
void add_method_facts(MethodFacts& facts, const Json& config, const Json& status) {
  const Json& laws = value_at(status, "laws");
  add_laws(facts, laws);
  facts.weight_decay = number_at(config, "step.weight_decay").value_or(0);
  facts.outer_step = number_at(config, "outer.step").value_or(1);
  if (!facts.takes_signs) {
    facts.effective_decay =
        facts.weight_decay / (number_at(laws, "feedback.gain").value_or(1) * facts.outer_step);
  }
  facts.conserves = flag_at(status, "conserves", true);
  const auto k = number_at(status, "k");
  if (k && *k >= 1 && *k <= facts.dimension) {
    facts.k = k;
  }
}

void add_step_facts(MethodFacts& facts, const Json& config) {
  const std::string rule = word_at(config, "step.rule", "constant");
  const bool warms_up = number_at(config, "step.warmup").value_or(0) > 0;
  facts.step_rule = rule + (warms_up ? " with warm-up" : "");
  facts.steps_are_constant = rule == "constant" && !warms_up;
  const double factor = number_at(config, "step.factor").value_or(0);
  const bool falls = is_one_of(rule, {"constant", "inv-sqrt", "inv-time", "milestones", "cosine"});
  facts.steps_may_grow = !falls || warms_up || (rule == "milestones" && factor > 1);
  // The rule's default is a multiple of d/k that config.json gives as it was written.
  if (warms_up) {
    return;
  }
  facts.step_shift = number_at(config, "step.shift");
  const std::string shift = text_at(config, "step.shift");
  if (!facts.step_shift && shift.ends_with("d/k") && facts.k) {
    const double times = shift == "d/k" ? 1 : std::strtod(shift.c_str(), nullptr);
    facts.step_shift = times * facts.dimension / *facts.k;
  }
}

void add_practice_facts(MethodFacts& facts, const Json& config) {
  const bool before = facts.memory == Memory::velocity;
  facts.momentum = number_at(config, before ? "feedback.momentum" : "step.momentum").value_or(0);
  if (const auto outer = number_at(config, "outer.momentum")) {
    facts.momentum = *outer;
  }
  if (number_at(config, "step.clip_norm").value_or(0) > 0) {
    facts.clipped = word_at(config, "step.clip_at", "worker");
  }
}

void add_gradient_facts(MethodFacts& facts, const Json& config, const Json& status) {
  const auto variance = known_at(status, "facts.noise_variance", "exact: of the objective");
  const bool full_batch = text_at(config, "workers.batch") == "full";
  facts.full_gradients = full_batch || (variance && variance->value == 0);
  facts.noise_variance =
      facts.full_gradients ? Known{.value = 0, .origin = "exact: full gradients"} : variance;
  facts.sampling = word_at(config, "workers.sampling", "replacement");
  facts.independent_draws = facts.sampling == "replacement";
  facts.gradient_bias = text_at(status, "facts.gradient_bias");
  // Only an objective without data has this key; shards of data always differ.
  facts.workers_are_alike = number_at(config, "objective.heterogeneity") == 0.0;
  // Differences are those of grad f on the samples that f is evaluated on.
  const auto samples = number_at(status, "facts.samples");
  const auto whole = [&](std::string_view path) {
    const auto looked_at = number_at(status, path);
    return !samples || !looked_at || *looked_at >= *samples;
  };
  facts.differences_are_of_f = whole("facts.evaluated_samples");
  facts.curvature_is_of_f = facts.differences_are_of_f && whole("facts.power_samples");
}

void add_objective_facts(MethodFacts& facts, const Json& config, const Json& status) {
  facts.smoothness = known_at(status, "facts.smoothness", "exact: of the objective");
  facts.worker_smoothness =
      known_at(status, "facts.worker_smoothness", "exact: of the workers' objectives");
  facts.largest_worker_smoothness =
      known_at(status, "facts.worker_smoothness_max", "exact: of the workers' objectives");
  facts.mean_worker_smoothness =
      known_at(status, "facts.worker_smoothness_mean", "exact: of the workers' objectives");
  facts.strong_convexity = known_at(status, "facts.strong_convexity", "exact: of the objective");
  facts.minimum = known_at(status, "facts.minimum", "f* known");
  facts.initial_distance_sq = known_at(status, "facts.initial_distance_sq", "exact: x* is known");
  const bool starts_alike = !flag_at(status, "facts.starts_from_seed", true);
  const Json& convex = value_at(status, "facts.convex");
  facts.convex = convex.is_boolean() ? std::optional<bool>(convex.get<bool>()) : std::nullopt;
  facts.lower_bound = known_at(status, "facts.lower_bound", "a bound that f is never below");
  const Json& partition = value_at(config, "workers.partition_seed");
  const bool divides_alike = !partition.is_string();
  // Which gradients are late, and by how much, may be drawn.
  const bool times_alike = facts.synchrony != Synchrony::late;
  const bool draws = !facts.full_gradients && flag_at(status, "facts.gradients_from_seed", true);
  facts.deterministic = !draws && starts_alike && divides_alike && times_alike &&
                        !facts.selects_at_random && !facts.participants;
}

/// Returns the facts that all of the runs have; none are told of where there is no run.
MethodFacts facts_of_all(const std::vector<const Run*>& runs) {
  MethodFacts facts;
  for (const Run* run : runs) {
    const MethodFacts one = method_facts(*run);
    facts = run == runs.front() ? one : weaker_of(facts, one);
  }
  return facts;
}

}  // namespace

MethodFacts method_facts(const Run& run) {
  const Json& config = value_at(run.config, "config");
  MethodFacts facts;
  facts.sparsifier = word_at(config, "sparsifier.kind", "none");
  if (const std::string quantiser = text_at(config, "quantiser.kind"); !quantiser.empty()) {
    facts.sparsifier += " with values by " + quantiser;
  }
  facts.aggregator = word_at(config, "aggregator.kind", "dense");
  facts.feedback = word_at(config, "feedback.kind", "ef14");
  facts.protocol = word_at(config, "protocol.kind", "bsp");
  facts.workers = std::max(1.0, number_at(config, "workers.count").value_or(1));
  facts.dimension = std::max(1.0, number_at(run.status, "dimension").value_or(1));
  add_method_facts(facts, config, run.status);
  if (facts.law_is_claimed) {
    facts.sparsifier += ", as claimed by the study";
  }
  add_step_facts(facts, config);
  add_practice_facts(facts, config);
  add_gradient_facts(facts, config, run.status);
  add_objective_facts(facts, config, run.status);
  return facts;
}

std::vector<std::uint64_t> run_lengths(const ResultFolder& folder) {
  std::vector<std::uint64_t> lengths(folder.runs.size(), 1);
  for (const auto& group : group_runs(folder)) {
    double longest = 1;
    for (const std::size_t i : group.runs) {
      const double done = number_at(folder.runs[i].status, "iterations").value_or(1);
      longest = done > longest ? std::min(done, kMostIterations) : longest;
    }
    for (const std::size_t i : group.runs) {
      lengths[i] = static_cast<std::uint64_t>(longest);
    }
  }
  return lengths;
}

Evidence evidence_of(const ResultFolder& folder,
                     const Group& group,
                     const std::vector<RunMeasures>& measures) {
  std::vector<SeedEvidence> seeds;
  std::vector<const Run*> runs;
  std::size_t missed = 0;
  std::size_t silent = 0;
  for (const std::size_t i : group.runs) {
    const Run& run = folder.runs[i];
    if (!run.has_tables() || !measures[i].evidence) {
      missed += run.state == "failed" || run.state == "interrupted" ? 1 : 0;
      continue;
    }
    runs.push_back(&run);
    silent += silent_workers(run) > 0 ? 1 : 0;
    seeds.push_back(*measures[i].evidence);
    const auto done = number_at(run.status, "iterations");
    if (run.state == "diverged" && done && *done >= 0) {
      seeds.back().end_early(static_cast<std::uint64_t>(std::min(*done, kMostIterations)));
    }
  }
  Evidence evidence(facts_of_all(runs));
  for (auto& seed : seeds) {
    evidence.add(std::move(seed));
  }
  evidence.miss(missed);
  evidence.note_silence(silent);
  return evidence;
}

}  // namespace residuum::reports
