#include "assumptions/theorems/evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "assumptions/estimators/upper_line.h"

namespace residuum {
namespace {

Constant of(const std::string& symbol, const std::optional<Known>& known) {
  return known ? Constant{symbol, known->value, known->origin}
               : Constant{symbol, std::nullopt, "not known"};
}

/// The largest over the seeds of something each may have.
std::optional<double> largest_of(const std::vector<SeedEvidence>& seeds,
                                 std::optional<double> SeedMeasures::*member) {
  std::optional<double> largest;
  for (const auto& seed : seeds) {
    const auto& value = seed.measures().*member;
    if (value && !(largest && *largest >= *value)) {
      largest = value;
    }
  }
  return largest;
}

/// The mean over the seeds; absent unless every seed has it.
std::optional<double> mean_of(const std::vector<SeedEvidence>& seeds,
                              std::optional<double> SeedMeasures::*member) {
  double sum = 0;
  for (const auto& seed : seeds) {
    if (!(seed.measures().*member)) {
      return std::nullopt;
    }
    sum += *(seed.measures().*member);
  }
  return seeds.empty() ? std::nullopt
                       : std::optional<double>(sum / static_cast<double>(seeds.size()));
}

/// The quantity that a theorem needs measured, and the probe that measures it.
struct Source {
  std::string what;
  std::string probe;
};

Constant missing(const std::string& symbol, const Source& source) {
  return {
      symbol, std::nullopt, fmt::format("not measured: {} (probe {})", source.what, source.probe)};
}

Constant measured(const std::string& symbol,
                  const std::optional<double>& value,
                  const Source& source) {
  return value ? Constant{symbol, value, "measured: " + source.what} : missing(symbol, source);
}

/// The largest window mean or ratio.
Constant largest(const Windows& windows, const std::string& symbol, const Source& source) {
  const auto value = windows.largest();
  if (!value) {
    return missing(symbol, source);
  }
  return {symbol,
          value,
          fmt::format("measured: {}, largest of {} window means over {} values",
                      source.what,
                      windows.size(),
                      windows.count())};
}

/// The largest mean or ratio of a beginning of the runs.
Constant largest_beginning(const Windows& windows,
                           const std::string& symbol,
                           const Source& source) {
  const auto value = windows.largest_beginning();
  if (!value) {
    return missing(symbol, source);
  }
  return {symbol,
          value,
          fmt::format("measured: {}, largest of the runs' {} beginnings over {} values",
                      source.what,
                      windows.size(),
                      windows.count())};
}

/// The largest value of single iterations over all seeds.
Constant largest_single(const std::vector<SeedEvidence>& seeds,
                        Singles SeedMeasures::*singles,
                        const std::string& symbol,
                        const Source& source) {
  std::optional<double> largest;
  std::uint64_t measured = 0;
  for (const auto& seed : seeds) {
    const Singles& one = seed.measures().*singles;
    measured += one.measured;
    if (one.largest && !(largest && *largest >= *one.largest)) {
      largest = one.largest;
    }
  }
  if (!largest) {
    return missing(symbol, source);
  }
  return {symbol,
          largest,
          fmt::format("measured: {}, largest of {} single iterations", source.what, measured)};
}

/// An unbiased estimate of a variance may be negative; then it is no constant, and says so.
Constant not_negative(Constant constant) {
  if (constant.value && *constant.value < 0) {
    constant.origin = fmt::format(
        "the estimate is negative ({:.3g}): more iterations or seeds are needed", *constant.value);
    constant.value.reset();
  }
  return constant;
}

/// Slope and offset of the line above the windows' points (x, y).
std::vector<Constant> line_above(const Windows& x_windows,
                                 const Windows& y_windows,
                                 const std::string& slope,
                                 const std::string& offset,
                                 const Source& source) {
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t i = 0; i < x_windows.size(); ++i) {
    const auto x_i = x_windows.window(i);
    const auto y_i = y_windows.window(i);
    if (x_i && y_i) {
      x.push_back(*x_i);
      y.push_back(*y_i);
    }
  }
  const auto line = upper_line(x, y);
  if (!line) {
    return {missing(slope, source), missing(offset, source)};
  }
  if (std::all_of(y.begin(), y.end(), [](double value) { return value < 0; })) {
    const Constant none =
        not_negative(measured(offset, *std::max_element(y.begin(), y.end()), source));
    return {{slope, std::nullopt, none.origin}, none};
  }
  const std::string origin =
      fmt::format("measured: {}, line above {} windows", source.what, x.size());
  return {{slope, line->slope, origin}, {offset, line->offset, origin}};
}

}  // namespace

