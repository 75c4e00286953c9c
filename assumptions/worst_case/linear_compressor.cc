// The plane is that of the complex numbers. There f has the gradient g = lambda x, and C a = c a is
// the product with c = 1 - s e^{i angle}. The iterations of worst_rate.cc, with L = 1, are linear
// in (x, m, e, v):
//   dense       u = G,                              G = sum_{i < H} lambda (1 - h lambda)^i x
//   memoryless  u = c G
//   EF14        u = c (m + G),  m' = m + G - u
//   EF21        u = m,          m' = m + c (lambda x' - m)
//   EControl    u = m,          m' = m + c (w e + lambda x' - m),  e' = e + lambda x' - m'
// and v' = beta v + u, x' = x - h v'. In the long run |state| falls by the largest |z| of the
// eigenvalues. The compressor of the dense method is c = 1.
//
// More dimensions seem to gain nothing: searches over two curvatures and unitary matrices of two
// complex rows ended at one curvature, or at compressors that keep the two rows apart.

#include "assumptions/worst_case/linear_compressor.h"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <span>
#include <vector>

#include "assumptions/falsify/maximise.h"
#include "core/random/random.h"

namespace residuum {
namespace linear {
namespace {

using Complex = std::complex<double>;
constexpr int kParts = 4;  // x, m, e, v

/// The coefficients of one part of the state after an iteration in the parts before it.
using Row = Eigen::Matrix<Complex, 1, kParts>;
using Map = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, 0, kParts, kParts>;

struct State {
  Row x = Row::Unit(0);
  Row m = Row::Unit(1);
  Row e = Row::Unit(2);
  Row v = Row::Unit(3);
};

class Iteration {
 public:
  Iteration(const WorstRateQuestion& question, const LinearCompressor& problem)
      : question_(question),
        step_(question.step * question.problem.smoothness),
        curvature_(problem.curvature / question.problem.smoothness),
        kept_(question.method == DescentMethod::dense
                  ? Complex(1)
                  : 1.0 - std::polar(question.problem.root(), problem.angle)) {}

  State after() const {
    State state;
    switch (question_.method) {
      case DescentMethod::dense:
      case DescentMethod::memoryless:
        move(kept_ * gradients(state.x), state);
        break;
      case DescentMethod::ef14: {
        const Row all = state.m + gradients(state.x);
        move(kept_ * all, state);
        state.m = all - kept_ * all;
        break;
      }
      case DescentMethod::ef21:
        move(Row(state.m), state);
        state.m += kept_ * (curvature_ * state.x - state.m);
        break;
      case DescentMethod::econtrol: {
        move(Row(state.m), state);
        const Row gradient = curvature_ * state.x;
        state.m += kept_ * (question_.error_weight * state.e + gradient - state.m);
        state.e += gradient - state.m;
        break;
      }
    }
    return state;
  }

 private:
  Row gradients(Row x) const {
    Row sum = curvature_ * x;
    for (int i = 1; i < question_.local_steps; ++i) {
      x -= step_ * curvature_ * x;
      sum += curvature_ * x;
    }
    return sum;
  }

  void move(const Row& update, State& state) const {
    state.v = question_.momentum.value_or(0) * state.v + update;
    state.x -= step_ * state.v;
  }

  WorstRateQuestion question_;
  double step_;
  double curvature_;
  Complex kept_;
};

/// Returns the places of the parts that the method has.
std::vector<int> parts_of(const WorstRateQuestion& question) {
  std::vector<int> parts{0};
  if (question.method >= DescentMethod::ef14) {
    parts.push_back(1);
  }
  if (question.method == DescentMethod::econtrol) {
    parts.push_back(2);
  }
  if (question.momentum) {
    parts.push_back(3);
  }
  return parts;
}

/// A search over numbers: -1 stands for the curvature mu and 1 for L, and 0 and 1 for the angles 0
/// and pi. A number outside its range counts as the nearest end of it.
class Search {
 public:
  explicit Search(const WorstRateQuestion& question) : question_(question) {}

  LinearCompressor at(std::span<const double> numbers) const {
    const CompressedProblem& problem = question_.problem;
    const double share = (std::clamp(numbers[0], -1.0, 1.0) + 1) / 2;
    LinearCompressor made{
        .curvature = share * problem.smoothness + (1 - share) * problem.strong_convexity,
        .angle = std::numbers::pi * std::clamp(numbers[1], 0.0, 1.0)};
    made.rate = rate_on(question_, made);
    return made;
  }

  /// Returns the best of the angles at a curvature, and what an ascent from there finds.
  Candidate ascended(double curvature, RandomStream& random) const {
    constexpr std::uint64_t kAscent = 300;
    const auto angles = shares_of_angle();
    Budgeted function([this](std::span<const double> numbers) { return at(numbers).rate; },
                      angles.size() + kAscent);
    Candidate best;
    for (const double angle : angles) {
      Candidate one{.x = {curvature, angle}, .value = 0};
      one.value = function(one.x);
      if (best.x.empty() || one.value > best.value) {
        best = std::move(one);
      }
    }
    ascend(function, random, {.first_step = 0.01, .least_step = 1e-9, .simplex = 1e-3}, best);
    return best;
  }

 private:
  /// From 0 to 1: even, and many close to both ends, where the worst often lies.
  static std::vector<double> shares_of_angle() {
    constexpr int kEven = 100;
    constexpr int kClose = 20;
    std::vector<double> shares;
    for (int i = 0; i <= kEven; ++i) {
      shares.push_back(static_cast<double>(i) / kEven);
    }
    for (int i = 0; i < kClose; ++i) {
      const double share = std::pow(10, -2 - 0.2 * i);
      shares.push_back(share);
      shares.push_back(1 - share);
    }
    return shares;
  }

  WorstRateQuestion question_;
};

}  // namespace
}  // namespace linear

double rate_on(const WorstRateQuestion& question, const LinearCompressor& problem) {
  const linear::State after = linear::Iteration(question, problem).after();
  const auto parts = linear::parts_of(question);
  const auto size = static_cast<Eigen::Index>(parts.size());
  linear::Map map(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    const std::array rows{&after.x, &after.m, &after.e, &after.v};
    for (Eigen::Index j = 0; j < size; ++j) {
      map(i, j) = (*rows[static_cast<std::size_t>(parts[static_cast<std::size_t>(i)])])(
          parts[static_cast<std::size_t>(j)]);
    }
  }
  const Eigen::ComplexEigenSolver<linear::Map> solver(map, false);
  return solver.eigenvalues().cwiseAbs2().maxCoeff();
}

LinearCompressor slowest_linear(const WorstRateQuestion& question) {
  check_question(question);
  const linear::Search search(question);
  RandomStream random(1, Purpose::falsify, 4, 0);
  LinearCompressor slowest;
  for (const double curvature : {-1.0, -0.9, -0.5, 0.0, 0.5, 0.9, 1.0}) {
    const Candidate best = search.ascended(curvature, random);
    if (best.value > slowest.rate) {
      slowest = search.at(best.x);
    }
  }
  return slowest;
}

}  // namespace residuum
