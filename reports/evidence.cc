#include "reports/evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

namespace residuum::reports {
namespace {

std::optional<Known> known_at(const Json& object, std::string_view path, const char* origin) {
  const auto value = number_at(object, path);
  if (!value || !std::isfinite(*value)) {
    return std::nullopt;
  }
  return Known{.value = *value, .origin = origin};
}

/// The text at a path, or what the program takes where it says nothing.
std::string word_at(const Json& config, std::string_view path, std::string_view fallback) {
  const std::string word = text_at(config, path);
  return word.empty() ? std::string(fallback) : word;
}

/// The threshold of the messages as it acts on step-multiplied accumulators, at constant step: a
/// threshold on gradients is eta times as large there.
std::optional<double> threshold_of(const Json& config, const Json& status, double step) {
  const auto found = number_at(status, "threshold");
  auto threshold = found ? found : number_at(config, "sparsifier.threshold");
  const auto k = number_at(config, "sparsifier.k");
  if (!threshold && k && *k > 0) {
    threshold = 1 / (2 * std::sqrt(*k));
  }
  if (!threshold) {
    return std::nullopt;
  }
  const bool eta_scaled = text_at(config, "sparsifier.rule") == "eta-scaled";
  const bool on_gradients = text_at(config, "feedback.units") == "gradient";
  return *threshold * (eta_scaled ? step : 1) * (on_gradients ? step : 1);
}

/// Losses that are sums of logarithms of probabilities and a regulariser.
bool is_never_negative(const std::string& objective) {
  constexpr std::array<std::string_view, 8> kKinds{
      "logistic", "nonconvex-logistic", "mlp", "lenet", "resnet20", "vgg16", "alexnet", "lstm"};
  return std::find(kKinds.begin(), kKinds.end(), objective) != kKinds.end();
}

void add_practice_facts(MethodFacts& facts, const Json& config) {
  const char* momentum = facts.feedback == "dgc" ? "feedback.momentum" : "step.momentum";
  facts.momentum = number_at(config, momentum).value_or(0);
  facts.weight_decay = number_at(config, "step.weight_decay").value_or(0);
  if (number_at(config, "step.clip_norm").value_or(0) > 0) {
    facts.clipped = word_at(config, "step.clip_at", "worker");
  }
  if (number_at(config, "step.warmup").value_or(0) > 0) {
    facts.step_rule += " with warm-up";
  }
}

void add_gradient_facts(MethodFacts& facts, const Json& config, const Json& status) {
  const auto variance = known_at(status, "facts.noise_variance", "exact: of the objective");
  const bool full_batch = text_at(config, "workers.batch") == "full";
  facts.full_gradients = full_batch || (variance && variance->value == 0);
  facts.noise_variance =
      facts.full_gradients ? Known{.value = 0, .origin = "exact: full gradients"} : variance;
  facts.sampling = word_at(config, "workers.sampling", "replacement");
}

void add_objective_facts(MethodFacts& facts, const Json& config, const Json& status) {
  const std::string objective = text_at(config, "objective.kind");
  facts.smoothness = known_at(status, "facts.smoothness", "exact: of the objective");
  facts.worker_smoothness =
      known_at(status, "facts.worker_smoothness", "exact: of the workers' objectives");
  if (objective == "quadratic" && !facts.worker_smoothness) {
    facts.worker_smoothness = facts.smoothness;  // all workers have the same curvatures
  }
  facts.strong_convexity = known_at(status, "facts.strong_convexity", "exact: of the objective");
  if (facts.strong_convexity) {
    facts.convex = true;  // known of convex objectives only
  } else if (objective == "nonconvex-logistic") {
    facts.convex = false;
  }
  facts.minimum = known_at(status, "facts.minimum", "f* known");
  if (is_never_negative(objective)) {
    facts.lower_bound = Known{.value = 0, .origin = "0: this loss is never negative"};
  }
  facts.initial_distance_sq = known_at(status, "facts.initial_distance_sq", "exact: x* is known");
  const bool starts_alike = facts.convex.has_value();  // networks draw w_0 from the seed
  facts.deterministic =
      facts.full_gradients && starts_alike && facts.sparsifier.find("rand") == std::string::npos;
}

}  // namespace

MethodFacts method_facts(const Run& run, std::optional<double> step) {
  const Json& config = value_at(run.config, "config");
  MethodFacts facts;
  facts.sparsifier = word_at(config, "sparsifier.kind", "none");
  const Json& scaled = value_at(config, "sparsifier.scaled");
  if (scaled.is_boolean() && scaled.get<bool>()) {
    facts.sparsifier = "scaled " + facts.sparsifier;  // unbiased, and no contraction
  }
  facts.aggregator = word_at(config, "aggregator.kind", "dense");
  facts.feedback = word_at(config, "feedback.kind", "ef14");
  facts.units = word_at(config, "feedback.units", "step");
  facts.protocol = word_at(config, "protocol.kind", "bsp");
  facts.step_rule = word_at(config, "step.rule", "constant");
  add_practice_facts(facts, config);
  facts.workers = std::max(1.0, number_at(config, "workers.count").value_or(1));
  facts.dimension = std::max(1.0, number_at(run.status, "dimension").value_or(1));
  facts.period = number_at(config, "protocol.period");
  const Json& conserves = value_at(run.status, "conserves");
  facts.conserves = !conserves.is_boolean() || conserves.get<bool>();
  const auto k = number_at(run.status, "k");
  if (k && *k >= 1 && *k <= facts.dimension) {
    facts.k = k;
  }
  if (facts.sparsifier == "hard-threshold" && step) {
    facts.threshold = threshold_of(config, run.status, *step);
  }
  // The rule's default is a multiple of d/k that config.json gives as it was written.
  facts.step_shift = number_at(config, "step.shift");
  const std::string shift = text_at(config, "step.shift");
  if (!facts.step_shift && shift.ends_with("d/k") && facts.k) {
    const double factor = shift == "d/k" ? 1 : std::strtod(shift.c_str(), nullptr);
    facts.step_shift = factor * facts.dimension / *facts.k;
  }
  add_gradient_facts(facts, config, run.status);
  add_objective_facts(facts, config, run.status);
  return facts;
}

std::vector<std::uint64_t> run_lengths(const ResultFolder& folder) {
  constexpr double kMost = 9007199254740992.0;  // 2^53
  std::vector<std::uint64_t> lengths(folder.runs.size(), 1);
  for (const auto& group : group_runs(folder)) {
    double longest = 1;
    for (const std::size_t i : group.runs) {
      const double done = number_at(folder.runs[i].status, "iterations").value_or(1);
      longest = done > longest ? std::min(done, kMost) : longest;
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
  std::optional<double> step;
  const Run* first = nullptr;
  for (const std::size_t i : group.runs) {
    const Run& run = folder.runs[i];
    if (!run.has_tables() || !measures[i].evidence) {
      continue;
    }
    first = first == nullptr ? &run : first;
    seeds.push_back(*measures[i].evidence);
    if (run.state == "diverged") {
      seeds.back().end_early();
    }
    step = std::max(step, seeds.back().measures().largest_step);
  }
  Evidence evidence(first == nullptr ? MethodFacts{} : method_facts(*first, step));
  for (auto& seed : seeds) {
    evidence.add(std::move(seed));
  }
  return evidence;
}

}  // namespace residuum::reports
