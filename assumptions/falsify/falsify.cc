#include "assumptions/falsify/falsify.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "assumptions/falsify/maximise.h"
#include "assumptions/falsify/starts.h"
#include "assumptions/one_step.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

constexpr double kUndefined = -std::numeric_limits<double>::infinity();
constexpr double kLeastMean = 1e-6;

/// Steps are in units of the accumulators' root mean square.
constexpr double kFirstStep = 0.5;
constexpr double kLeastStep = 1e-7;
constexpr double kSimplexSize = 0.1;
constexpr std::size_t kSimplexDimensions = 30;

/// The evaluations are shared by at least so many restarts: one may not use up all.
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
