#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "assumptions/estimators/compressor_constants.h"
#include "assumptions/verdicts/assumptions.h"
#include "assumptions/verdicts/ratios.h"

namespace residuum {
namespace {
namespace judges {

// --- The objective and its gradients: smoothness, bias, moments ----------------------------------

Ratios smoothness(const Evidence& evidence) {
  const RunFacts& facts = evidence.method();
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
  if (!facts.objective.smoothness) {
    return no_ratios(fmt::format(
        "L of this objective is not known; the largest that the runs met is {:.6g}", *largest));
  }
  return ratios_of_seeds(evidence, "the probe 'smoothness'", [&](const SeedMeasures& measures) {
    std::optional<double> value;
    if (facts.evaluation.differences_are_of_f) {
      value = measures.single_difference.largest();
    }
    if (facts.evaluation.curvature_is_of_f) {
      value = std::max(value, measures.single_curvature.largest());
    }
    return value ? std::optional<double>(*value / facts.objective.smoothness->value) : std::nullopt;
  });
}

/// Compares both kinds of quotients of one seed with L, as ratios to it.
Singles quotients_above(const SeedEvidence& seed, const RunFacts& facts, double limit) {
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
  if (facts.evaluation.differences_are_of_f) {
    add(measures.single_difference);
  }
  if (facts.evaluation.curvature_is_of_f) {
    add(measures.single_curvature);
  }
  return all;
}

SinglesOfSeeds single_smoothness(const Evidence& evidence) {
  const RunFacts& facts = evidence.method();
  const Ratios ratios = smoothness(evidence);
  if (ratios.values.empty()) {
    return no_singles(ratios.missing);
  }
  SinglesOfSeeds singles;
  for (const auto& seed : evidence.seeds()) {
    singles.seeds.push_back(quotients_above(seed, facts, facts.objective.smoothness->value));
  }
  return singles;
}

/// Says why halves of batches and means of gradients tell nothing where a worker's gradient is the
/// sum of those of several local steps.
constexpr const char* kSumsOfGradients =
    "with local steps what a worker exchanges is a sum of gradients at many models";

Ratios independence(const Evidence& evidence) {
  if (evidence.method().gradients.full || evidence.method().deterministic) {
    return no_ratios("gradients have no noise");
  }
  if (!evidence.method().gradients.independent_draws) {
    return no_ratios("halves of a shuffled pass are not independent; sample with replacement");
  }
  if (evidence.method().protocol.synchrony == Synchrony::periodic) {
    return no_ratios(kSumsOfGradients);
  }
  if (evidence.method().taking_part() < 2) {
    return no_ratios("with one worker the ratio is one by its definition");
  }
  return pooled_ratios(
      evidence, "the probe 'noise' and batches of two samples at least", &SeedMeasures::half_bias);
}

Ratios unbiased_gradients(const Evidence& evidence) {
  if (evidence.method().gradients.full || evidence.method().deterministic) {
    return no_ratios("gradients have no noise");
  }
  if (evidence.method().protocol.synchrony == Synchrony::periodic) {
    return no_ratios(kSumsOfGradients);
  }
  Ratios ratios = pooled_ratios(evidence,
                                "the probe 'noise' and full gradients (probes.full_gradient)",
                                &SeedMeasures::gradient_bias);
  if (evidence.method().update.has_optimisers) {
    ratios.known_not = "workers hand in directions of an optimiser, not gradients";
  } else if (!evidence.method().objective.gradient_bias.empty()) {
    ratios.known_not = evidence.method().objective.gradient_bias;
  } else if (evidence.method().shift_contraction) {
    ratios.known_not = "gradients are taken at the shift that a server has sent, not at the model";
  }
  return ratios;
}

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

/// Returns the need of a judgement of growth: the probe, or longer runs if it was on.
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

Ratios bounded_moment(const Evidence& evidence) {
  const std::string needs = growth_needs(evidence, &SeedMeasures::mean_gradient, "contraction");
  auto ratios = growth(evidence, &SeedMeasures::mean_gradient, needs);
  if (const auto moment = evidence.second_moment().value) {
    ratios.note = fmt::format("M^2 = {:.6g}", *moment);
  }
  return ratios;
}

Ratios bounded_noise(const Evidence& evidence) {
  if (evidence.method().gradients.full) {
    return no_ratios("gradients have no noise");
  }
  if (!evidence.method().gradients.independent_draws) {
    return no_ratios("halves of a shuffled pass are not independent; sample with replacement");
  }
  const std::string needs = growth_needs(evidence, &SeedMeasures::noise, "noise");
  auto ratios = growth(evidence, &SeedMeasures::noise, needs);
  if (const auto variance = evidence.noise_variance().value) {
    ratios.note = fmt::format("sigma^2 = {:.6g}", *variance);
  }
  return ratios;
}

// --- The selection, the gap and the residuals against what proofs assume -------------------------

/// A selection that draws is judged in expectation only, which its law may know.
void judge_in_expectation(const RunFacts& facts, bool is_exact, SinglesOfSeeds& singles) {
  if (is_exact) {
    singles.holds_by_law = true;
    singles.in_expectation = "1 in expectation by the law of " + facts.names.sparsifier;
  } else if (!facts.sparsifier.deterministic) {
    singles.in_expectation =
        "the selection is random: the assumption is about its expectation, of which single draws "
        "say nothing";
  }
}

bool selection_is_exact(const RunFacts& facts) {
  return facts.loses_as_random() && facts.sparsifier.shares_support &&
         !facts.aggregator.weighs_messages && !facts.aggregator.approximates_sum &&
         (facts.aggregator.applies_whole_messages || facts.aggregator.selects_largest);
}

bool residual_is_exact(const RunFacts& facts) {
  return facts.loses_as_random() && facts.keeps_what_selection_leaves();
}

Ratios selection(const Evidence& evidence) {
  Ratios ratios = pooled_ratios(evidence, "the probe 'delta'", &SeedMeasures::selection);
  if (selection_is_exact(evidence.method())) {
    ratios.by_law = "1 in expectation by the law of " + evidence.method().names.sparsifier;
  }
  return ratios;
}

SinglesOfSeeds single_selection(const Evidence& evidence) {
  auto singles = singles_of_seeds(evidence, "the probe 'delta'", &SeedMeasures::single_selection);
  judge_in_expectation(evidence.method(), selection_is_exact(evidence.method()), singles);
  return singles;
}

/// The bound on q below which the gap is rounding, because everything is sent and applied. Rounding
/// leaves (6e-8)^2 of the squared step in float32, times the squared ratio of the lengths of model
/// and step. No compressor keeps back so little, but the ratio grows where the step falls to 0.
constexpr double kGapOfRounding = 1e-9;
constexpr const char* kNoGap = "nothing is held back: the gap w - z is rounding";

bool holds_nothing_back(const RunFacts& method) {
  return method.sends_everything && method.sparsifier.contraction == 1.0 &&
         method.aggregator.applies_whole_messages && method.feedback.memory == Memory::residual &&
         method.protocol.synchrony == Synchrony::lockstep && !method.protocol.participants;
}

bool gap_is_rounding(const Evidence& evidence) {
  const auto q = evidence.contraction().value;
  return q && (*q < kGapOfRounding || holds_nothing_back(evidence.method()));
}

Ratios contraction(const Evidence& evidence) {
  if (gap_is_rounding(evidence)) {
    return no_ratios(kNoGap);
  }
  return pooled_ratios(evidence, "the probe 'contraction'", &SeedMeasures::contraction);
}

SinglesOfSeeds single_contraction(const Evidence& evidence) {
  if (gap_is_rounding(evidence)) {
    return no_singles(kNoGap);
  }
  auto singles =
      singles_of_seeds(evidence, "the probe 'contraction'", &SeedMeasures::single_contraction);
  judge_in_expectation(evidence.method(), /*is_exact=*/false, singles);
  return singles;
}

std::optional<double> density_below_one(const Evidence& evidence) {
  const RunFacts& facts = evidence.method();
  if (!facts.k || *facts.k >= facts.dimension) {
    return std::nullopt;
  }
  return *facts.k / facts.dimension;
}

constexpr const char* kNoSelection =
    "a random selection of as many entries is not defined: the method has no k, or drops nothing "
    "(k = d)";

/// Tells why residuals are not compared with accumulators: they are not the rest after a selection.
/// Empty if they are.
std::string no_accumulators_of_residuals(const RunFacts& facts) {
  if (facts.protocol.participants || facts.protocol.synchrony == Synchrony::late) {
    return "the residuals are those of all workers, and the accumulators of those that take part";
  }
  if (facts.feedback.memory == Memory::control) {
    return "a residual has a part that its accumulator lacks, so that the selection does not bound "
           "it";
  }
  return {};
}

Ratios worker_contraction(const Evidence& evidence) {
  if (auto why = no_accumulators_of_residuals(evidence.method()); !why.empty()) {
    return no_ratios(std::move(why));
  }
  const auto density = density_below_one(evidence);
  if (!density) {
    return no_ratios(kNoSelection);
  }
  const double factor = 1 / (1 - *density);
  Ratios ratios = pooled_ratios(evidence,
                                "the probe 'residual'",
                                &SeedMeasures::worker_selection,
                                [factor](const SeedMeasures& seed) {
                                  return seed.single_worker_selection.measured > 0 ? 1 : factor;
                                });
  if (residual_is_exact(evidence.method())) {
    ratios.by_law = "1 in expectation by the law of " + evidence.method().names.sparsifier;
  }
  return ratios;
}

SinglesOfSeeds single_worker_contraction(const Evidence& evidence) {
  if (auto why = no_accumulators_of_residuals(evidence.method()); !why.empty()) {
    return no_singles(std::move(why));
  }
  if (!density_below_one(evidence)) {
    return no_singles(kNoSelection);
  }
  auto singles = singles_of_seeds(evidence,
                                  "the probe 'residual' and the column density",
                                  &SeedMeasures::single_worker_selection);
  judge_in_expectation(evidence.method(), residual_is_exact(evidence.method()), singles);
  return singles;
}

/// Q(q) eta^2 M^2, or the reason why there is no bound.
struct ResidualBound {
  std::optional<double> value;
  std::string missing;
};

ResidualBound residual_bound(const Evidence& evidence) {
  if (evidence.method().has_momentum()) {
    return {{}, "with momentum z moves by a velocity, and the bound is about eta G"};
  }
  if (gap_is_rounding(evidence)) {
    return {{}, kNoGap};
  }
  const auto q = evidence.contraction().value;
  const auto moment = evidence.second_moment().value;
  const auto step = evidence.step_size().value;
  if (!q || !moment || !step) {
    return {{}, "needs the probe 'contraction'"};
  }
  const double factor =
      *q >= 0 ? amplification(*q) : *q;  // q may come from a file, and be no number at all
  if (!std::isfinite(factor)) {
    return {{}, fmt::format("the gap does not contract (q = {:.6g}): there is no bound", *q)};
  }
  const double bound = factor * *step * *step * *moment;
  if (!(bound > 0)) {
    return {{}, "nothing is held back: the bound is zero"};
  }
  return {bound, {}};
}

/// Returns whether every accumulator is a residual and one step by a gradient of the workers.
bool accumulates_plain_gradients(const RunFacts& facts) {
  return facts.feedback.memory == Memory::residual &&
         facts.protocol.synchrony == Synchrony::lockstep && !facts.has_momentum() &&
         facts.update.clipped == "nothing" && !facts.protocol.participants;
}

/// The window whose mean |e|^2 over all seeds is largest, of those that every seed has. The bound
/// is made of windows over all seeds too; the largest of each seed would be that of its luck.
std::optional<std::size_t> largest_window_of_gap(const Evidence& evidence) {
  std::vector<Windows> seeds;
  for (const auto& seed : evidence.seeds()) {
    seeds.push_back(seed.measures().gap.windows());
  }
  std::optional<std::size_t> best;
  double largest = 0;
  for (std::size_t i = 0; !seeds.empty() && i < seeds[0].size(); ++i) {
    double sum = 0;
    bool is_whole = true;
    for (const Windows& seed : seeds) {
      const auto mean = i < seed.size() ? seed.window(i) : std::nullopt;
      is_whole = is_whole && mean;
      sum += mean.value_or(0);
    }
    if (is_whole && (!best || sum > largest)) {
      best = i;
      largest = sum;
    }
  }
  return best;
}

Ratios bounded_residual(const Evidence& evidence) {
  const auto bound = residual_bound(evidence);
  if (!bound.value) {
    return no_ratios(bound.missing);
  }
  const auto window = largest_window_of_gap(evidence);
  return ratios_of_seeds(evidence, "the probe 'contraction'", [&](const SeedMeasures& measures) {
    const auto gap = window ? measures.gap.windows().window(*window) : std::nullopt;
    return gap ? std::optional<double>(*gap / *bound.value) : std::nullopt;
  });
}

SinglesOfSeeds single_residual(const Evidence& evidence) {
  const auto bound = residual_bound(evidence);
  if (!bound.value) {
    return no_singles(bound.missing);
  }
  SinglesOfSeeds singles;
  for (const auto& seed : evidence.seeds()) {
    Singles one = seed.measures().single_gap.above(*bound.value * (1 + kRatioRounding));
    if (one.largest) {
      one.largest = *one.largest / *bound.value;
    }
    singles.seeds.push_back(one);
  }
  if (!evidence.method().deterministic) {
    singles.in_expectation =
        "the bound is one on an expectation, of which single iterations say nothing";
  }
  return singles;
}

Ratios tail(const Evidence& evidence) {
  const auto density = density_below_one(evidence);
  if (!density) {
    return no_ratios("the method has no k, or drops nothing (k = d)");
  }
  const double factor = 1 / ((1 - *density) * (1 - *density));
  return pooled_ratios(
      evidence, "the probe 'tail'", &SeedMeasures::tail_selection, [factor](const auto& seed) {
        return seed.single_tail.measured > 0 ? 1 : factor;
      });
}

SinglesOfSeeds single_tail(const Evidence& evidence) {
  if (!density_below_one(evidence)) {
    return no_singles("the method has no k, or drops nothing (k = d)");
  }
  return singles_of_seeds(
      evidence, "the probe 'tail' and the column density", &SeedMeasures::single_tail);
}

}  // namespace judges

constexpr auto kJudges = std::to_array<Judge>({
    {kDeltaAssumption,
     "delta <= 1: the selection loses no more than a random one; sum of |mean a - g/P|^2 over "
     "sum of (1 - rho) |mean a|^2",
     "Shi et al., IJCAI 2019",
     "probes.every",
     Limit::at_most_one,
     judges::selection,
     judges::single_selection},
    {"contraction",
     "q < 1: the gap shrinks; sum of |e_{t+1}|^2 over sum of |e_t + z_t - z_{t+1}|^2, e = w - z; "
     "z moves by eta_t mean G_t, with momentum by a velocity",
     "Stich et al., NeurIPS 2018",
     "probes.every",
     Limit::below_one,
     judges::contraction,
     judges::single_contraction},
    {"worker-contraction",
     "every worker keeps back no more than with a random selection; sum of |e^p|^2 over sum of "
     "(1 - k/d) |a^p|^2",
     "Stich et al., NeurIPS 2018",
     "probes.every",
     Limit::at_most_one,
     judges::worker_contraction,
     judges::single_worker_contraction},
    {"bounded-residual",
     "E|e_t|^2 <= Q(q) eta^2 M^2, e = w - z being what all workers together hold back, with q and "
     "M^2 as measured; largest window mean over all seeds, over the bound",
     "Shi et al., IJCAI 2019, with the best constant",
     "probes.every",
     Limit::at_most_one,
     judges::bounded_residual,
     judges::single_residual},
    {"smoothness",
     "gradients are L-Lipschitz along the run; largest measured ratio over the known L",
     "all of them",
     "probes.every",
     Limit::single_quotients,
     judges::smoothness,
     judges::single_smoothness},
    {"independence",
     "the workers' draws are independent; |mean G^1 - mean G^2|^2 of half batches over its "
     "expectation, which a bias that all of them share leaves as it is",
     "all of them",
     "probes.noise_every",
     Limit::around_one,
     judges::independence},
    {"unbiased-gradients",
     "E G = grad f; mean of <mean G - grad f, grad f> / |grad f|^2, which is then 0",
     "all of them",
     "probes.evaluate",
     Limit::around_zero,
     judges::unbiased_gradients},
    {"bounded-moment",
     "E|mean G|^2 <= M^2 along the run; tested is that it did not grow: its mean over the last "
     "quarter of the run over its mean before",
     "Shi et al., IJCAI 2019",
     "probes.every",
     Limit::no_growth,
     judges::bounded_moment},
    {"bounded-noise",
     "sigma^2 is bounded along the run; tested is that it did not grow: its mean over the last "
     "quarter of the run over its mean before",
     "Stich and Karimireddy, JMLR 2020",
     "probes.noise_every",
     Limit::no_growth,
     judges::bounded_noise},
    {"tail",
     "|a - Top_k a|^2 <= (1 - k/d)^2 |a|^2 for the mean accumulator; mean ratio over (1 - k/d)^2",
     "Shi, Chu, Cheung, See, 2019",
     "probes.tail_every",
     Limit::at_most_one,
     judges::tail,
     judges::single_tail},
});

}  // namespace

std::span<const Judge> assumption_judges() { return kJudges; }

std::optional<double> worker_residual_bound(const Evidence& evidence) {
  const RunFacts& facts = evidence.method();
  const auto q = evidence.worker_contraction_in_windows().value;
  const auto moment = evidence.worker_second_moment().value;
  const auto step =
      facts.feedback.in_gradient_units ? std::optional(1.0) : evidence.step_size().value;
  if (!judges::accumulates_plain_gradients(facts) || !q || !moment || !step || !(*q >= 0)) {
    return std::nullopt;
  }
  const double bound = amplification(*q) * *step * *step * *moment;
  return bound > 0 && std::isfinite(bound) ? std::optional(bound) : std::nullopt;
}

}  // namespace residuum
