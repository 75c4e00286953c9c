// A gradient g of an L-smooth, mu-strongly convex f_p with the minimiser 0 is any vector with
//   <g - mu x, L x - g> >= 0,
// the ball around (L + mu)/2 x of radius (L - mu)/2 |x|: this is what the two interpolation
// conditions of such functions say of one point and the minimiser (Taylor, Hendrickx, Glineur,
// Math. Program. 2017, theorem 4). So the search is over x, the e_p and a point u_p of the unit
// ball for each worker, (2P + 1) d numbers, without constraints: u outside of the ball is put on
// its surface.
//
// EF21 looks at f_p in two points, x and x' = x - eta mean g_p. There the search is over
// quadratics: x, the eigenvalues and angles of each A_p (tight_runs.h) and what each estimate
// misses, d + P (d(d + 1)/2 + d) numbers. Quadratics attain rho* (arXiv:2605.31594). With c_p =
// grad f_p(x) - g_p,
//   V/P = s |mean A_p x|^2 + mean |c_p|^2,  V'/P = s |mean A_p x'|^2 + mean |e_p|^2,
// where e_p is what the exchange leaves of a_p = A_p x' - A_p x + c_p.
//
// Ascents begin at the states that given runs come to, then at random ones. Every second of those
// is at first among mirrored workers: x_0 = 0, and workers 2i and 2i + 1 have all numbers in common
// but the signs of their first entries. There these cancel exactly in the sum.

#include "assumptions/falsify/tight_search.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include "assumptions/falsify/maximise.h"
#include "assumptions/falsify/tight_runs.h"
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

/// Scales vectors by a power of two, so that nothing is rounded and what cancels cancels still.
/// `value` is that of V/P, and becomes about 1. False if there is no such scale.
bool normalise(std::initializer_list<std::vector<double>*> vectors, double& value) {
  if (!(value > 0) || !std::isfinite(value)) {
    return false;
  }
  const int power = -std::ilogb(std::sqrt(value));
  for (auto* vector : vectors) {
    for (double& number : *vector) {
      number = std::ldexp(number, power);
    }
  }
  value = std::ldexp(value, 2 * power);
  return value > 0 && std::isfinite(value);
}

/// Lists the numbers of a point that mirrored workers leave free: blocks of `of_each` numbers for
/// each worker begin at the `begins`, behind x.
class Mirror {
 public:
  struct Block {
    std::size_t begin = 0;
    std::size_t of_each = 0;
    bool is_curvature = false;  // the signs are of angles
  };

  Mirror(std::size_t dimension, int workers, std::vector<Block> blocks)
      : dimension_(dimension),
        workers_(static_cast<std::size_t>(workers)),
        blocks_(std::move(blocks)) {
    for (std::size_t j = 1; j < dimension_; ++j) {
      free_.push_back(j);
    }
    for (const Block& block : blocks_) {
      for (std::size_t p = 0; p < workers_; p += 2) {
        for (std::size_t j = 0; j < block.of_each; ++j) {
          free_.push_back(block.begin + p * block.of_each + j);
        }
      }
    }
  }

  std::size_t free_numbers() const { return free_.size(); }

  /// Sets all numbers of a point by the free ones.
  void expand(std::span<const double> free, std::vector<double>& point) const {
    point[0] = 0;
    for (std::size_t i = 0; i < free.size(); ++i) {
      point[free_[i]] = free[i];
    }
    for (const Block& block : blocks_) {
      for (std::size_t p = 1; p < workers_; p += 2) {
        const auto own = std::span(point).subspan(block.begin + p * block.of_each, block.of_each);
        std::copy_n(own.data() - block.of_each, block.of_each, own.begin());
        reverse(block, own);
      }
    }
  }

 private:
  void reverse(const Block& block, std::span<double> own) const {
    if (!block.is_curvature) {
      own[0] = -own[0];
      return;
    }
    std::size_t angle = dimension_;
    for (std::size_t i = 1; i < dimension_; ++i) {  // of the planes (i, 0)
      own[angle] = -own[angle];
      angle += i;
    }
  }

  std::size_t dimension_;
  std::size_t workers_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> free_;
};

class OneIteration {
 public:
  OneIteration(const Method& method, const TightSearch& search)
      : search_(search),
        problem_(problem_of(search)),
        step_(method, search.workers, search.dimension, {"residual"}) {
    set_up(search, problem_, now_);
  }

  std::size_t numbers() const { return now_.model.size() + 2 * now_.residuals.size(); }

  Mirror mirror() const {
    const std::size_t d = now_.model.size();
    return {d,
            search_.workers,
            {{.begin = d, .of_each = d}, {.begin = d + now_.residuals.size(), .of_each = d}}};
  }

  /// V'/V at x, the e_p and the u_p, one after the other.
  double operator()(std::span<const double> point) {
    take(point);
    return judge();
  }

  /// Repeats a run up to its worst iteration; returns the point of that.
  std::vector<double> point_of(const WorstRun& run) {
    step_.keep_residuals();
    now_.model = run.start;
    std::fill(now_.residuals.begin(), now_.residuals.end(), 0);
    for (std::uint64_t t = 0; t <= run.largest_at; ++t) {
      if (t > 0) {
        now_.model = next_;
        now_.residuals = after_->residuals;
      }
      set_gradients(run.matrices);
      judge();
    }
    return point_of_now();
  }

