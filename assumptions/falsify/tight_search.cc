// A gradient g of an L-smooth, mu-strongly convex f_p with the minimiser 0 is any vector with
//   <g - mu x, L x - g> >= 0,
// the ball around (L + mu)/2 x of radius (L - mu)/2 |x|: this is what the two interpolation
// conditions of such functions say of one point and the minimiser (Taylor, Hendrickx, Glineur,
// Math. Program. 2017, theorem 4). So the search is over x, the e_p and a point u_p of the unit
// ball for each worker, (2P + 1) d numbers, without constraints: u outside of the ball is put on
// its surface.

#include "assumptions/falsify/tight_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assumptions/falsify/maximise.h"
#include "assumptions/one_step.h"
#include "core/schedules/tight_rate.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

constexpr double kNoRatio = -std::numeric_limits<double>::infinity();

/// sum_p of V over P: |mean e|^2/s + mean |x - e_p|^2, by norms of means.
struct StateNorms {
  double mean_residual = 0;  // |mean e|^2
  double corrected = 0;      // |x - mean e|^2
  double residuals = 0;      // mean |e_p|^2

  double value(double root) const {
    return mean_residual / root + corrected + std::max(0.0, residuals - mean_residual);
  }
};

class OneIteration {
 public:
  OneIteration(const Method& method, const TightSearch& search)
      : search_(search),
        problem_({.smoothness = 1,
                  .strong_convexity = 1 / search.condition,
                  .contraction = search.contraction}),
        step_(method, search.workers, search.dimension, {"residual"}) {
    now_.rate = tight_rate(problem_);
    now_.step = tight_step(problem_);
    now_.model.resize(search.dimension);
    for (auto* of_workers : {&now_.residuals, &now_.gradients, &now_.accumulators}) {
      of_workers->resize(static_cast<std::size_t>(search.workers) * search.dimension);
    }
  }

  std::size_t numbers() const { return now_.model.size() + 2 * now_.residuals.size(); }

  /// V'/V at x, the e_p and the u_p, one after the other.
  double operator()(std::span<const double> point) {
    if (!take(point)) {
      return kNoRatio;
    }
    const StepQuantities& after = step_.on(now_.accumulators);
    StateNorms norms{.residuals = after.get(Column::residual_norm_sq).value_or(0)};
    const auto workers = static_cast<double>(search_.workers);
    next_ = now_.model;
    for (std::size_t at = 0; at < after.update.size(); ++at) {
      next_[after.update.indices[at]] -= after.update.values[at] / workers;
    }
    for (std::size_t j = 0; j < next_.size(); ++j) {
      const double e_j = after.mean_residual[j];
      norms.mean_residual += e_j * e_j;
      norms.corrected += (next_[j] - e_j) * (next_[j] - e_j);
    }
    now_.ratio = norms.value(problem_.root());  // V is 1 before
    if (now_.ratio > largest_) {
      largest_ = now_.ratio;
      worst_ = now_;
    }
    return now_.ratio;
  }

  const WorstIteration& worst() const { return worst_; }

 private:
  /// Scales x and the e_p so that V/P = 1, and sets gradients and accumulators. False for V = 0.
  bool take(std::span<const double> point) {
    const std::size_t d = now_.model.size();
    const std::size_t all = now_.residuals.size();
    const double scale = 1 / std::sqrt(value_of(point.first(d + all)));
    if (!std::isfinite(scale)) {
      return false;
    }
    std::transform(point.begin(),
                   point.begin() + static_cast<std::ptrdiff_t>(d),
                   now_.model.begin(),
                   [&](double x) { return scale * x; });
    std::transform(point.begin() + static_cast<std::ptrdiff_t>(d),
                   point.begin() + static_cast<std::ptrdiff_t>(d + all),
                   now_.residuals.begin(),
                   [&](double x) { return scale * x; });
    const double centre = (1 + problem_.strong_convexity) / 2;
    const double radius =
        (1 - problem_.strong_convexity) / 2 * std::sqrt(norm_sq<double>(now_.model));
    for (std::size_t at = 0; at < all; at += d) {
      const auto u = point.subspan(d + all + at, d);
      const double reach = radius / std::max(1.0, std::sqrt(norm_sq<double>(u)));
      for (std::size_t j = 0; j < d; ++j) {
        now_.gradients[at + j] = centre * now_.model[j] + reach * u[j];
        now_.accumulators[at + j] = now_.residuals[at + j] + now_.step * now_.gradients[at + j];
      }
    }
    return true;
  }

  /// V/P of x and the e_p.
  double value_of(std::span<const double> state) const {
    const std::size_t d = now_.model.size();
    const auto workers = static_cast<double>(search_.workers);
    StateNorms norms;
    for (std::size_t j = 0; j < d; ++j) {
      double mean = 0;
      for (std::size_t at = d; at < state.size(); at += d) {
        mean += state[at + j] / workers;
        norms.residuals += state[at + j] * state[at + j] / workers;
      }
      norms.mean_residual += mean * mean;
      norms.corrected += (state[j] - mean) * (state[j] - mean);
    }
    return norms.value(problem_.root());
  }

  TightSearch search_;
  CompressedProblem problem_;
  OneStep step_;
  WorstIteration now_;
  WorstIteration worst_;
  double largest_ = kNoRatio;  // of the states looked at
  std::vector<double> next_;
};

/// Ascends from a random start; returns how many evaluations it used.
std::uint64_t ascend_rate(OneIteration& iteration, RandomStream& random, std::uint64_t most) {
  Budgeted function([&](std::span<const double> point) { return iteration(point); }, most);
  Candidate start;
  start.x.resize(iteration.numbers());
  for (double& number : start.x) {
    number = random.normal();
  }
  start.value = function(start.x);
  refine(function, random, Refinement(), start);
  return most - function.left();
}

}  // namespace

WorstIteration falsify_rate(const Method& method, const TightSearch& search) {
  constexpr std::uint64_t kFewestRestarts = 8;
  OneIteration iteration(method, search);
  const auto restart = [&](std::uint64_t number, std::uint64_t most) {
    RandomStream random(search.seed, Purpose::falsify, 1, static_cast<std::uint32_t>(number));
    return ascend_rate(iteration, random, most);
  };
  const Effort used = search_with_restarts(search.evaluations, kFewestRestarts, restart);
  WorstIteration worst = iteration.worst();
  worst.evaluations = used.evaluations;
  worst.restarts = used.restarts;
  return worst;
}

}  // namespace residuum
