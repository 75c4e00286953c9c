// These judges look at the objective and its gradients: smoothness, bias, moments.

#include <algorithm>
#include <array>
#include <functional>

#include "assumptions/verdicts/ratios.h"

namespace residuum::judges {

Ratios smoothness(const Evidence& evidence) {
  const MethodFacts& facts = evidence.method();
  const auto largest = evidence.largest_smoothness();
  if (!largest) {
    const bool looked =
        std::any_of(evidence.seeds().begin(), evidence.seeds().end(), [](const SeedEvidence& seed) {
          return seed.measures().single_difference.largest() ||
                 seed.measures().single_curvature.largest();
        });
    return no_ratios(looked
                         ? "measured on a part of the samples, whose L may be larger than that of f"
                         : "needs the probe 'smoothness'");
  }
  if (!facts.smoothness) {
    return no_ratios(fmt::format(
        "L of this objective is not known; the largest that the runs met is {:.6g}", *largest));
  }
  return ratios_of_seeds(evidence, "the probe 'smoothness'", [&](const SeedMeasures& measures) {
    std::optional<double> value;
    if (facts.differences_are_of_f) {
      value = measures.single_difference.largest();
    }
    if (facts.curvature_is_of_f) {
      value = std::max(value, measures.single_curvature.largest());
    }
    return value ? std::optional<double>(*value / facts.smoothness->value) : std::nullopt;
  });
}

namespace {

/// Compares both kinds of quotients of one seed with L, as ratios to it.
Singles quotients_above(const SeedEvidence& seed, const MethodFacts& facts, double limit) {
  const SeedMeasures& measures = seed.measures();
  Singles all;
  const auto add = [&](const LargestSingles& kind) {
    const Singles one = kind.above(limit * (1 + kQuotientRounding)).until(seed.iterations());
    all.measured += one.measured;
    all.violations += one.violations;
    all.stood_for += one.stood_for;
    all.violating += one.violating;
    all.counts_all = all.counts_all && one.counts_all;
    if (one.largest && !(all.largest && *all.largest * limit >= *one.largest)) {
      all.largest = *one.largest / limit;
      all.where = one.where;
    }
  };
  if (facts.differences_are_of_f) {
    add(measures.single_difference);
  }
  if (facts.curvature_is_of_f) {
    add(measures.single_curvature);
  }
  return all;
}

}  // namespace

SinglesOfSeeds single_smoothness(const Evidence& evidence) {
  const MethodFacts& facts = evidence.method();
  const Ratios ratios = smoothness(evidence);
  if (ratios.values.empty()) {
    return no_singles(ratios.missing);
  }
  SinglesOfSeeds singles;
  for (const auto& seed : evidence.seeds()) {
    singles.seeds.push_back(quotients_above(seed, facts, facts.smoothness->value));
  }
  return singles;
}

/// Says why halves of batches and means of gradients tell nothing where a worker's gradient is the
/// sum of those of several local steps.
constexpr const char* kSumsOfGradients =
    "with local steps what a worker exchanges is a sum of gradients at many models";

Ratios independence(const Evidence& evidence) {
  if (evidence.method().full_gradients || evidence.method().deterministic) {
    return no_ratios("gradients have no noise");
  }
  if (!evidence.method().independent_draws) {
    return no_ratios("halves of a shuffled pass are not independent; sample with replacement");
  }
  if (evidence.method().synchrony == Synchrony::periodic) {
    return no_ratios(kSumsOfGradients);
  }
  if (evidence.method().participants.value_or(evidence.method().workers) < 2) {
    return no_ratios("with one worker the ratio is one by its definition");
  }
  return pooled_ratios(
      evidence, "the probe 'noise' and batches of two samples at least", &SeedMeasures::half_bias);
}

Ratios unbiased_gradients(const Evidence& evidence) {
  if (evidence.method().full_gradients || evidence.method().deterministic) {
    return no_ratios("gradients have no noise");
  }
  if (evidence.method().synchrony == Synchrony::periodic) {
    return no_ratios(kSumsOfGradients);
  }
  Ratios ratios = pooled_ratios(evidence,
                                "the probe 'noise' and full gradients (probes.full_gradient)",
                                &SeedMeasures::gradient_bias);
  if (evidence.method().has_optimisers) {
    ratios.known_not = "workers hand in directions of an optimiser, not gradients";
  } else if (!evidence.method().gradient_bias.empty()) {
    ratios.known_not = evidence.method().gradient_bias;
  }
  return ratios;
}

namespace {

/// The last quarter of the run over the mean of the three before it, as a ratio of sums over the
/// seeds. The values are the ratio's linear parts: their mean is the ratio, and their interval that
/// of the delta method. A mean of the seeds' own ratios would be above one without growth.
Ratios growth(const Evidence& evidence, HeldRatio SeedMeasures::*held, const std::string& needs) {
  struct Blocks {
    double past = 0;
    double last = 0;
  };
  std::vector<Blocks> seeds;
  Blocks sum;
  for (const auto& seed : evidence.seeds()) {
    const auto quarters = (seed.measures().*held).windows().quarters();
    if (!quarters) {
      return no_ratios("needs " + needs);
    }
    const auto& [first, second, third, last] = *quarters;
    seeds.push_back({.past = (first + second + third) / 3, .last = last});
    sum.past += seeds.back().past;
    sum.last += last;
  }
  const double ratio = sum.last / sum.past;
  const double mean_past = sum.past / static_cast<double>(seeds.size());
  auto next = seeds.begin();
  return ratios_of_seeds(evidence, needs, [&](const SeedMeasures& /*measures*/) {
    const Blocks& own = *next++;
    return sum.past > 0 ? std::optional<double>(ratio + (own.last - ratio * own.past) / mean_past)
                        : std::nullopt;
  });
}

/// Says what a judgement of growth needs: the probe, or longer runs where it was on.
std::string growth_needs(const Evidence& evidence,
                         HeldRatio SeedMeasures::*held,
                         std::string_view probe) {
  const auto& seeds = evidence.seeds();
  const bool is_on = std::all_of(seeds.begin(), seeds.end(), [&](const SeedEvidence& seed) {
    return (seed.measures().*held).rows() > 0;
  });
  return is_on ? "longer runs: one ended or diverged before its last quarter had a past"
               : fmt::format("the probe '{}' and some hundred iterations", probe);
}

}  // namespace

Ratios bounded_moment(const Evidence& evidence) {
  const std::string needs = growth_needs(evidence, &SeedMeasures::mean_gradient, "contraction");
  auto ratios = growth(evidence, &SeedMeasures::mean_gradient, needs);
  if (const auto moment = evidence.second_moment().value) {
    ratios.note = fmt::format("M^2 = {:.6g}", *moment);
  }
  return ratios;
}

Ratios bounded_noise(const Evidence& evidence) {
  if (evidence.method().full_gradients) {
    return no_ratios("gradients have no noise");
  }
  if (!evidence.method().independent_draws) {
    return no_ratios("halves of a shuffled pass are not independent; sample with replacement");
  }
  const std::string needs = growth_needs(evidence, &SeedMeasures::noise, "noise");
  auto ratios = growth(evidence, &SeedMeasures::noise, needs);
  if (const auto variance = evidence.noise_variance().value) {
    ratios.note = fmt::format("sigma^2 = {:.6g}", *variance);
  }
  return ratios;
}

}  // namespace residuum::judges
