#include "assumptions/falsify/tight_runs.h"

#include <Eigen/Core>
#include <Eigen/Jacobi>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include "assumptions/falsify/maximise.h"
#include "assumptions/monitor.h"
#include "core/schedules/tight_rate.h"
#include "core/vectors/dense.h"

namespace residuum {

std::size_t numbers_of_curvature(std::size_t dimension) { return dimension * (dimension + 1) / 2; }

void set_curvature(std::span<const double> numbers,
                   double least,
                   std::size_t dimension,
                   std::span<double> entries) {
  const auto d = static_cast<Eigen::Index>(dimension);
  Eigen::Map<Eigen::MatrixXd> matrix(entries.data(), d, d);
  matrix.setZero();
  for (Eigen::Index i = 0; i < d; ++i) {
    const double place = std::clamp(numbers[static_cast<std::size_t>(i)], -1.0, 1.0);
    matrix(i, i) = least + (1 - least) * (1 + place) / 2;
  }
  auto angle = static_cast<std::size_t>(d);
  for (Eigen::Index i = 0; i < d; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      const Eigen::JacobiRotation<double> rotation(std::cos(numbers[angle]),
                                                   std::sin(numbers[angle]));
      matrix.applyOnTheLeft(i, j, rotation);
      matrix.applyOnTheRight(i, j, rotation.transpose());
      ++angle;
    }
  }
  matrix = (0.5 * (matrix + matrix.transpose())).eval();  // symmetric to the last bit
}

// The search is over the eigenvalues and the angles of each A_p (tight_runs.h) and over w_0, d + P
// d(d + 1)/2 numbers, without constraints.
//
// Every second ascent starts from workers in mirrored pairs, A_{p+1} = D A_p D with D = diag(-1, 1,
// ..., 1), near a w_0 that D leaves as it is. There the first entries of a pair's gradients cancel:
// a merge that compares sums never applies them, while they fill the messages of both. Copies of a
// problem tell what rests on that alone: w_0 of norm 1, the lambda and the angles are moved by a
// size times normal numbers, which are the same for all problems.

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kNoRun = -std::numeric_limits<double>::infinity();

/// The quadratics of one evaluation. Gradients are computed as objectives/matrix_quadratic.cc does,
/// so that a study repeats them to the last bit.
class GivenQuadratics final : public Objective {
 public:
  GivenQuadratics(int workers, std::size_t dimension)
      : matrices_(static_cast<std::size_t>(workers),
                  MatrixXd::Zero(static_cast<Eigen::Index>(dimension),
                                 static_cast<Eigen::Index>(dimension))),
        start_(dimension) {}

  MatrixXd& matrix(std::size_t worker) { return matrices_[worker]; }
  const MatrixXd& matrix(std::size_t worker) const { return matrices_[worker]; }
  std::vector<double>& start() { return start_; }

