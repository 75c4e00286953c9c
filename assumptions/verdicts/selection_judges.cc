// These judges hold the selection, the gap and the residuals against what proofs assume.

#include <algorithm>
#include <cmath>

#include "assumptions/estimators/amplification.h"
#include "assumptions/verdicts/assumptions.h"
#include "assumptions/verdicts/ratios.h"

namespace residuum::judges {

namespace {

/// A selection that draws is judged in expectation only, which its law may know.
void judge_in_expectation(const MethodFacts& facts, bool is_exact, SinglesOfSeeds& singles) {
  if (is_exact) {
    singles.holds_by_law = true;
    singles.in_expectation = "1 in expectation by the law of " + facts.sparsifier;
  } else if (facts.selects_at_random) {
    singles.in_expectation =
        "the selection is random: the assumption is about its expectation, of which single draws "
        "say nothing";
  }
}

bool selection_is_exact(const MethodFacts& facts) {
  return facts.loses_as_random() && facts.shares_support && !facts.weighs_messages &&
         !facts.approximates_sum && (facts.applies_whole_messages || facts.selects_largest);
}

bool residual_is_exact(const MethodFacts& facts) {
  return facts.loses_as_random() && facts.keeps_what_selection_leaves();
}

}  // namespace

Ratios selection(const Evidence& evidence) {
  Ratios ratios = pooled_ratios(evidence, "the probe 'delta'", &SeedMeasures::selection);
  if (selection_is_exact(evidence.method())) {
    ratios.by_law = "1 in expectation by the law of " + evidence.method().sparsifier;
  }
  return ratios;
}

SinglesOfSeeds single_selection(const Evidence& evidence) {
  auto singles = singles_of_seeds(evidence, "the probe 'delta'", &SeedMeasures::single_selection);
  judge_in_expectation(evidence.method(), selection_is_exact(evidence.method()), singles);
  return singles;
}

namespace {

/// Where everything is sent and applied, the gap is what rounding leaves: of the squared step
/// (6e-8)^2 in float32, times how much longer the model is than the step, squared. No compressor
/// keeps back so little, but a step that falls to 0 makes much of it.
constexpr double kGapOfRounding = 1e-9;
constexpr const char* kNoGap = "nothing is held back: the gap w - z is rounding";

bool holds_nothing_back(const MethodFacts& method) {
  return method.sends_everything && method.promised_share == 1.0 && method.applies_whole_messages &&
         method.memory == Memory::residual && method.synchrony == Synchrony::lockstep &&
         !method.participants;
}

bool gap_is_rounding(const Evidence& evidence) {
  const auto q = evidence.contraction().value;
  return q && (*q < kGapOfRounding || holds_nothing_back(evidence.method()));
}

}  // namespace

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

namespace {

std::optional<double> density_below_one(const Evidence& evidence) {
  const MethodFacts& facts = evidence.method();
  if (!facts.k || *facts.k >= facts.dimension) {
    return std::nullopt;
  }
  return *facts.k / facts.dimension;
}

constexpr const char* kNoSelection =
    "a random selection of as many entries is not defined: the method has no k, or drops nothing "
    "(k = d)";

/// Says why residuals are not held against accumulators that they are not what is left of; empty
/// where they are.
std::string no_accumulators_of_residuals(const MethodFacts& facts) {
  if (facts.participants || facts.synchrony == Synchrony::late) {
    return "the residuals are those of all workers, and the accumulators of those that take part";
  }
  if (facts.memory == Memory::control) {
    return "a residual has a part that its accumulator lacks, so that the selection does not bound "
           "it";
  }
  return {};
}

}  // namespace

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
    ratios.by_law = "1 in expectation by the law of " + evidence.method().sparsifier;
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

namespace {

/// Q(q) eta^2 M^2, or why there is no such bound.
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
bool accumulates_plain_gradients(const MethodFacts& facts) {
  return facts.memory == Memory::residual && facts.synchrony == Synchrony::lockstep &&
         !facts.has_momentum() && facts.clipped == "nothing" && !facts.participants;
}

}  // namespace

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

}  // namespace residuum::judges

namespace residuum {

std::optional<double> worker_residual_bound(const Evidence& evidence) {
  const MethodFacts& facts = evidence.method();
  const auto q = evidence.worker_contraction_in_windows().value;
  const auto moment = evidence.worker_second_moment().value;
  const auto step = facts.in_gradient_units ? std::optional(1.0) : evidence.step_size().value;
  if (!judges::accumulates_plain_gradients(facts) || !q || !moment || !step || !(*q >= 0)) {
    return std::nullopt;
  }
  const double bound = amplification(*q) * *step * *step * *moment;
  return bound > 0 && std::isfinite(bound) ? std::optional(bound) : std::nullopt;
}

}  // namespace residuum
