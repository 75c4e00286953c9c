// A gradient g of an L-smooth, mu-strongly convex f_p with the minimiser 0 is any vector with
//   <g - mu x, L x - g> >= 0,
// the ball around (L + mu)/2 x of radius (L - mu)/2 |x|: this is what the two interpolation
// conditions of such functions say of one point and the minimiser (Taylor, Hendrickx, Glineur,
// Math. Program. 2017, theorem 4). So the search is over x, the e_p and a point u_p of the unit
// ball for each worker, (2P + 1) d numbers, without constraints: u outside of the ball is put on
// its surface.
//
// EF21 looks at f_p in two points, x and x' = x - eta mean g_p. There the search is over
// quadratics: x, the eigenvalues and angles of each A_p (curvatures.h) and what each estimate
// misses, d + P (d(d + 1)/2 + d) numbers. Quadratics attain rho* (arXiv:2605.31594). With c_p =
// grad f_p(x) - g_p,
//   V/P = s |mean A_p x|^2 + mean |c_p|^2,  V'/P = s |mean A_p x'|^2 + mean |e_p|^2,
// where e_p is what the exchange leaves of a_p = A_p x' - A_p x + c_p.

#include "assumptions/falsify/tight_search.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <limits>

#include "assumptions/falsify/curvatures.h"
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

CompressedProblem problem_of(const TightSearch& search) {
  return {
      .smoothness = 1, .strong_convexity = 1 / search.condition, .contraction = search.contraction};
}

void set_up(const TightSearch& search, const CompressedProblem& problem, WorstIteration& now) {
  now.rate = tight_rate(problem);
  now.step = tight_step(problem);
  now.model.resize(search.dimension);
  for (auto* of_workers : {&now.residuals, &now.gradients, &now.accumulators}) {
    of_workers->resize(static_cast<std::size_t>(search.workers) * search.dimension);
  }
}

class OneIteration {
 public:
  OneIteration(const Method& method, const TightSearch& search)
      : search_(search),
        problem_(problem_of(search)),
        step_(method, search.workers, search.dimension, {"residual"}) {
    set_up(search, problem_, now_);
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

/// One iteration of EF21 on quadratics.
class OneEstimateIteration {
 public:
  OneEstimateIteration(const Method& method, const TightSearch& search)
      : search_(search),
        problem_(problem_of(search)),
        step_(method, search.workers, search.dimension, {"residual"}),
        curvatures_(static_cast<std::size_t>(search.workers),
                    Eigen::MatrixXd(static_cast<Eigen::Index>(search.dimension),
                                    static_cast<Eigen::Index>(search.dimension))),
        next_(curvatures_.size() * search.dimension) {
    set_up(search, problem_, now_);
  }

  std::size_t numbers() const {
    return now_.model.size() + now_.residuals.size() +
           curvatures_.size() * numbers_of_curvature(now_.model.size());
  }

  /// V'/V at x, the c_p and the A_p, one after the other.
  double operator()(std::span<const double> point) {
    if (!take(point)) {
      return kNoRatio;
    }
    const std::vector<double> gradient = mean_of_workers(now_.gradients);
    const std::vector<double> missed = mean_of_workers(now_.residuals);
    std::vector<double> model = now_.model;
    for (std::size_t j = 0; j < model.size(); ++j) {
      model[j] -= now_.step * (gradient[j] - missed[j]);
    }
    set_gradients(model, next_);
    for (std::size_t at = 0; at < next_.size(); ++at) {
      now_.accumulators[at] = next_[at] - now_.gradients[at] + now_.residuals[at];
    }
    const StepQuantities& after = step_.on(now_.accumulators);
    now_.ratio = problem_.root() * norm_sq<double>(mean_of_workers(next_)) +
                 after.get(Column::residual_norm_sq).value_or(0);  // V is 1 before
    if (now_.ratio > largest_) {
      largest_ = now_.ratio;
      worst_ = now_;
    }
    return now_.ratio;
  }

  const WorstIteration& worst() const { return worst_; }

 private:
  /// Sets matrices, and x and the c_p so that V/P = 1. False for V = 0.
  bool take(std::span<const double> point) {
    const std::size_t d = now_.model.size();
    const std::size_t all = now_.residuals.size();
    const std::size_t of_each = numbers_of_curvature(d);
    for (std::size_t p = 0; p < curvatures_.size(); ++p) {
      set_curvature(point.subspan(d + all + p * of_each, of_each),
                    problem_.strong_convexity,
                    d,
                    {curvatures_[p].data(), d * d});
    }
    std::copy_n(point.begin(), d, now_.model.begin());
    std::copy_n(point.subspan(d).begin(), all, now_.residuals.begin());
    set_gradients(now_.model, now_.gradients);
    const double value = problem_.root() * norm_sq<double>(mean_of_workers(now_.gradients)) +
                         norm_sq<double>(now_.residuals) / search_.workers;
    const double scale = 1 / std::sqrt(value);
    if (!std::isfinite(scale)) {
      return false;
    }
    for (auto* vectors : {&now_.model, &now_.residuals, &now_.gradients}) {
      for (double& number : *vectors) {
        number *= scale;
      }
    }
    return true;
  }

  void set_gradients(const std::vector<double>& model, std::vector<double>& gradients) const {
    const auto d = static_cast<Eigen::Index>(model.size());
    for (std::size_t p = 0; p < curvatures_.size(); ++p) {
      Eigen::Map<Eigen::VectorXd>(gradients.data() + p * model.size(), d) =
          curvatures_[p] * Eigen::Map<const Eigen::VectorXd>(model.data(), d);
    }
  }

  std::vector<double> mean_of_workers(const std::vector<double>& vectors) const {
    std::vector<double> mean(now_.model.size());
    for (std::size_t at = 0; at < vectors.size(); ++at) {
      mean[at % mean.size()] += vectors[at] / search_.workers;
    }
    return mean;
  }

  TightSearch search_;
  CompressedProblem problem_;
  OneStep step_;
  std::vector<Eigen::MatrixXd> curvatures_;
  WorstIteration now_;
  WorstIteration worst_;
  double largest_ = kNoRatio;
  std::vector<double> next_;  // grad f_p(x')
};

/// Ascends from random starts.
template <class Iteration>
WorstIteration worst_of(Iteration& iteration, const TightSearch& search) {
  constexpr std::uint64_t kFewestRestarts = 8;
  const auto ascend_once = [&](std::uint64_t restart, std::uint64_t most) {
    RandomStream random(search.seed, Purpose::falsify, 1, static_cast<std::uint32_t>(restart));
    Budgeted function([&](std::span<const double> point) { return iteration(point); }, most);
    Candidate start;
    start.x.resize(iteration.numbers());
    for (double& number : start.x) {
      number = random.normal();
    }
    start.value = function(start.x);
    ascend(function, random, {}, start);
    return most - function.left();
  };
  const SearchEffort effort = with_restarts(search.evaluations, kFewestRestarts, ascend_once);
  WorstIteration worst = iteration.worst();
  worst.evaluations = effort.evaluations;
  worst.restarts = effort.restarts;
  return worst;
}

}  // namespace

WorstIteration falsify_rate(const Method& method, const TightSearch& search) {
  if (search.estimates) {
    OneEstimateIteration iteration(method, search);
    return worst_of(iteration, search);
  }
  OneIteration iteration(method, search);
  return worst_of(iteration, search);
}

}  // namespace residuum
