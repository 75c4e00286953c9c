#include "assumptions/falsify/falsify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "assumptions/falsify/maximise.h"
#include "assumptions/one_step.h"
#include "core/error.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

// The lost mass is that of accumulators whose squares add up to P. The contraction from e = 0 is
// |e_1|^2 / |mean a|^2 with e = w - z: if nothing is lost, it is delta (1 - rho), but the proofs
// only need it below one, and lost mass counts.
constexpr auto kTargets = std::to_array<Target>({
    {.name = "delta",
     .assumption = "delta <= 1: no worse than k random entries of the dense sum",
     .probe = "delta",
     .column = Column::delta,
     .bound = 1,
     .needs_random_selection = true},
    {.name = "conservation",
     .assumption = "lost_mass_norm_sq = 0: what is not applied is put back",
     .probe = "conservation",
     .column = Column::lost_mass_norm_sq,
     .bound = 0,
     .is_expected = false},
    {.name = "contraction",
     .assumption = "contraction < 1: the gap w - z shrinks",
     .probe = "contraction",
     .column = Column::contraction,
     .bound = 1,
     .bound_is_allowed = false},
});

}  // namespace

bool Target::is_violated_by(double value, std::size_t dimension) const {
  if (!bound_is_allowed) {
    return value >= bound;
  }
  constexpr double kPerTerm = 4 * std::numeric_limits<double>::epsilon();
  return value > bound * (1 + kPerTerm * static_cast<double>(dimension));
}

std::span<const Target> targets() { return kTargets; }

const Target& target_named(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& target : targets()) {
    if (target.name == name) {
      return target;
    }
    known.emplace_back(target.name);
  }
  usage_error("nothing called '{}' can be searched against{}", name, suggestion(name, known));
}

namespace {

double random_sign(RandomStream& random) { return random.uniform() < 0.5 ? -1 : 1; }

/// Independent normal entries resemble training where noise dominates.
void draw_gaussian(RandomStream& random, Accumulators& accumulators) {
  for (double& value : accumulators.values) {
    value = random.normal();
  }
}

/// Entries are cubes of normal numbers, so that few carry nearly all energy.
void draw_heavy_tailed(RandomStream& random, Accumulators& accumulators) {
  for (double& value : accumulators.values) {
    const double x = random.normal();
    value = x * x * x;
  }
}

/// Entries are small whole numbers, mostly zero: workers agree on an index or have it alone, and
/// sums cancel exactly.
void draw_sparse(RandomStream& random, Accumulators& accumulators) {
  constexpr std::uint32_t kLargest = 3;
  const double zeros = random.uniform();
  for (double& value : accumulators.values) {
    const double magnitude = 1 + random.below(kLargest);
    const double sign = random_sign(random);
    value = random.uniform() < zeros ? 0 : sign * magnitude;
  }
}

/// Pairs of workers nearly cancel, and entries are nearly equal in magnitude, so that what is left
/// decides what is selected.
void draw_cancelling(RandomStream& random, Accumulators& accumulators) {
  constexpr double kDecades = 5;
  const double noise = std::pow(10, -kDecades * random.uniform());
  const std::size_t d = accumulators.dimension;
  std::vector<double> pattern(d);
  for (std::size_t worker = 0; worker < accumulators.workers; ++worker) {
    const bool opens_a_pair = worker % 2 == 0;
    const bool is_alone = opens_a_pair && worker + 1 == accumulators.workers;
    for (double& value : pattern) {
      value = is_alone ? 0 : (opens_a_pair ? random_sign(random) : -value);
    }
    for (std::size_t i = 0; i < d; ++i) {
      accumulators.at(worker, i) = pattern[i] + noise * random.normal();
    }
  }
}

constexpr auto kLaws = std::to_array<StartLaw>({{"gaussian", draw_gaussian},
                                                {"cancelling", draw_cancelling},
                                                {"heavy-tailed", draw_heavy_tailed},
                                                {"sparse", draw_sparse}});

}  // namespace

std::span<const StartLaw> start_laws() { return kLaws; }