std::string Evidence::reservation() const {
  const auto early = std::count_if(
      seeds_.begin(), seeds_.end(), [](const SeedEvidence& seed) { return seed.ended_early(); });
  const std::size_t unended = static_cast<std::size_t>(early) + missed_;
  const std::size_t all = seeds_.size() + missed_;
  std::string text;
  if (unended > 0) {
    text = fmt::format("{} of {} runs diverged, failed or were cut", unended, all);
  }
  if (silent_ > 0) {
    text += fmt::format(
        "{}in {} of {} runs a worker never sent an entry", text.empty() ? "" : "; ", silent_, all);
  }
  return text;
}

Windows Evidence::pooled(HeldRatio SeedMeasures::*ratio) const {
  Windows all = seeds_.empty() ? Windows(1) : (seeds_.front().measures().*ratio).windows();
  for (std::size_t i = 1; i < seeds_.size(); ++i) {
    all.merge((seeds_[i].measures().*ratio).windows());
  }
  return all;
}

bool Evidence::measured_everywhere(Singles SeedMeasures::*singles) const {
  return std::all_of(seeds_.begin(), seeds_.end(), [&](const SeedEvidence& seed) {
    return (seed.measures().*singles).measured >= seed.iterations();
  });
}

Constant Evidence::step_size() const {
  return measured(
      "η", largest_of(seeds_, &SeedMeasures::largest_step), {"largest step size", "any"});
}

std::optional<double> Evidence::largest_smoothness() const {
  std::optional<double> largest;
  for (const auto& seed : seeds_) {
    if (method_.evaluation.differences_are_of_f) {
      largest = std::max(largest, seed.measures().single_difference.largest());
    }
    if (method_.evaluation.curvature_is_of_f) {
      largest = std::max(largest, seed.measures().single_curvature.largest());
    }
  }
  return largest;
}

Constant Evidence::smoothness() const {
  if (method_.objective.smoothness) {
    return of("L", method_.objective.smoothness);
  }
  return measured("L",
                  std::max(largest_smoothness(), seen_),
                  {"largest of the smoothness ratios of f, which L cannot be below", "smoothness"});
}

Constant Evidence::initial_loss() const {
  const auto start = mean_of(seeds_, &SeedMeasures::initial_loss);
  return {"f(w_0)", start, start ? "measured" : "not measured: f(w_0) (probes.evaluate)"};
}

Constant Evidence::initial_gap() const {
  const auto& floor =
      method_.objective.minimum ? method_.objective.minimum : method_.objective.lower_bound;
  if (!floor) {
    return {"Δ", std::nullopt, "not known: f has no known minimum or lower bound"};
  }
  const Constant start = initial_loss();
  if (!start.value) {
    return {"Δ", std::nullopt, start.origin};
  }
  return {
      "Δ", *start.value - floor->value, fmt::format("f(w_0) measured, minus {}", floor->origin)};
}

Constant Evidence::initial_distance_sq() const {
  if (method_.objective.initial_distance_sq) {
    return of("‖w_0 − x*‖²", method_.objective.initial_distance_sq);
  }
  return measured("‖w_0 − x*‖²",
                  mean_of(seeds_, &SeedMeasures::initial_distance_sq),
                  {"at the first iteration", "any, with probes.evaluate"});
}

Constant Evidence::strong_convexity() const { return of("μ", method_.objective.strong_convexity); }

Constant Evidence::worker_strong_convexity() const {
  return method_.objective.worker_strong_convexity
             ? of("μ_min", method_.objective.worker_strong_convexity)
             : Constant{"μ_min", std::nullopt, "not known: a μ > 0 of every worker's objective"};
}

Constant Evidence::noise_variance() const {
  if (method_.objective.noise_variance) {
    return of("σ²", method_.objective.noise_variance);
  }
  return not_negative(
      largest(pooled(&SeedMeasures::noise), "σ²", {"half-batch variance", "noise"}));
}

Constant Evidence::heterogeneity() const {
  if (method_.workers == 1) {
    return {"ζ²", 0.0, "exact: one worker"};
  }
  return not_negative(
      largest(pooled(&SeedMeasures::heterogeneity), "ζ²", {"spread of the workers", "noise"}));
}