  const WorstIteration& worst() const { return worst_; }

 private:
  /// Takes x, the e_p and the gradients of a point.
  void take(std::span<const double> point) {
    const std::size_t d = now_.model.size();
    const std::size_t all = now_.residuals.size();
    std::copy_n(point.begin(), d, now_.model.begin());
    std::copy_n(point.subspan(d).begin(), all, now_.residuals.begin());
    const double radius = reach();
    for (std::size_t at = 0; at < all; at += d) {
      const auto u = point.subspan(d + all + at, d);
      const double length = radius / std::max(1.0, std::sqrt(norm_sq<double>(u)));
      for (std::size_t j = 0; j < d; ++j) {
        now_.gradients[at + j] = centre() * now_.model[j] + length * u[j];
      }
    }
  }

  double centre() const { return (1 + problem_.strong_convexity) / 2; }
  double reach() const {
    return (1 - problem_.strong_convexity) / 2 * std::sqrt(norm_sq<double>(now_.model));
  }

  /// The inverse of `take`, but for rounding.
  std::vector<double> point_of_now() const {
    std::vector<double> point(numbers());
    const std::size_t d = now_.model.size();
    const std::size_t all = now_.residuals.size();
    std::copy(now_.model.begin(), now_.model.end(), point.begin());
    std::copy_n(now_.residuals.begin(), all, point.begin() + static_cast<std::ptrdiff_t>(d));
    for (std::size_t at = 0; at < all; ++at) {
      point[d + all + at] = (now_.gradients[at] - centre() * now_.model[at % d]) / reach();
    }
    return point;
  }

  void set_gradients(const std::vector<double>& matrices) {
    const auto d = static_cast<Eigen::Index>(now_.model.size());
    const Eigen::Map<const Eigen::VectorXd> x(now_.model.data(), d);
    for (Eigen::Index p = 0; p < search_.workers; ++p) {
      const Eigen::Map<const Eigen::MatrixXd> matrix(matrices.data() + p * d * d, d, d);
      Eigen::Map<Eigen::VectorXd>(now_.gradients.data() + p * d, d) = matrix * x;
    }
  }

  /// V'/V of the state; scales it.
  double judge() {
    double before = value_before();
    if (!normalise({&now_.model, &now_.residuals, &now_.gradients}, before)) {
      return kNoRatio;
    }
    for (std::size_t at = 0; at < now_.accumulators.size(); ++at) {
      now_.accumulators[at] = now_.residuals[at] + now_.step * now_.gradients[at];
    }
    after_ = &step_.on(now_.accumulators);
    StateNorms norms{.residuals = after_->get(Column::residual_norm_sq).value_or(0)};
    const auto workers = static_cast<double>(search_.workers);
    next_ = now_.model;
    for (std::size_t at = 0; at < after_->update.size(); ++at) {
      next_[after_->update.indices[at]] -= after_->update.values[at] / workers;
    }
    for (std::size_t j = 0; j < next_.size(); ++j) {
      const double e_j = after_->mean_residual[j];
      norms.mean_residual += e_j * e_j;
      norms.corrected += (next_[j] - e_j) * (next_[j] - e_j);
    }
    now_.ratio = norms.value(problem_.root()) / before;
    if (now_.ratio > largest_) {
      largest_ = now_.ratio;
      worst_ = now_;
    }
    return now_.ratio;
  }

  /// V/P of x and the e_p.
  double value_before() const {
    const std::size_t d = now_.model.size();
    const auto workers = static_cast<double>(search_.workers);
    StateNorms norms;
    for (std::size_t j = 0; j < d; ++j) {
      double mean = 0;
      for (std::size_t at = j; at < now_.residuals.size(); at += d) {
        const double e_j = now_.residuals[at];
        mean += e_j / workers;
        norms.residuals += e_j * e_j / workers;
      }
      norms.mean_residual += mean * mean;
      norms.corrected += (now_.model[j] - mean) * (now_.model[j] - mean);
    }
    return norms.value(problem_.root());
  }

  TightSearch search_;
  CompressedProblem problem_;
  OneStep step_;
  WorstIteration now_;
  WorstIteration worst_;
  double largest_ = kNoRatio;  // of the states looked at
  std::vector<double> next_;   // x'
  const StepQuantities* after_ = nullptr;
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

  Mirror mirror() const {
    const std::size_t d = now_.model.size();
    return {d,
            search_.workers,
            {{.begin = d, .of_each = d},
             {.begin = d + now_.residuals.size(),
              .of_each = numbers_of_curvature(d),
              .is_curvature = true}}};
  }

  /// V'/V at x, the c_p and the A_p, one after the other.
  double operator()(std::span<const double> point) {
    take(point);
    return judge();
  }

