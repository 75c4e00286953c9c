#include "assumptions/verdicts/judges.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "assumptions/estimators/amplification.h"

namespace residuum {
namespace {

constexpr double kRounding = 1e-9;
constexpr double kQuotientRounding = 1e-6;

Ratios nothing(std::string why) {
  Ratios ratios;
  ratios.missing = std::move(why);
  return ratios;
}

SinglesOfSeeds no_singles(std::string why) {
  SinglesOfSeeds singles;
  singles.missing = std::move(why);
  return singles;
}

/// One number of each seed, absent where the seed was not measured.
template <class Ratio>
Ratios of_seeds(const Evidence& evidence, std::string_view source, Ratio ratio) {
  Ratios ratios;
  for (const auto& seed : evidence.seeds()) {
    const std::optional<double> value = ratio(seed.measures());
    if (!value) {
      return nothing(fmt::format("needs {}", source));
    }
    if (!std::isfinite(*value)) {
      return nothing("what was measured is not finite");
    }
    ratios.values.push_back(*value);
  }
  return ratios.values.empty() ? nothing("no run has finished") : ratios;
}

/// The pooled ratio of each seed times `factor`, with what sampling may have hidden.
Ratios pooled(const Evidence& evidence,
              std::string_view source,
              HeldRatio SeedMeasures::*held,
              double factor = 1) {
  Ratios ratios = of_seeds(evidence, source, [&](const SeedMeasures& measures) {
    const auto value = (measures.*held).overall();
    return value ? std::optional<double>(*value * factor) : std::nullopt;
  });
  for (std::size_t i = 0; i < ratios.values.size(); ++i) {
    const HeldRatio& one = evidence.seeds()[i].measures().*held;
    const auto error = one.sampling_error();
    ratios.trend += error.trend * factor;
    ratios.variance += error.variance * factor * factor;
    ratios.rows += one.rows();
    ratios.iterations += evidence.seeds()[i].iterations();
  }
  return ratios;
}

SinglesOfSeeds singles_of(const Evidence& evidence,
                          std::string_view source,
                          Singles SeedMeasures::*member) {
  SinglesOfSeeds singles;
  bool any = false;
  for (const auto& seed : evidence.seeds()) {
    singles.seeds.push_back(seed.measures().*member);
    any = any || singles.seeds.back().measured > 0;
  }
  if (!any) {
    return no_singles(fmt::format("needs {}", source));
  }
  return singles;
}

/// A selection that draws is compared with the random one in expectation only.
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
  return facts.promise_is_exact && facts.shares_support;
}

Ratios selection(const Evidence& evidence) {
  Ratios ratios = pooled(evidence, "the probe 'delta'", &SeedMeasures::selection);
  if (selection_is_exact(evidence.method())) {
    ratios.by_law = "1 in expectation by the law of " + evidence.method().sparsifier;
  }
  return ratios;
}

SinglesOfSeeds single_selection(const Evidence& evidence) {
  auto singles = singles_of(evidence, "the probe 'delta'", &SeedMeasures::single_selection);
  judge_in_expectation(evidence.method(), selection_is_exact(evidence.method()), singles);
  return singles;
}

Ratios contraction(const Evidence& evidence) {
  return pooled(evidence, "the probe 'contraction'", &SeedMeasures::contraction);
}

SinglesOfSeeds single_contraction(const Evidence& evidence) {
  return singles_of(evidence, "the probe 'contraction'", &SeedMeasures::single_contraction);
}

std::optional<double> density_below_one(const Evidence& evidence) {
  const MethodFacts& facts = evidence.method();
  if (!facts.k || *facts.k >= facts.dimension) {
    return std::nullopt;
  }
  return *facts.k / facts.dimension;
}

/// Whether the rows say which density they had; those of older programs had one for the whole run.
bool rows_have_density(const Evidence& evidence, Singles SeedMeasures::*member) {
  return std::any_of(evidence.seeds().begin(), evidence.seeds().end(), [&](const auto& seed) {
    return (seed.measures().*member).measured > 0;
  });
}

constexpr const char* kNoSelection =
    "a random selection of as many entries is not defined: there is no k below d";

Ratios worker_contraction(const Evidence& evidence) {
  const auto density = density_below_one(evidence);
  if (!density) {
    return nothing(kNoSelection);
  }
  const bool has_density = rows_have_density(evidence, &SeedMeasures::single_worker_selection);
  Ratios ratios = pooled(evidence,
                         "the probe 'residual'",
                         &SeedMeasures::worker_selection,
                         has_density ? 1 : 1 / (1 - *density));
  if (evidence.method().promise_is_exact) {
    ratios.by_law = "1 in expectation by the law of " + evidence.method().sparsifier;
  }
  return ratios;
}

SinglesOfSeeds single_worker_contraction(const Evidence& evidence) {
  if (!density_below_one(evidence)) {
    return no_singles(kNoSelection);
  }
  auto singles = singles_of(evidence,
                            "the probe 'residual' and the column density",
                            &SeedMeasures::single_worker_selection);
  judge_in_expectation(evidence.method(), evidence.method().promise_is_exact, singles);
  return singles;
}

Ratios smoothness(const Evidence& evidence) {
  const MethodFacts& facts = evidence.method();
  const auto largest = evidence.largest_smoothness();
  if (!largest) {
    const bool looked = std::any_of(
        evidence.seeds().begin(), evidence.seeds().end(), [](const SeedEvidence& seed) {
          return seed.measures().single_difference.largest() ||
                 seed.measures().single_curvature.largest();
        });
    return nothing(looked ? "measured on a part of the samples, whose L may be larger than that of f"
                          : "needs the probe 'smoothness'");
  }
  if (!facts.smoothness) {
    return nothing(fmt::format(
        "L of this objective is not known; the largest that the runs met is {:.6g}", *largest));
  }
  return of_seeds(evidence, "the probe 'smoothness'", [&](const SeedMeasures& measures) {
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

/// Both kinds of quotients of one seed against L, as ratios to it.
Singles quotients_above(const SeedMeasures& measures, const MethodFacts& facts, double limit) {
  Singles all;
  const auto add = [&](const LargestSingles& kind) {
    const Singles one = kind.above(limit * (1 + kQuotientRounding));
    all.measured += one.measured;
    all.violations += one.violations;
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

SinglesOfSeeds single_smoothness(const Evidence& evidence) {
  const MethodFacts& facts = evidence.method();
  const Ratios ratios = smoothness(evidence);
  if (ratios.values.empty()) {
    return no_singles(ratios.missing);
  }
  SinglesOfSeeds singles;
  for (const auto& seed : evidence.seeds()) {
    singles.seeds.push_back(quotients_above(seed.measures(), facts, facts.smoothness->value));
  }
  return singles;
}

Ratios independence(const Evidence& evidence) {
  if (evidence.method().full_gradients || evidence.method().deterministic) {
    return nothing("gradients have no noise");
  }
  if (!evidence.method().independent_draws) {
    return nothing("halves of a shuffled pass are not independent; sample with replacement");
  }
  if (evidence.method().workers < 2) {
    return nothing("with one worker the ratio is one by its definition");
  }
  return pooled(evidence,
                "the probe 'noise' and batches of two samples at least",
                &SeedMeasures::half_bias);
}

Ratios unbiased_gradients(const Evidence& evidence) {
  if (evidence.method().full_gradients || evidence.method().deterministic) {
    return nothing("gradients have no noise");
  }
  Ratios ratios = pooled(evidence,
                         "the probe 'noise' and full gradients (probes.full_gradient)",
                         &SeedMeasures::gradient_bias);
  if (!evidence.method().gradient_bias.empty()) {
    ratios.note = evidence.method().gradient_bias;
  }
  return ratios;
}

/// Mean of the last quarter of the windows over the largest of the others.
std::optional<double> growth(const HeldRatio& held) {
  const Windows windows = held.windows();
  const std::size_t late = windows.size() - windows.size() / 4;
  double end = 0;
  std::size_t end_count = 0;
  std::optional<double> before;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto mean = windows.window(i);
    if (!mean) {
      continue;
    }
    if (i >= late) {
      end += *mean;
      ++end_count;
    } else if (!before || *mean > *before) {
      before = mean;
    }
  }
  if (end_count == 0 || !before || !(*before > 0)) {
    return std::nullopt;
  }
  return end / static_cast<double>(end_count) / *before;
}

Ratios bounded_moment(const Evidence& evidence) {
  auto ratios =
      of_seeds(evidence,
               "the probe 'contraction' and some hundred iterations",
               [](const SeedMeasures& measures) { return growth(measures.mean_gradient); });
  if (const auto moment = evidence.second_moment().value) {
    ratios.note = fmt::format("M^2 = {:.6g}", *moment);
  }
  return ratios;
}

Ratios bounded_noise(const Evidence& evidence) {
  if (evidence.method().full_gradients) {
    return nothing("gradients have no noise");
  }
  if (!evidence.method().independent_draws) {
    return nothing("halves of a shuffled pass are not independent; sample with replacement");
  }
  auto ratios = of_seeds(evidence,
                         "the probe 'noise' and some hundred iterations",
                         [](const SeedMeasures& measures) { return growth(measures.noise); });
  if (const auto variance = evidence.noise_variance().value) {
    ratios.note = fmt::format("sigma^2 = {:.6g}", *variance);
  }
  return ratios;
}

/// Q(q) eta^2 M^2, or why there is no such bound.
struct ResidualBound {
  std::optional<double> value;
  std::string missing;
};

ResidualBound residual_bound(const Evidence& evidence) {
  if (evidence.method().momentum != 0) {
    return {{}, "with momentum z moves by a velocity, and the bound is about eta G"};
  }
  const auto q = evidence.contraction().value;
  const auto moment = evidence.second_moment().value;
  const auto step = evidence.step_size().value;
  if (!q || !moment || !step) {
    return {{}, "needs the probe 'contraction'"};
  }
  const double factor =
      *q >= 0 ? amplification(*q) : *q;  // also what is no number comes from files
  if (!std::isfinite(factor)) {
    return {{}, fmt::format("the gap does not contract (q = {:.6g}): there is no bound", *q)};
  }
  const double bound = factor * *step * *step * *moment;
  if (!(bound > 0)) {
    return {{}, "nothing is held back: the bound is zero"};
  }
  return {bound, {}};
}

Ratios bounded_residual(const Evidence& evidence) {
  const auto bound = residual_bound(evidence);
  if (!bound.value) {
    return nothing(bound.missing);
  }
  return of_seeds(evidence, "the probe 'contraction'", [&](const SeedMeasures& measures) {
    const auto gap = measures.gap.windows().largest();
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
    Singles one = seed.measures().single_gap.above(*bound.value * (1 + kRounding));
    if (one.largest) {
      one.largest = *one.largest / *bound.value;
    }
    singles.seeds.push_back(one);
  }
  return singles;
}

Ratios tail(const Evidence& evidence) {
  const auto density = density_below_one(evidence);
  if (!density) {
    return nothing("there is no k below d");
  }
  const double left = 1 - *density;
  const bool has_density = rows_have_density(evidence, &SeedMeasures::single_tail);
  return pooled(evidence,
                "the probe 'tail'",
                &SeedMeasures::tail_selection,
                has_density ? 1 : 1 / (left * left));
}

SinglesOfSeeds single_tail(const Evidence& evidence) {
  if (!density_below_one(evidence)) {
    return no_singles("there is no k below d");
  }
  return singles_of(
      evidence, "the probe 'tail' and the column density", &SeedMeasures::single_tail);
}

constexpr auto kJudges = std::to_array<Judge>({
    {"gtopk",
     "delta <= 1: the selection loses no more than a random one; sum of |mean a - g/P|^2 over "
     "sum of (1 - rho) |mean a|^2",
     "Shi et al., IJCAI 2019",
     "probes.every",
     Limit::at_most_one,
     selection,
     single_selection},
    {"contraction",
     "q < 1: the gap shrinks; sum of |e_{t+1}|^2 over sum of |e_t + z_t - z_{t+1}|^2, e = w - z; "
     "z moves by eta_t mean G_t, with momentum by a velocity",
     "Stich et al., NeurIPS 2018",
     "probes.every",
     Limit::below_one,
     contraction,
     single_contraction},
    {"worker-contraction",
     "every worker keeps back no more than with a random selection; sum of |e^p|^2 over sum of "
     "(1 - k/d) |a^p|^2",
     "Stich et al., NeurIPS 2018",
     "probes.every",
     Limit::at_most_one,
     worker_contraction,
     single_worker_contraction},
    {"bounded-residual",
     "|e_t|^2 <= Q(q) eta^2 M^2, with q and M^2 as measured; largest window mean over the bound",
     "Shi et al., IJCAI 2019, with the best constant",
     "probes.every",
     Limit::at_most_one,
     bounded_residual,
     single_residual},
    {"smoothness",
     "gradients are L-Lipschitz along the run; largest measured ratio over the known L",
     "all of them",
     "probes.every",
     Limit::single_quotients,
     smoothness,
     single_smoothness},
    {"independence",
     "the workers' draws are independent; |mean G^1 - mean G^2|^2 of half batches over its "
     "expectation, which a bias that all of them share leaves as it is",
     "all of them",
     "probes.noise_every",
     Limit::around_one,
     independence},
    {"unbiased-gradients",
     "E G = grad f; mean of <mean G - grad f, grad f> / |grad f|^2, which is then 0",
     "all of them",
     "probes.evaluate",
     Limit::around_zero,
     unbiased_gradients},
    {"bounded-moment",
     "E|mean G|^2 <= M^2 along the run; tested is that it did not grow: the last quarter of the "
     "run over the largest window before",
     "Shi et al., IJCAI 2019",
     "probes.every",
     Limit::at_most_one,
     bounded_moment,
     nullptr,
     true},
    {"bounded-noise",
     "sigma^2 is bounded along the run; tested is that it did not grow: the last quarter of the "
     "run over the largest window before",
     "Stich and Karimireddy, JMLR 2020",
     "probes.noise_every",
     Limit::at_most_one,
     bounded_noise,
     nullptr,
     true},
    {"tail",
     "|a - Top_k a|^2 <= (1 - k/d)^2 |a|^2 for the mean accumulator; mean ratio over (1 - k/d)^2",
     "Shi, Chu, Cheung, See, 2019",
     "probes.tail_every",
     Limit::at_most_one,
     tail,
     single_tail},
});

}  // namespace

double Ratios::sampling_error() const {
  if (values.empty() || rows >= iterations) {
    return 0;
  }
  const auto seeds = static_cast<double>(values.size());
  return std::abs(trend) / seeds + 2 * std::sqrt(variance) / seeds;
}

std::span<const Judge> assumption_judges() { return kJudges; }

}  // namespace residuum