  std::size_t dimension() const override { return start_.size(); }
  std::size_t samples() const override { return 0; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override { return {}; }
  Facts facts() const override { return {}; }
  void initial_point(std::uint64_t /*seed*/, std::span<double> w) const override {
    std::copy(start_.begin(), start_.end(), w.begin());
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const float> w,
                           std::span<float> gradient) const override {
    gradient_at(draw.worker, w, gradient);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    gradient_at(draw.worker, w, gradient);
  }
  double evaluate(int /*worker*/,
                  int /*workers*/,
                  std::span<const std::uint32_t> /*shard*/,
                  const Point& /*at*/,
                  std::span<double> /*gradient*/) const override {
    return 0;
  }
  std::optional<TestResult> test(const Point& /*at*/) const override { return std::nullopt; }

 private:
  template <class Real>
  void gradient_at(int worker, std::span<const Real> w, std::span<Real> gradient) const {
    const VectorXd wide = Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>(
                              w.data(), static_cast<Eigen::Index>(w.size()))
                              .template cast<double>();
    const VectorXd slope = matrices_[static_cast<std::size_t>(worker)] * wide;
    std::transform(slope.begin(), slope.end(), gradient.begin(), [](double g) {
      return static_cast<Real>(g);
    });
  }

  std::vector<MatrixXd> matrices_;
  std::vector<double> start_;
};

/// Keeps V/P of every iteration.
class LyapunovValues final : public Recorder {
 public:
  /// V before the first iteration; absent for estimates, which begin with the first.
  void begin(std::optional<double> value) {
    values_.clear();
    if (value) {
      values_.push_back(*value);
    }
  }
  void write(const Row& row, const std::vector<Check>& /*checks*/) override {
    values_.push_back(row.get(Column::lyapunov).value_or(0));
  }
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;  // V_0, V_1, ..., over P
};

/// The mean factor from iteration `first` to `last`.
double mean_factor(const std::vector<double>& values, std::size_t first, std::size_t last) {
  return std::exp((std::log(values[last]) - std::log(values[first])) /
                  static_cast<double>(last - first));
}

class SearchedRun {
 public:
  SearchedRun(Method method, const RunSearch& search)
      : search_(search),
        problem_({.smoothness = 1,
                  .strong_convexity = 1 / search.condition,
                  .contraction = search.contraction}),
        method_(std::move(method)),
        world_(make_single_process()),
        cluster_(*world_, search.workers),
        objective_(search.workers, search.dimension) {
    method_.step_rule = make_step_rule(
        Section("step", nlohmann::json{{"rule", "constant"}, {"value", tight_step(problem_)}}), {});
    training_.objective = &objective_;
    training_.method = &method_;
    training_.cluster = &cluster_;
    training_.precision = Precision::float64;
    training_.plan.measured = Cadence(1, "every", 1);
    training_.plan.follows_iterate = false;
    training_.plan.mean_accumulator = false;
    training_.plan.lyapunov = true;
    training_.minimizer.assign(search.dimension, 0);
    training_.lyapunov =
        LyapunovFacts{.root = problem_.root(), .smoothness = 1, .rate = std::nullopt};
    worst_.rate = tight_rate(problem_);
    worst_.step = tight_step(problem_);
    worst_.ratio = kNoRun;
    worst_.estimates = method_.feedback->estimates();
  }

  std::size_t numbers() const {
    const std::size_t d = search_.dimension;
    return d + static_cast<std::size_t>(search_.workers) * numbers_of_curvature(d);
  }

  /// The least ratio of the problem and its copies.
  double operator()(std::span<const double> point) {
    double ratio = ratio_at(point);
    for (std::uint32_t copy = 0; copy < search_.nearby.size() && std::isfinite(ratio); ++copy) {
      ratio = std::min(ratio, ratio_at(moved(point, search_.nearby[copy], copy)));
    }
    if (std::isfinite(ratio) && (best_.empty() || ratio > worst_.ratio)) {
      worst_.ratio = ratio;
      best_.assign(point.begin(), point.end());
    }
    return ratio;
  }

  /// Returns the worst run, with what it does over ten times its iterations.
  WorstRun worst() {
    const std::size_t n = search_.steps;
    take(best_);
    const auto& values = values_of(10 * n);
    worst_.average = average(first(n));
    std::tie(worst_.largest, worst_.largest_at) = largest(first(n));
    worst_.later = later(values);
    worst_.start = objective_.start();
    worst_.numbers = best_;
    for (std::size_t p = 0; p < static_cast<std::size_t>(search_.workers); ++p) {
      const MatrixXd& matrix = objective_.matrix(p);
      worst_.matrices.insert(worst_.matrices.end(), matrix.data(), matrix.data() + matrix.size());
    }
    look_nearby();
    return worst_;
  }

 private:
  /// V_{t+1}/V_t or its mean over a run, as the search wants; -inf where there is none.
  double ratio_at(std::span<const double> point) {
    if (!take(point)) {
      return kNoRun;
    }
    const double ratio = sought_of(values_of(search_.steps));
    if (!std::isfinite(ratio)) {
      return kNoRun;
    }
    return ratio;
  }

  double sought_of(const std::vector<double>& values) const {
    if (search_.ratio == RunRatio::largest) {
      return largest(values).first;
    }
    return average(values);
  }

