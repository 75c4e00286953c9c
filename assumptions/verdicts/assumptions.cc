#include "assumptions/verdicts/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assumptions/estimators/amplification.h"

namespace residuum {
namespace {

/// Ratios that are one by theory may come out a little above by rounding. Difference quotients of
/// gradients do so by more: points as near as 1e-6 of |w| are compared.
constexpr double kRounding = 1e-9;
constexpr double kQuotientRounding = 1e-6;

struct Assumption {
  std::string_view name;
  std::string_view statement;
  std::string_view paper;
};

/// The seeds' ratios, or why there are none.
struct Ratios {
  std::vector<double> values;
  std::string missing;
  std::string note;
};

Ratios nothing(std::string why) { return {.values = {}, .missing = std::move(why), .note = {}}; }

template <class Ratio>
Ratios of_seeds(const Evidence& evidence, std::string_view source, Ratio ratio) {
  Ratios ratios;
  for (const auto& seed : evidence.seeds()) {
    const std::optional<double> value = ratio(seed);
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

Ratios selection(const Evidence& evidence) {
  return of_seeds(evidence, "the probe 'delta'", [](const SeedEvidence& seed) {
    return seed.measures().selection.overall();
  });
}

Ratios contraction(const Evidence& evidence) {
  return of_seeds(evidence, "the probe 'contraction'", [](const SeedEvidence& seed) {
    return seed.measures().contraction.overall();
  });
}

Ratios worker_contraction(const Evidence& evidence) {
  const auto& k = evidence.method().k;
  if (!k || *k >= evidence.method().dimension) {
    return nothing("a random selection of as many entries is not defined: there is no k below d");
  }
  const double random = 1 - *k / evidence.method().dimension;
  return of_seeds(evidence, "the probe 'residual'", [random](const SeedEvidence& seed) {
    const auto kept = seed.measures().worker_contraction.overall();
    return kept ? std::optional<double>(*kept / random) : std::nullopt;
  });
}

Ratios unbiased(const Evidence& evidence) {
  if (evidence.method().full_gradients || evidence.method().deterministic) {
    return nothing("gradients have no noise");
  }
  if (evidence.method().sampling == "shuffle") {
    return nothing("halves of a shuffled pass are not independent; sample with replacement");
  }
  if (evidence.method().workers < 2) {
    return nothing("with one worker the ratio is one by its definition");
  }
  return of_seeds(evidence,
                  "the probe 'noise' and batches of two samples at least",
                  [](const SeedEvidence& seed) { return seed.measures().half_bias.overall(); });
}

Ratios smoothness(const Evidence& evidence) {
  const auto measured = [&](const SeedEvidence& seed) {
    return seed.measures().largest_smoothness;
  };
  auto ratios = of_seeds(evidence, "the probe 'smoothness'", measured);
  if (ratios.values.empty()) {
    return ratios;
  }
  const double largest = *std::max_element(ratios.values.begin(), ratios.values.end());
  if (!evidence.method().smoothness) {
    return nothing(fmt::format(
        "L of this objective is not known; the largest that the runs met is {:.6g}", largest));
  }
  for (double& value : ratios.values) {
    value /= evidence.method().smoothness->value;
  }
  return ratios;
}

/// Mean of the last quarter of the windows over the largest of the others.
std::optional<double> growth(const Windows& windows) {
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
               [](const SeedEvidence& seed) { return growth(seed.measures().mean_gradient); });
  if (const auto moment = evidence.second_moment().value) {
    ratios.note = fmt::format("M^2 = {:.6g}", *moment);
  }
  return ratios;
}

Ratios bounded_noise(const Evidence& evidence) {
  if (evidence.method().full_gradients) {
    return nothing("gradients have no noise");
  }
  if (evidence.method().sampling == "shuffle") {
    return nothing("halves of a shuffled pass are not independent; sample with replacement");
  }
  auto ratios = of_seeds(evidence,
                         "the probe 'noise' and some hundred iterations",
                         [](const SeedEvidence& seed) { return growth(seed.measures().noise); });
  if (const auto variance = evidence.noise_variance().value) {
    ratios.note = fmt::format("sigma^2 = {:.6g}", *variance);
  }
  return ratios;
}

Ratios bounded_residual(const Evidence& evidence) {
  if (evidence.method().momentum != 0) {
    return nothing("with momentum z moves by a velocity, and the bound is about eta G");
  }
  const auto q = evidence.contraction().value;
  const auto moment = evidence.second_moment().value;
  const auto step = evidence.step_size().value;
  if (!q || !moment || !step) {
    return nothing("needs the probe 'contraction'");
  }
  const double factor =
      *q >= 0 ? amplification(*q) : *q;  // also what is no number comes from files
  if (!std::isfinite(factor)) {
    return nothing(fmt::format("the gap does not contract (q = {:.6g}): there is no bound", *q));
  }
  const double bound = factor * *step * *step * *moment;
  if (!(bound > 0)) {
    return nothing("nothing is held back: the bound is zero");
  }
  return of_seeds(evidence, "the probe 'contraction'", [bound](const SeedEvidence& seed) {
    const auto gap = seed.measures().gap.largest();
    return gap ? std::optional<double>(*gap / bound) : std::nullopt;
  });
}

Ratios tail(const Evidence& evidence) {
  const auto& k = evidence.method().k;
  if (!k || *k >= evidence.method().dimension) {
    return nothing("there is no k below d");
  }
  const double left = 1 - *k / evidence.method().dimension;
  return of_seeds(evidence, "the probe 'tail'", [left](const SeedEvidence& seed) {
    const auto ratio = seed.measures().tail.overall();
    return ratio ? std::optional<double>(*ratio / (left * left)) : std::nullopt;
  });
}

/// An assumption and how its ratios are found.
struct Judge {
  Assumption assumption;
  Ratios (*ratios)(const Evidence&);
};

constexpr auto kJudges = std::to_array<Judge>({
    {{"gtopk",
      "delta <= 1: the selection loses no more than a random one; sum of |mean a - g/P|^2 over "
      "sum of (1 - rho) |mean a|^2",
      "Shi et al., IJCAI 2019"},
     selection},
    {{"contraction",
      "q < 1: the gap shrinks; sum of |e_{t+1}|^2 over sum of |e_t + z_t - z_{t+1}|^2, e = w - z; "
      "z moves by eta_t mean G_t, with momentum by a velocity",
      "Stich et al., NeurIPS 2018"},
     contraction},
    {{"worker-contraction",
      "every worker keeps back no more than with a random selection; sum of |e^p|^2 over sum of "
      "(1 - k/d) |a^p|^2",
      "Stich et al., NeurIPS 2018"},
     worker_contraction},
    {{"bounded-residual",
      "|e_t|^2 <= Q(q) eta^2 M^2, with q and M^2 as measured; largest window mean over the bound",
      "Shi et al., IJCAI 2019, with the best constant"},
     bounded_residual},
    {{"smoothness",
      "gradients are L-Lipschitz along the run; largest measured ratio over the known L",
      "all of them"},
     smoothness},
    {{"unbiased",
      "E G = grad f; |mean G^1 - mean G^2|^2 of half batches over its expectation",
      "all of them"},
     unbiased},
    {{"bounded-moment",
      "E|mean G|^2 <= M^2 does not grow; last quarter of the run over the largest before",
      "Shi et al., IJCAI 2019"},
     bounded_moment},
    {{"bounded-noise",
      "sigma^2 does not grow; last quarter of the run over the largest before",
      "Stich and Karimireddy, JMLR 2020"},
     bounded_noise},
    {{"tail",
      "|a - Top_k a|^2 <= (1 - k/d)^2 |a|^2 for the mean accumulator; mean ratio over (1 - k/d)^2",
      "Shi, Chu, Cheung, See, 2019"},
     tail},
});

/// q must stay below one, everything else may reach it.
bool exceeds(std::string_view name, double value) {
  if (name == "contraction") {
    return !(value < 1);
  }
  return !(value <= 1 + (name == "smoothness" ? kQuotientRounding : kRounding));
}

/// A ratio of expectation one: only an interval without it speaks against that.
AssumptionState state_around_one(const std::vector<double>& ratios) {
  constexpr double kRarely = 0.999;
  const auto interval = mean_interval(ratios, kRarely);
  if (!interval) {
    return AssumptionState::undecided;
  }
  return interval->low <= 1 && interval->high >= 1 ? AssumptionState::holds
                                                   : AssumptionState::fails;
}

AssumptionState state_of(const AssumptionVerdict& verdict,
                         const std::vector<double>& ratios,
                         bool is_random) {
  if (verdict.name == "unbiased") {
    return state_around_one(ratios);
  }
  if (verdict.name == "smoothness" || !is_random) {  // of every single run
    return exceeds(verdict.name, *verdict.worst) ? AssumptionState::fails : AssumptionState::holds;
  }
  if (!verdict.interval) {
    return AssumptionState::undecided;
  }
  if (exceeds(verdict.name, verdict.interval->low)) {
    return AssumptionState::fails;
  }
  return exceeds(verdict.name, verdict.interval->high) ? AssumptionState::marginal
                                                       : AssumptionState::holds;
}

AssumptionVerdict judge(const Judge& how, const Evidence& evidence) {
  AssumptionVerdict verdict;
  verdict.name = how.assumption.name;
  verdict.statement = how.assumption.statement;
  verdict.paper = how.assumption.paper;
  const Ratios ratios = how.ratios(evidence);
  if (ratios.values.empty()) {
    verdict.remark = ratios.missing;
    return verdict;
  }
  const auto worst = std::max_element(ratios.values.begin(), ratios.values.end());
  verdict.seeds = ratios.values.size();
  verdict.worst = *worst;
  verdict.worst_seed = static_cast<std::size_t>(worst - ratios.values.begin());
  double sum = 0;
  for (const double value : ratios.values) {
    sum += value;
  }
  verdict.value = sum / static_cast<double>(ratios.values.size());
  verdict.interval = mean_interval(ratios.values);
  verdict.remark = ratios.note;
  verdict.state = state_of(verdict, ratios.values, !evidence.method().deterministic);
  if (!verdict.interval) {
    verdict.remark += fmt::format("{}{}: no interval",
                                  verdict.remark.empty() ? "" : "; ",
                                  verdict.seeds < 2 ? "one seed" : "a value is not finite");
  }
  return verdict;
}

}  // namespace

std::string_view state_text(AssumptionState state) {
  switch (state) {
    case AssumptionState::holds:
      return "holds";
    case AssumptionState::marginal:
      return "marginal";
    case AssumptionState::fails:
      return "fails";
    case AssumptionState::undecided:
      return "undecided";
    case AssumptionState::not_measured:
      break;
  }
  return "not measured";
}

std::vector<AssumptionVerdict> judge_assumptions(const Evidence& evidence) {
  std::vector<AssumptionVerdict> verdicts;
  verdicts.reserve(kJudges.size());
  for (const auto& one : kJudges) {
    verdicts.push_back(judge(one, evidence));
  }
  return verdicts;
}

}  // namespace residuum