  /// Repeats a run up to its worst iteration; returns the point of that. Its estimates begin with
  /// the first exchange, of whole gradients.
  std::vector<double> point_of(const WorstRun& run) {
    step_.keep_residuals();
    const std::size_t d = now_.model.size();
    const std::size_t all = now_.residuals.size();
    std::vector<double> point(numbers());
    std::copy(run.numbers.begin() + static_cast<std::ptrdiff_t>(d),
              run.numbers.end(),
              point.begin() + static_cast<std::ptrdiff_t>(d + all));
    take(point);
    now_.model = run.start;
    set_gradients(now_.model, now_.gradients);
    now_.residuals = step_.on(now_.gradients).residuals;
    for (std::uint64_t t = 0; t <= run.largest_at; ++t) {
      if (t > 0) {
        now_.model = moved_;
        now_.residuals = after_->residuals;
      }
      judge();
    }
    std::copy(now_.model.begin(), now_.model.end(), point.begin());
    std::copy_n(now_.residuals.begin(), all, point.begin() + static_cast<std::ptrdiff_t>(d));
    return point;
  }

  const WorstIteration& worst() const { return worst_; }

 private:
  /// Sets matrices, x and the c_p.
  void take(std::span<const double> point) {
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
  }

  /// V'/V of the state; scales it.
  double judge() {
    set_gradients(now_.model, now_.gradients);
    double before = problem_.root() * norm_sq<double>(mean_of_workers(now_.gradients)) +
                    norm_sq<double>(now_.residuals) / search_.workers;
    if (!normalise({&now_.model, &now_.residuals, &now_.gradients}, before)) {
      return kNoRatio;
    }
    const std::vector<double> gradient = mean_of_workers(now_.gradients);
    const std::vector<double> missed = mean_of_workers(now_.residuals);
    moved_ = now_.model;
    for (std::size_t j = 0; j < moved_.size(); ++j) {
      moved_[j] -= now_.step * (gradient[j] - missed[j]);
    }
    set_gradients(moved_, next_);
    for (std::size_t at = 0; at < next_.size(); ++at) {
      now_.accumulators[at] = next_[at] - now_.gradients[at] + now_.residuals[at];
    }
    after_ = &step_.on(now_.accumulators);
    now_.ratio = (problem_.root() * norm_sq<double>(mean_of_workers(next_)) +
                  after_->get(Column::residual_norm_sq).value_or(0)) /
                 before;
    if (now_.ratio > largest_) {
      largest_ = now_.ratio;
      worst_ = now_;
    }
    return now_.ratio;
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
  std::vector<double> moved_;  // x'
  std::vector<double> next_;   // grad f_p(x')
  const StepQuantities* after_ = nullptr;
};

std::vector<double> random_numbers(std::size_t count, RandomStream& random) {
  std::vector<double> numbers(count);
  for (double& number : numbers) {
    number = random.normal();
  }
  return numbers;
}

/// Ascends among mirrored workers, with half of the calls; returns the best point.
template <class Iteration>
std::vector<double> mirrored_start(Iteration& iteration,
                                   std::uint64_t& left,
                                   RandomStream& random) {
  const Mirror mirror = iteration.mirror();
  std::vector<double> point(iteration.numbers());
  const std::uint64_t most = (left + 1) / 2;
  Budgeted function(
      [&](std::span<const double> free) {
        mirror.expand(free, point);
        return iteration(point);
      },
      most);
  Candidate best{.x = random_numbers(mirror.free_numbers(), random), .value = 0};
  best.value = function(best.x);
  ascend(function, random, {}, best);
  left -= most - function.left();
  mirror.expand(best.x, point);
  return point;
}

/// Ascends from the states of runs, then from random ones, every second of them mirrored.
template <class Iteration>
WorstIteration worst_of(Iteration& iteration,
                        const TightSearch& search,
                        std::span<const WorstRun> runs) {
  constexpr std::uint64_t kFewestRestarts = 8;
  const auto ascend_once = [&](std::uint64_t restart, std::uint64_t most) {
    RandomStream random(search.seed, Purpose::falsify, 1, static_cast<std::uint32_t>(restart));
    std::uint64_t left = most;
    Candidate start;
    if (restart < runs.size()) {
      start.x = iteration.point_of(runs[restart]);
    } else if (restart % 2 == 0 && search.workers > 1) {
      start.x = mirrored_start(iteration, left, random);
    } else {
      start.x = random_numbers(iteration.numbers(), random);
    }
    Budgeted function([&](std::span<const double> point) { return iteration(point); }, left);
    if (left > 0) {
      start.value = function(start.x);
      ascend(function, random, {}, start);
    }
    return most - function.left();
  };
  const SearchEffort effort = with_restarts(search.evaluations, kFewestRestarts, ascend_once);
  WorstIteration worst = iteration.worst();
  worst.evaluations = effort.evaluations;
  worst.restarts = effort.restarts;
  return worst;
}

}  // namespace

WorstIteration falsify_rate(const Method& method,
                            const TightSearch& search,
                            std::span<const WorstRun> runs) {
  if (search.estimates) {
    OneEstimateIteration iteration(method, search);
    return worst_of(iteration, search, runs);
  }
  OneIteration iteration(method, search);
  return worst_of(iteration, search, runs);
}

}  // namespace residuum