namespace {

constexpr double kUndefined = -std::numeric_limits<double>::infinity();
constexpr double kLeastMean = 1e-6;

/// Steps are in units of the accumulators' root mean square.
constexpr double kFirstStep = 0.5;
constexpr double kLeastStep = 1e-7;
constexpr double kSimplexSize = 0.1;
constexpr std::size_t kSimplexDimensions = 30;

/// The least number of restarts that share the evaluations: one may not use up all.
constexpr std::uint64_t kLeastRestarts = 8;

/// The number that the assumption bounds, as a function of the direction of all accumulators.
class Violation {
 public:
  Violation(const Method& method, const Target& target, const Search& search)
      : target_(target),
        workers_(static_cast<double>(search.workers)),
        step_(method, search.workers, search.dimension, {std::string(target.probe)}, search.rows),
        scaled_(static_cast<std::size_t>(search.workers) * search.dimension),
        mean_(search.dimension) {}

  double operator()(std::span<const double> x) {
    const double norm = std::sqrt(norm_sq<double>(x));
    if (!(norm > 0) || !std::isfinite(norm)) {
      return kUndefined;
    }
    const double scale = std::sqrt(workers_) / norm;
    std::transform(
        x.begin(), x.end(), scaled_.begin(), [&](double value) { return value * scale; });
    if (!(norm_sq<double>(mean()) >= kLeastMean * kLeastMean)) {
      return kUndefined;
    }
    const double value = step_.on(scaled_).get(target_.column).value_or(kUndefined);
    if (value > worst_) {
      worst_ = value;
      accumulators_ = scaled_;
    }
    return value;
  }

  double worst() const { return worst_; }
  const std::vector<double>& accumulators() const { return accumulators_; }

 private:
  std::span<const double> mean() {
    std::fill(mean_.begin(), mean_.end(), 0);
    for (std::size_t at = 0; at < scaled_.size(); at += mean_.size()) {
      add_to<double>(mean_, std::span(scaled_).subspan(at, mean_.size()));
    }
    for (double& value : mean_) {
      value /= workers_;
    }
    return mean_;
  }

  const Target& target_;
  double workers_;
  OneStep step_;
  std::vector<double> scaled_;
  std::vector<double> mean_;
  double worst_ = kUndefined;
  std::vector<double> accumulators_;
};

/// Ascends from one start to a local maximum with at most `evaluations`; returns how many it used.
std::uint64_t ascend_violation(Violation& violation,
                               RandomStream& random,
                               Candidate start,
                               std::uint64_t evaluations) {
  Budgeted function([&](std::span<const double> x) { return violation(x); }, evaluations);
  start.value = function(start.x);
  const double unit = std::sqrt(norm_sq<double>(start.x) / static_cast<double>(start.x.size()));
  if (unit > 0) {
    ascend(function,
           random,
           {.first_step = kFirstStep * unit,
            .least_step = kLeastStep * unit,
            .simplex = kSimplexSize * unit,
            .most_of_simplex = kSimplexDimensions},
           start);
  }
  return evaluations - function.left();
}

}  // namespace

Worst falsify(const Method& method, const Target& target, const Search& search) {
  Violation violation(method, target, search);
  Accumulators accumulators{.workers = static_cast<std::size_t>(search.workers),
                            .dimension = search.dimension,
                            .values = {}};
  accumulators.values.resize(accumulators.workers * accumulators.dimension);
  Worst worst;
  double before = kUndefined;
  const auto ascend_once = [&](std::uint64_t restart, std::uint64_t most) {
    RandomStream random(search.seed, Purpose::falsify, 0, static_cast<std::uint32_t>(restart));
    const StartLaw& law = start_laws()[restart % start_laws().size()];
    law.draw(random, accumulators);
    const std::uint64_t used =
        ascend_violation(violation, random, {.x = accumulators.values, .value = kUndefined}, most);
    if (violation.worst() > before) {
      before = violation.worst();
      worst.start = law.name;
    }
    return used;
  };
  const SearchEffort effort = with_restarts(search.evaluations, kLeastRestarts, ascend_once);
  worst.evaluations = effort.evaluations;
  worst.restarts = effort.restarts;
  require(std::isfinite(violation.worst()),
          "{} is not defined for any vectors that were tried: k must be below the dimension, and "
          "more --evaluations may help",
          target.name);
  worst.value = violation.worst();
  worst.accumulators = violation.accumulators();
  worst.violated = target.is_violated_by(worst.value, search.dimension);
  return worst;
}

}  // namespace residuum