  /// Moves a problem by `size`, in a direction that depends on `copy` alone.
  std::vector<double> moved(std::span<const double> point, double size, std::uint32_t copy) const {
    RandomStream random(search_.seed, Purpose::falsify, 3, copy);
    const std::size_t d = search_.dimension;
    const std::size_t of_each = numbers_of_curvature(d);
    const double norm = std::sqrt(norm_sq<double>(point.first(d)));
    std::vector<double> copied(point.begin(), point.end());
    for (std::size_t at = 0; at < copied.size(); ++at) {
      if (at < d) {
        copied[at] /= norm;
      } else if ((at - d) % of_each < d) {
        copied[at] = std::clamp(copied[at], -1.0, 1.0);  // where a lambda ends
      }
      copied[at] += size * random.normal();
    }
    return copied;
  }

  /// Takes the least of the worst run and of copies that the search has not seen.
  void look_nearby() {
    constexpr std::uint32_t kCopies = 16;  // of each size
    auto copy = static_cast<std::uint32_t>(search_.nearby.size());
    if (copy > 0) {
      worst_.nearby_later = worst_.later;
    }
    for (std::uint32_t seen = 0; seen < search_.nearby.size(); ++seen) {
      const double size = search_.nearby[seen];
      for (std::uint32_t fresh = 0; fresh < kCopies; ++fresh) {
        worst_.ratio = std::min(worst_.ratio, ratio_at(moved(best_, size, copy++)));
      }
      take(moved(best_, size, seen));
      const auto of_copy = later(values_of(10 * search_.steps));
      worst_.nearby_later = of_copy && worst_.nearby_later
                                ? std::optional(std::min(*of_copy, *worst_.nearby_later))
                                : std::nullopt;
    }
  }

  /// The least V that factors are taken of: squares of entries are far above the least double. The
  /// model moves by a running mean of the estimates, in which rounding errors of the start stay, of
  /// a roundoff of 1e-16: there it is so small a part of V_0 that they change no factor by 1e-4.
  double least(const std::vector<double>& values) const {
    return worst_.estimates ? 1e-20 * values.front() : 1e-250;
  }

  /// The mean factor of the searched iterations. Estimates whose V comes to rounding before have
  /// fallen fast: theirs is from the start until then.
  double average(const std::vector<double>& values) const {
    std::size_t last = search_.steps;
    if (!worst_.estimates || values[last] > least(values)) {
      return mean_factor(values, search_.skip, last);
    }
    while (last > 1 && !(values[last] > least(values))) {
      --last;
    }
    return mean_factor(values, 0, last);
  }

  /// The largest factor of one iteration, and the iteration. Factors of vanished V are left out.
  std::pair<double, std::uint64_t> largest(const std::vector<double>& values) const {
    std::pair<double, std::uint64_t> found{0, 0};
    for (std::size_t t = 0; t + 1 < values.size(); ++t) {
      if (values[t] > least(values) && values[t + 1] / values[t] > found.first) {
        found = {values[t + 1] / values[t], t};
      }
    }
    return found;
  }

  /// V_0 to V_n of the run before.
  std::vector<double> first(std::size_t n) const {
    const auto& values = values_.values();
    return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n + 1)};
  }

  /// The mean factor behind the searched iterations, of estimates over as many of them at least.
  std::optional<double> later(const std::vector<double>& values) const {
    const std::size_t fewest = worst_.estimates ? 2 * search_.steps : search_.steps + 1;
    std::size_t last = values.size() - 1;
    while (last >= fewest && !(values[last] > least(values))) {
      --last;
    }
    return last >= fewest ? std::optional(mean_factor(values, search_.steps, last)) : std::nullopt;
  }

  const std::vector<double>& values_of(std::uint64_t iterations) {
    training_.iterations = iterations + (worst_.estimates ? 1 : 0);
    values_.begin(worst_.estimates ? std::nullopt
                                   : std::optional(norm_sq<double>(objective_.start())));
    Monitor monitor(make_probes({"lyapunov"}, "a run"), values_, [](auto, auto) {});
    train(training_, monitor);
    return values_.values();
  }

  /// Sets start and matrices. False for a start of 0.
  bool take(std::span<const double> point) {
    const std::size_t d = search_.dimension;
    const double norm = std::sqrt(norm_sq<double>(point.first(d)));
    if (!(norm > 0) || !std::isfinite(norm)) {
      return false;
    }
    std::transform(point.begin(),
                   point.begin() + static_cast<std::ptrdiff_t>(d),
                   objective_.start().begin(),
                   [norm](double x) { return x / norm; });
    const std::size_t of_each = numbers_of_curvature(d);
    for (std::size_t p = 0; p < static_cast<std::size_t>(search_.workers); ++p) {
      set_curvature(point.subspan(d + p * of_each, of_each),
                    problem_.strong_convexity,
                    d,
                    {objective_.matrix(p).data(), d * d});
    }
    return true;
  }

  RunSearch search_;
  CompressedProblem problem_;
  Method method_;
  std::unique_ptr<World> world_;
  Cluster cluster_;
  GivenQuadratics objective_;
  Training training_;
  LyapunovValues values_;
  std::vector<double> best_;
  WorstRun worst_;
};