Constant Evidence::second_moment() const {
  return largest(pooled(&SeedMeasures::mean_gradient), "M²", {"‖ḡ‖²", "contraction"});
}

Constant Evidence::worker_second_moment() const {
  return largest(pooled(&SeedMeasures::worker_gradient), "G²", {"‖G^p‖²", "noise"});
}

Constant Evidence::true_gradient() const {
  return largest(pooled(&SeedMeasures::true_gradient), "‖∇f‖²", {"‖∇f(w)‖²", "any"});
}

Constant Evidence::gradient_spread() const {
  return largest(pooled(&SeedMeasures::gradient_spread),
                 "V²",
                 {"spread of the workers' gradients, mean ‖G^p‖² − ‖ḡ‖²", "noise"});
}

Constant Evidence::contraction() const {
  return largest(
      pooled(&SeedMeasures::contraction), "q", {"contraction of the gap w − z", "contraction"});
}

Constant Evidence::contraction_on_average() const {
  return largest_beginning(pooled(&SeedMeasures::contraction),
                           "q",
                           {"contraction of the gap w − z, on average", "contraction"});
}

Constant Evidence::contraction_in_every_iteration() const {
  return largest_single(seeds_,
                        &SeedMeasures::single_contraction,
                        "q",
                        {"contraction of the gap w − z", "contraction"});
}

namespace {

Constant contraction_by_law(const RunFacts& method) {
  return {"q_p",
          1 - *method.sparsifier.contraction,
          fmt::format("exact: what {} promises{}",
                      method.names.sparsifier,
                      method.sparsifier.deterministic ? "" : ", in expectation")};
}

}  // namespace

Constant Evidence::worker_contraction_in_windows() const {
  if (method_.sparsifier.contraction && method_.sparsifier.exact &&
      method_.keeps_what_selection_leaves()) {
    return contraction_by_law(method_);
  }
  return largest(pooled(&SeedMeasures::worker_contraction),
                 "q_p",
                 {"contraction of the residuals", "residual"});
}

Constant Evidence::worker_contraction() const {
  if (method_.sparsifier.contraction && method_.sparsifier.exact) {
    return contraction_by_law(method_);  // of which single draws are a poor estimate
  }
  Constant seen = largest_beginning(pooled(&SeedMeasures::worker_contraction),
                                    "q_p",
                                    {"contraction of the residuals, on average", "residual"});
  return seen.value || !method_.sparsifier.contraction ? seen : contraction_by_law(method_);
}

bool Evidence::worker_contraction_is_known() const {
  const bool has_law = method_.sparsifier.contraction.has_value();
  if (has_law &&
      (method_.sparsifier.exact || !pooled(&SeedMeasures::worker_contraction).overall())) {
    return true;
  }
  return std::all_of(seeds_.begin(), seeds_.end(), [](const SeedEvidence& seed) {
    return seed.measures().worker_contraction.rows() >= seed.iterations();
  });
}

Constant Evidence::selection_ratio() const {
  return largest_single(
      seeds_, &SeedMeasures::single_selection, "δ", {"ratio of the gTop-k assumption", "delta"});
}

Constant Evidence::xi() const {
  return measured("ξ", largest_of(seeds_, &SeedMeasures::largest_xi), {"largest ratio seen", "xi"});
}

Constant Evidence::initial_distortion() const {
  return measured("G⁰",
                  mean_of(seeds_, &SeedMeasures::initial_distortion),
                  {"EF21's distortion at the start", "ef21"});
}

Constant Evidence::initial_residual() const {
  return measured("R⁰",
                  mean_of(seeds_, &SeedMeasures::initial_residual),
                  {"residuals after the first iteration", "residual"});
}

Constant Evidence::initial_weighted_distortion() const {
  return measured("G_w",
                  mean_of(seeds_, &SeedMeasures::initial_weighted_distortion),
                  {"EF21's distortion at the start, weighted by the workers' known L_p", "ef21"});
}

Constant Evidence::worker_smoothness() const {
  return method_.objective.worker_smoothness
             ? of("L̃", method_.objective.worker_smoothness)
             : Constant{"L̃", std::nullopt, "not known: the workers' own smoothness"};
}

Constant Evidence::largest_worker_smoothness() const {
  return method_.objective.worker_smoothness_max
             ? of("L_max", method_.objective.worker_smoothness_max)
             : Constant{"L_max", std::nullopt, "not known: the workers' own smoothness"};
}

Constant Evidence::mean_worker_smoothness() const {
  return method_.objective.worker_smoothness_mean
             ? of("L_AM", method_.objective.worker_smoothness_mean)
             : Constant{"L_AM", std::nullopt, "not known: the workers' own smoothness"};
}

EstimateRecursion Evidence::estimate_recursion() const {
  EstimateRecursion all;
  for (const auto& seed : seeds_) {
    all.merge(seed.measures().estimate_recursion);
  }
  return all;
}

std::uint64_t Evidence::successive_iterations() const {
  std::uint64_t pairs = 0;
  for (const auto& seed : seeds_) {
    pairs += std::max<std::uint64_t>(seed.iterations(), 1) - 1;
  }
  return pairs;
}

std::vector<Constant> Evidence::noise_growth() const {
  if (method_.objective.noise_variance) {
    return {{"M", 0.0, method_.objective.noise_variance->origin},
            of("σ²", method_.objective.noise_variance)};
  }
  return line_above(pooled(&SeedMeasures::worker_true),
                    pooled(&SeedMeasures::noise),
                    "M",
                    "σ²",
                    {"half-batch variance against ‖∇f_p‖²", "noise"});
}

std::vector<Constant> Evidence::similarity() const {
  if (method_.workers == 1) {
    return {{"C", 0.0, "exact: one worker"}, {"ζ²", 0.0, "exact: one worker"}};
  }
  return line_above(pooled(&SeedMeasures::true_gradient),
                    pooled(&SeedMeasures::heterogeneity),
                    "C",
                    "ζ²",
                    {"spread of the workers against ‖∇f‖²", "noise"});
}

// --- Constants of protocols ----------------------------------------------------------------------
// A constant of a protocol without lockstep is known if its law says it, or if every version was
// measured. Measurements of some versions alone bound nothing and are not used.

std::optional<Range> Evidence::range_of_all_versions(Range SeedMeasures::*range) const {
  Range all;
  for (const auto& seed : seeds_) {
    const Range& one = seed.measures().*range;
    if (one.measured == 0 || one.measured < seed.iterations()) {
      return std::nullopt;
    }
    all.smallest = all.measured == 0 ? one.smallest : std::min(all.smallest, one.smallest);
    all.largest = all.measured == 0 ? one.largest : std::max(all.largest, one.largest);
    all.sum += one.sum;
    all.measured += one.measured;
  }
  return all.measured == 0 ? std::nullopt : std::optional(all);
}

Constant Evidence::largest_staleness() const {
  if (const auto seen = range_of_all_versions(&SeedMeasures::staleness)) {
    return {"τ",
            seen->largest,
            fmt::format("measured: largest staleness in each of {} versions", seen->measured)};
  }
  if (method_.protocol.staleness) {
    return {"τ", method_.protocol.staleness, "exact: the protocol's limit"};
  }
  return {"τ",
          std::nullopt,
          "the protocol has no limit, and staleness was not measured in each iteration "
          "(probes.every = 1)"};
}

std::optional<double> Evidence::mean_staleness() const {
  const auto seen = range_of_all_versions(&SeedMeasures::staleness_mean);
  return seen ? std::optional(seen->sum / static_cast<double>(seen->measured)) : std::nullopt;
}

Constant Evidence::fewest_contributions() const {
  if (const auto seen = range_of_all_versions(&SeedMeasures::contributions)) {
    return {"b",
            seen->smallest,
            fmt::format("measured: fewest gradients in each of {} versions", seen->measured)};
  }
  if (method_.protocol.contributions) {
    return {"b", method_.protocol.contributions, "exact: gradients in a version"};
  }
  return {"b", 1.0, "exact: no version has fewer"};
}

Constant Evidence::concurrency() const {
  if (method_.protocol.contributions == 1U) {
    return {"τ_C",
            method_.workers,
            "exact: every worker makes one gradient at a time, and each is a version"};
  }
  return {"τ_C",
          std::nullopt,
          "not known: versions are not of one gradient each, so that finished ones may wait"};
}

Constant Evidence::spectral_gap() const {
  return method_.protocol.spectral_gap
             ? Constant{"p", method_.protocol.spectral_gap, "exact: 1 − |λ_2| of the mixing matrix"}
             : Constant{"p", std::nullopt, "not known: the spectral gap of the mixing matrix"};
}

Constant Evidence::local_steps() const {
  return {"H", static_cast<double>(method_.protocol.local_steps), "exact: the period"};
}

}  // namespace residuum