/// Turns every second worker into the mirror image of the one before: rotations in the planes of
/// the first axis go the other way. A worker without a partner is its own image. Eigenvalues are
/// mu or 1.
void mirror_pairs(const RunSearch& search, RandomStream& random, std::vector<double>& numbers) {
  constexpr double kFurthest = 6;  // powers of ten by which w_0 is nearer to the mirror
  const std::size_t d = search.dimension;
  const std::size_t of_each = numbers_of_curvature(d);
  const auto workers = static_cast<std::size_t>(search.workers);
  numbers[0] *= std::pow(10, -kFurthest * random.uniform());
  for (std::size_t p = 0; p < workers; ++p) {
    const auto own = std::span(numbers).subspan(d + p * of_each, of_each);
    if (p % 2 == 1) {
      std::copy(own.begin() - static_cast<std::ptrdiff_t>(of_each), own.begin(), own.begin());
    }
    std::for_each(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(d), [](double& number) {
      number = std::copysign(1, number);
    });
    const bool is_alone = p % 2 == 0 && p + 1 == workers;
    std::size_t angle = d;
    for (std::size_t i = 1; i < d; ++i) {  // of the planes (i, 0)
      own[angle] = p % 2 == 1 ? -own[angle] : own[angle] * (is_alone ? 0 : 1);
      angle += i;
    }
  }
}

/// Returns the best of several random problems, all of them of mirrored pairs or none.
Candidate first_run(Budgeted& function,
                    const RunSearch& search,
                    std::size_t numbers,
                    bool is_mirrored,
                    RandomStream& random) {
  constexpr int kDraws = 32;
  Candidate best{.x = {}, .value = kNoRun};
  for (int drawn = 0; drawn < kDraws && function.left() > 0; ++drawn) {
    Candidate one{.x = std::vector<double>(numbers), .value = 0};
    for (double& number : one.x) {
      number = random.normal();
    }
    if (is_mirrored) {
      mirror_pairs(search, random, one.x);
    }
    one.value = function(one.x);
    if (best.x.empty() || one.value > best.value) {
      best = std::move(one);
    }
  }
  return best;
}

/// Ascends from a random problem; returns how many evaluations it used.
std::uint64_t ascend_run(SearchedRun& run,
                         const RunSearch& search,
                         bool is_mirrored,
                         RandomStream& random,
                         std::uint64_t most) {
  Budgeted function([&](std::span<const double> point) { return run(point); }, most);
  Candidate start = first_run(function, search, run.numbers(), is_mirrored, random);
  ascend(function, random, {.least_step = 1e-6, .simplex = 0.05}, start);
  return most - function.left();
}

}  // namespace

WorstRun falsify_runs(const Method& method, const RunSearch& search) {
  constexpr std::uint64_t kFewestRestarts = 4;
  SearchedRun run(method, search);
  const SearchEffort effort = with_restarts(
      search.evaluations, kFewestRestarts, [&](std::uint64_t restart, std::uint64_t most) {
        RandomStream random(search.seed, Purpose::falsify, 2, static_cast<std::uint32_t>(restart));
        return ascend_run(run, search, restart % 2 == 1, random, most);
      });
  WorstRun worst = run.worst();
  worst.evaluations = effort.evaluations;
  worst.restarts = effort.restarts;
  return worst;
}

}  // namespace residuum
