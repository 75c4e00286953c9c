// One iteration of a compressed method in the vectors that it is made of: the points at which f is
// looked at, the state of V before and after, and what a message may lose. worst_rate.cc has the
// formulas and the units.

#include "assumptions/worst_case/worst_rate.h"

#include <boost/multiprecision/cpp_int.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assumptions/worst_case/method_of_centres.h"
#include "core/error.h"

namespace residuum::worst_case {

/// The coefficients of a vector in those of an iteration.
template <class T>
using Combination = std::vector<T>;

template <class T>
Combination<T> operator+(Combination<T> a, const Combination<T>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] += b[i];
  }
  return a;
}

template <class T>
Combination<T> operator-(Combination<T> a, const Combination<T>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] -= b[i];
  }
  return a;
}

template <class T>
Combination<T> operator*(const T& factor, Combination<T> a) {
  for (auto& entry : a) {
    entry *= factor;
  }
  return a;
}

template <class T>
using Matrix = std::vector<std::vector<T>>;

/// A symmetric quadratic form of the vectors of an iteration.
template <class T>
class Form {
 public:
  explicit Form(std::size_t size) : entries_(size, std::vector<T>(size)) {}

  const Matrix<T>& entries() const { return entries_; }

  /// Adds weight <a, b>.
  void add(const T& weight, const Combination<T>& a, const Combination<T>& b) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      for (std::size_t j = 0; j < entries_.size(); ++j) {
        if ((a[i] != 0 && b[j] != 0) || (a[j] != 0 && b[i] != 0)) {
          entries_[i][j] += weight * (a[i] * b[j] + a[j] * b[i]) / 2;
        }
      }
    }
  }

 private:
  Matrix<T> entries_;
};

/// A point at which f is looked at, with its gradient there.
template <class T>
struct Point {
  std::string name;
  Combination<T> x;
  Combination<T> g;
};

/// The condition |lost|^2 <= (1 - alpha)|compressed|^2.
template <class T>
struct Message {
  Combination<T> compressed;
  Combination<T> lost;
};

/// The state of V is of vectors of the basis before the iteration; the last point is x'.
template <class T>
struct Iteration {
  std::size_t basis = 0;
  std::vector<Point<T>> points;
  std::vector<std::size_t> before;  // those of the points that V is of
  std::vector<std::size_t> after;   // their successors
  std::vector<std::size_t> state;   // places in the basis
  std::vector<Combination<T>> next_state;
  std::optional<Message<T>> message;
};

template <class T>
struct Constants {
  T step;          // h
  T curvature;     // q
  T lost;          // 1 - alpha
  T momentum;      // beta
  T error_weight;  // w
  T rate;          // rho
};

inline bool has_memory(DescentMethod method) {
  return method == DescentMethod::ef14 || method == DescentMethod::ef21 ||
         method == DescentMethod::econtrol;
}

/// Several workers' means and deviations fall apart. The mean of full gradients at one model is
/// the gradient of a function of the same class, and there is nothing to deviate.
inline bool has_deviations(const WorstRateQuestion& question) {
  return question.workers > 1 &&
         (question.method != DescentMethod::dense || question.local_steps > 1);
}

/// The numbers of vectors in the state of V.
inline std::size_t state_size(const WorstRateQuestion& question, bool of_deviations) {
  const std::size_t memories = has_memory(question.method) ? 1 : 0;
  const std::size_t errors = question.method == DescentMethod::econtrol ? 1 : 0;
  const std::size_t momenta = question.momentum ? 1 : 0;  // the velocity; the gradient before
  return 1 + memories + errors + momenta + (of_deviations ? 0 : 1 + momenta);
}

/// Makes the iteration of means, or of deviations. All workers share the model and the velocity,
/// which have no deviations.
template <class T>
class IterationMaker {
 public:
  IterationMaker(const WorstRateQuestion& question, const Constants<T>& constants, bool deviations)
      : question_(question), constants_(constants), is_of_deviations_(deviations) {
    const auto inner = static_cast<std::size_t>(question.local_steps - 1);
    made_.basis = state_size(question, deviations) + inner + 1 +
                  (question.method == DescentMethod::dense ? 0 : 1);
  }

  Iteration<T> make() {
    const auto x = of_model();
    const auto g = of_state();
    const auto m = has_memory(question_.method) ? of_state() : zero();
    const auto e = question_.method == DescentMethod::econtrol ? of_state() : zero();
    const auto v = question_.momentum ? of_model() : zero();
    if (question_.momentum) {
      made_.points.push_back({"x-", x + constants_.step * v, of_state()});
    }
    made_.points.push_back({"x", x, g});
    for (std::size_t i = 0; i < made_.points.size(); ++i) {
      made_.before.push_back(i);
    }
    const auto gradients = local_steps(x, g);
    const auto c = question_.method == DescentMethod::dense ? zero() : next();
    finish(x, v, exchange(gradients, m, e, c));
    return std::move(made_);
  }

 private:
  /// The memories and the model's move after an exchange, with the gradient that comes next.
  struct Exchanged {
    Combination<T> next_gradient;
    Combination<T> move;
    std::vector<Combination<T>> memories;
  };

  Combination<T> zero() const { return Combination<T>(made_.basis); }
  Combination<T> next() {
    Combination<T> unit = zero();
    unit[used_++] = T(1);
    return unit;
  }
  Combination<T> of_state() {
    made_.state.push_back(used_);
    return next();
  }
  Combination<T> of_model() { return is_of_deviations_ ? zero() : of_state(); }

  /// The sum of the H gradients that a worker takes.
  Combination<T> local_steps(Combination<T> x, const Combination<T>& g) {
    Combination<T> last = g;
    Combination<T> sum = g;
    for (int i = 1; i < question_.local_steps; ++i) {
      x = x - constants_.step * last;
      last = next();
      made_.points.push_back({"y" + std::to_string(i), x, last});
      sum = sum + last;
    }
    return sum;
  }

  Exchanged exchange(const Combination<T>& gradients,
                     const Combination<T>& m,
                     const Combination<T>& e,
                     const Combination<T>& c) {
    const auto next_g = next();
    switch (question_.method) {
      case DescentMethod::dense:
        break;
      case DescentMethod::memoryless:
        made_.message = Message<T>{gradients, gradients - c};
        return {next_g, c, {}};
      case DescentMethod::ef14:
        made_.message = Message<T>{m + gradients, m + gradients - c};
        return {next_g, c, {made_.message->lost}};
      case DescentMethod::ef21:
        made_.message = Message<T>{next_g - m, next_g - m - c};
        return {next_g, m, {m + c}};
      case DescentMethod::econtrol: {
        const auto a = constants_.error_weight * e + next_g - m;
        made_.message = Message<T>{a, a - c};
        return {next_g, m, {m + c, e + next_g - m - c}};
      }
    }
    return {next_g, gradients, {}};
  }

  void finish(const Combination<T>& x, const Combination<T>& v, const Exchanged& exchanged) {
    const auto next_v = constants_.momentum * v + exchanged.move;
    const auto next_x = is_of_deviations_ ? zero() : x - constants_.step * next_v;
    made_.after = made_.before;
    made_.after.erase(made_.after.begin());
    made_.after.push_back(made_.points.size());
    made_.points.push_back({"x'", next_x, exchanged.next_gradient});
    if (!is_of_deviations_) {
      made_.next_state.push_back(next_x);
    }
    made_.next_state.push_back(exchanged.next_gradient);
    made_.next_state.insert(
        made_.next_state.end(), exchanged.memories.begin(), exchanged.memories.end());
    if (question_.momentum) {
      if (!is_of_deviations_) {
        made_.next_state.push_back(next_v);
      }
      made_.next_state.push_back(made_.points[made_.before.back()].g);
    }
  }

  WorstRateQuestion question_;
  Constants<T> constants_;
  bool is_of_deviations_;
  std::size_t used_ = 0;
  Iteration<T> made_;
};

}  // namespace residuum::worst_case

// One iteration of a compressed method takes a state to the next. We look for the least rho with a
// function V of the state that falls to rho V in every iteration, for every L-smooth and
// mu-strongly convex f and every compressor with |C(a) - a|^2 <= (1 - alpha)|a|^2.
//
// V itself is unknown: a quadratic form in (x - x*, grad f(x), memory), plus a multiple of f - f*.
// This is how Berg Thomsen, Taylor and Dieuleveut found the rates of error feedback
// (arXiv:2506.05271, one worker; arXiv:2605.31594, several), by performance estimation with the
// interpolation conditions of Taylor, Hendrickx and Glineur (Math. Program. 2017, theorem 4).
//
// Units: L = 1, q = mu/L, h = eta L. All vectors of an iteration are combinations of a few: x (with
// x* = 0), g = grad f(x), the memories m and e, the message c, g' = grad f(x').
//   dense       u = G
//   memoryless  u = c,                 |G - c|^2 <= (1 - alpha)|G|^2
//   EF14        u = c, m' = m + G - c, |m'|^2 <= (1 - alpha)|m + G|^2     m of units 1/(eta L)
//   EF21        u = m, m' = m + c,     |g' - m'|^2 <= (1 - alpha)|g' - m|^2
//   EControl    u = m, m' = m + c, e' = e + g' - m',
//               a = w e + g' - m,      |a - c|^2 <= (1 - alpha)|a|^2
// and x' = x - h u (m and e of EControl are its h/L and e/L; core/feedback/econtrol.cc). A worker's
// G is g, or the sum of the gradients of its H local steps: at y_0 = x and y_i = y_{i-1} - h grad
// f(y_{i-1}). With the heavy ball v' = beta v + u, x' = x - h v'; there V is of v, of the gradient
// at x- = x + h v, and of f(x-), too (Taylor, Van Scoy, Lessard, ICML 2018). With h_i = 2(1 -
// q)(f_i - f*), the values at the points i, j of {*, x, x', x-, y_1, ...} belong to such an f if
// and only if for all of them
//   J_ij = h_i - h_j - 2(1-q)<g_j, x_i - x_j> - |g_i - g_j|^2 - q|x_i - x_j|^2
//          + 2q<g_j - g_i, x_j - x_i>   >= 0.
//
// The proof consists of numbers >= 0 and of positive definite matrices. With sums over the points
// of V and over all,
//   V - sum_ij s_ij J_ij = <state, W state>                          so V >= 0
//   rho V - V' - sum_ij l_ij J_ij - n((1 - alpha)|v|^2 - |r|^2) = <all, S all>
// where |r|^2 <= (1 - alpha)|v|^2 is the condition on the message. Its terms without h define V's
// form and S. Those with h define the numbers l_*i: V has h_i with the weight p_i = sum_j (s_ij -
// s_ji), and l_*i makes the sum of all h_i zero. If W and S are positive definite and all numbers
// are >= 0, then V' <= rho V, and |state|^2 is at most a multiple of V. For one rho all of this is
// linear in (W, s, l, n): a semidefinite programme. It is the dual of the search for the worst f,
// so that every point of it is a bound: of the rate, not of how far it is from the best. The least
// rho is found by the method of centres (method_of_centres.h).
//
// Several workers. All conditions hold of every worker with the same multipliers, and we take their
// mean over the workers. A square is that of the mean plus the mean of those of the deviations, so
// each condition splits in two: one of the means, which is that of one worker; and one of the
// deviations, which have x = x' = v = 0. The latter has a matrix W~ and S~. The number of workers
// is in neither. EF14, memoryless descent and local steps have no deviation at x* if it minimises
// every f_p. With EF21 and EControl gradients and estimates are less grad f_p(x*), which cancels
// everywhere.
//
// The search for the numbers is in long doubles and proves nothing. is_proof() repeats all of the
// above in rational numbers: W and S are positive definite if elimination finds positive pivots
// alone.

namespace residuum {
namespace worst_case {
namespace {

using Integer = boost::multiprecision::cpp_int;
using Rational = boost::multiprecision::cpp_rational;

/// rho is a whole number of ticks.
constexpr std::int64_t kTicks = 1'000'000'000'000'000;

// --- Names of the numbers of a proof ---------------------------------------------------------

/// A condition J_ij: places of points, or x*.
struct Pair {
  std::size_t i = 0;
  std::size_t j = 0;
};
constexpr std::size_t kStar = std::numeric_limits<std::size_t>::max();

/// The numbers of a proof besides W and W~: the s_ij, the l_ij without the l_*i, and n.
struct Multipliers {
  std::vector<Pair> of_v;
  std::vector<Pair> of_decrease;
  bool of_message = false;

  std::size_t size() const { return of_v.size() + of_decrease.size() + (of_message ? 1 : 0); }
};

/// Pairs of different points of {0, ..., points - 1, *}; those of x* first only if wanted. Of many
/// points only neighbours are paired, in the order of time: with error feedback and local steps the
/// other pairs were seen to change no digit, and each costs two unknowns.
std::vector<Pair> pairs_of(std::size_t points, bool star_first) {
  constexpr std::size_t kMostForAll = 4;
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < points; ++i) {
    pairs.push_back({i, kStar});
    if (star_first) {
      pairs.push_back({kStar, i});
    }
  }
  for (std::size_t i = 0; i < points; ++i) {
    for (std::size_t j = 0; j < points; ++j) {
      const std::size_t apart = std::max(i, j) - std::min(i, j);
      if (apart == 1 || (apart > 1 && points <= kMostForAll)) {
        pairs.push_back({i, j});
      }
    }
  }
  return pairs;
}

template <class T>
Multipliers multipliers_of(const Iteration<T>& of_means) {
  return {.of_v = pairs_of(of_means.before.size(), true),
          .of_decrease = pairs_of(of_means.points.size(), false),
          .of_message = of_means.message.has_value()};
}

std::size_t triangle(std::size_t size) { return size * (size + 1) / 2; }

/// The sizes of W and W~.
struct FormSizes {
  std::size_t state = 0;
  std::size_t deviation = 0;
};

FormSizes form_sizes(const WorstRateQuestion& question) {
  return {.state = state_size(question, false),
          .deviation = has_deviations(question) ? state_size(question, true) : 0};
}

template <class T>
Constants<T> constants_of(const WorstRateQuestion& question, std::int64_t ticks) {
  const T smoothness(question.problem.smoothness);
  return {.step = T(question.step) * smoothness,
          .curvature = T(question.problem.strong_convexity) / smoothness,
          .lost = T(1) - T(question.problem.contraction),
          .momentum = T(question.momentum.value_or(0)),
          .error_weight = T(question.error_weight),
          .rate = T(ticks) / T(kTicks)};
}

template <class T>
Iteration<T> iteration_of(const WorstRateQuestion& question,
                          const Constants<T>& constants,
                          bool of_deviations) {
  return IterationMaker<T>(question, constants, of_deviations).make();
}

std::vector<std::string> names_of_numbers(const WorstRateQuestion& question) {
  const FormSizes sizes = form_sizes(question);
  const auto it = iteration_of(question, constants_of<double>(question, kTicks), false);
  const auto multipliers = multipliers_of(it);
  std::vector<std::string> names;
  const auto add_triangle = [&](const char* name, std::size_t size) {
    for (std::size_t i = 1; i <= size; ++i) {
      for (std::size_t j = 1; j <= i; ++j) {
        names.push_back(fmt::format("{}{}{}", name, i, j));
      }
    }
  };
  const auto name_of = [&](std::size_t point) {
    return point == kStar ? std::string("*") : it.points[point].name;
  };
  const auto add_pairs = [&](const char* name, const std::vector<Pair>& pairs) {
    for (const Pair& pair : pairs) {
      names.push_back(fmt::format("{}_{}{}", name, name_of(pair.i), name_of(pair.j)));
    }
  };
  add_triangle("W", sizes.state);
  add_triangle("W~", sizes.deviation);
  add_pairs("s", multipliers.of_v);
  add_pairs("l", multipliers.of_decrease);
  if (multipliers.of_message) {
    names.emplace_back("n");
  }
  return names;
}

// --- The conditions --------------------------------------------------------------------------

/// A multiplier of a condition J_ij.
template <class T>
struct Weighted {
  Pair pair;
  T weight{};
};

/// The numbers of a proof. They are linear in the programme's unknowns.
template <class T>
struct ProofNumbers {
  std::vector<T> form;       // W
  std::vector<T> deviation;  // W~
  std::vector<Weighted<T>> of_v;
  std::vector<Weighted<T>> of_decrease;  // the l_*i are the last
  T message{};                           // n

  /// p_i
  T objective(std::size_t point) const {
    T weight{};
    for (const auto& [pair, s] : of_v) {
      weight += pair.i == point ? s : T(0);
      weight -= pair.j == point ? s : T(0);
    }
    return weight;
  }
};

/// Returns the l_*i, by which no h is left.
template <class T>
std::vector<Weighted<T>> of_star(const Iteration<T>& it,
                                 const T& rate,
                                 const ProofNumbers<T>& proof) {
  std::vector<T> weights(it.points.size());
  for (const auto& [pair, l] : proof.of_decrease) {
    weights[pair.i] += l;
    if (pair.j != kStar) {
      weights[pair.j] -= l;
    }
  }
  for (std::size_t i = 0; i < it.before.size(); ++i) {
    const T p = proof.objective(it.before[i]);
    weights[it.before[i]] -= rate * p;
    weights[it.after[i]] += p;
  }
  std::vector<Weighted<T>> made;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    made.push_back({.pair = {kStar, i}, .weight = weights[i]});
  }
  return made;
}

template <class T, class Number>
ProofNumbers<T> named(const WorstRateQuestion& question,
                      const Iteration<T>& of_means,
                      const T& rate,
                      const std::vector<Number>& numbers) {
  const FormSizes sizes = form_sizes(question);
  const auto multipliers = multipliers_of(of_means);
  auto next = numbers.begin();
  const auto take = [&] { return T(*next++); };
  ProofNumbers<T> proof;
  for (std::size_t i = 0; i < triangle(sizes.state); ++i) {
    proof.form.push_back(take());
  }
  for (std::size_t i = 0; i < triangle(sizes.deviation); ++i) {
    proof.deviation.push_back(take());
  }
  for (const Pair& pair : multipliers.of_v) {
    proof.of_v.push_back({.pair = pair, .weight = take()});
  }
  for (const Pair& pair : multipliers.of_decrease) {
    proof.of_decrease.push_back({.pair = pair, .weight = take()});
  }
  if (multipliers.of_message) {
    proof.message = take();
  }
  const auto stars = of_star(of_means, rate, proof);
  proof.of_decrease.insert(proof.of_decrease.end(), stars.begin(), stars.end());
  return proof;
}

/// Adds weight J_ij without its h.
template <class T>
void add_interpolation(
    const T& weight, const T& q, const Point<T>& i, const Point<T>& j, Form<T>& form) {
  if (weight == 0) {
    return;
  }
  const auto dx = i.x - j.x;
  const auto dg = i.g - j.g;
  form.add(T(-2 * (1 - q) * weight), j.g, dx);
  form.add(T(-weight), dg, dg);
  form.add(T(-q * weight), dx, dx);
  form.add(T(2 * q * weight), dg, dx);
}

template <class T>
Combination<T> unit_of(const Iteration<T>& it, std::size_t place) {
  Combination<T> unit(it.basis);
  unit[place] = T(1);
  return unit;
}

template <class T>
Point<T> star_of(const Iteration<T>& it) {
  return {.name = "*", .x = Combination<T>(it.basis), .g = Combination<T>(it.basis)};
}

/// The vectors of V, before or after the iteration.
template <class T>
std::vector<Combination<T>> state_of(const Iteration<T>& it, bool after) {
  std::vector<Combination<T>> state = it.next_state;
  for (std::size_t i = 0; i < state.size() && !after; ++i) {
    state[i] = unit_of(it, it.state[i]);
  }
  return state;
}

/// Adds weight V without its h, before or after the iteration; w is W or W~.
template <class T>
void add_lyapunov(const T& weight,
                  const Constants<T>& constants,
                  const ProofNumbers<T>& proof,
                  const std::vector<T>& w,
                  const Iteration<T>& it,
                  bool after,
                  Form<T>& form) {
  const auto state = state_of(it, after);
  std::size_t at = 0;
  for (std::size_t i = 0; i < state.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j, ++at) {
      if (w[at] != 0) {
        form.add(T(weight * w[at] * (i == j ? 1 : 2)), state[i], state[j]);
      }
    }
  }
  const Point<T> star = star_of(it);
  const auto& places = after ? it.after : it.before;
  const auto point = [&](std::size_t i) -> const Point<T>& {
    return i == kStar ? star : it.points[places[i]];
  };
  for (const auto& [pair, s] : proof.of_v) {
    add_interpolation(T(weight * s), constants.curvature, point(pair.i), point(pair.j), form);
  }
}

/// S, or S~.
template <class T>
Matrix<T> decrease(const Constants<T>& constants,
                   const ProofNumbers<T>& proof,
                   const std::vector<T>& w,
                   const Iteration<T>& it) {
  Form<T> form(it.basis);
  add_lyapunov(constants.rate, constants, proof, w, it, false, form);
  add_lyapunov(T(-1), constants, proof, w, it, true, form);
  const Point<T> star = star_of(it);
  const auto point = [&](std::size_t i) -> const Point<T>& {
    return i == kStar ? star : it.points[i];
  };
  for (const auto& [pair, l] : proof.of_decrease) {
    add_interpolation(T(-l), constants.curvature, point(pair.i), point(pair.j), form);
  }
  if (it.message && proof.message != 0) {
    const auto& [compressed, lost] = *it.message;
    form.add(T(-proof.message * constants.lost), compressed, compressed);
    form.add(proof.message, lost, lost);
  }
  return form.entries();
}

template <class T>
Matrix<T> square_of(const std::vector<T>& lower, std::size_t size) {
  Matrix<T> matrix(size, std::vector<T>(size));
  std::size_t at = 0;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j, ++at) {
      matrix[i][j] = lower[at];
      matrix[j][i] = lower[at];
    }
  }
  return matrix;
}

/// The matrices must be positive definite, and the numbers not below 0.
template <class T>
struct Conditions {
  std::vector<Matrix<T>> matrices;
  std::vector<T> numbers;
};

template <class T, class Number>
Conditions<T> conditions(const WorstRateQuestion& question,
                         const Constants<T>& constants,
                         const std::vector<Number>& numbers) {
  const auto of_means = iteration_of(question, constants, false);
  const auto proof = named<T>(question, of_means, constants.rate, numbers);
  const FormSizes sizes = form_sizes(question);
  Conditions<T> conditions;
  conditions.matrices.push_back(square_of(proof.form, sizes.state));
  conditions.matrices.push_back(decrease(constants, proof, proof.form, of_means));
  if (sizes.deviation > 0) {
    const auto of_deviations = iteration_of(question, constants, true);
    conditions.matrices.push_back(square_of(proof.deviation, sizes.deviation));
    conditions.matrices.push_back(decrease(constants, proof, proof.deviation, of_deviations));
  }
  for (const auto* weights : {&proof.of_v, &proof.of_decrease}) {
    for (const auto& [pair, weight] : *weights) {
      conditions.numbers.push_back(weight);
    }
  }
  if (of_means.message) {
    conditions.numbers.push_back(proof.message);
  }
  return conditions;
}

/// Eliminates; returns the least pivot, or the first that is not positive.
template <class T>
T least_pivot(Matrix<T> matrix) {
  const std::size_t size = matrix.size();
  T least = matrix[0][0];
  for (std::size_t k = 0; k < size; ++k) {
    least = std::min(least, matrix[k][k]);
    if (!(least > 0)) {
      return least;
    }
    for (std::size_t i = k + 1; i < size; ++i) {
      const T factor = matrix[i][k] / matrix[k][k];
      for (std::size_t j = k + 1; j <= i; ++j) {
        matrix[i][j] -= factor * matrix[j][k];
      }
    }
  }
  return least;
}

/// Returns the common denominator of the entries.
Integer denominator_of(const Matrix<Rational>& matrix) {
  Integer common = 1;
  for (const auto& row : matrix) {
    for (const Rational& entry : row) {
      common = lcm(common, denominator(entry));
    }
  }
  return common;
}

/// Eliminates rational numbers exactly, without fractions (Bareiss, Math. Comput. 1968): after k
/// steps the entries are minors of k + 1 rows, times a power of the common denominator, and every
/// division is exact. A pivot is a leading minor over the one before.
template <>
Rational least_pivot(Matrix<Rational> matrix) {
  const std::size_t size = matrix.size();
  const Integer common = denominator_of(matrix);
  Matrix<Integer> minors(size, std::vector<Integer>(size));
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      minors[i][j] = numerator(matrix[i][j]) * (common / denominator(matrix[i][j]));
    }
  }
  Integer before = 1;
  Rational least = matrix[0][0];
  for (std::size_t k = 0; k < size; ++k) {
    const Integer pivot = minors[k][k];
    least = std::min(least, Rational(pivot, before * common));
    if (!(least > 0)) {
      return least;
    }
    for (std::size_t i = k + 1; i < size; ++i) {
      for (std::size_t j = k + 1; j <= i; ++j) {
        minors[i][j] = (pivot * minors[i][j] - minors[i][k] * minors[j][k]) / before;
      }
    }
    before = pivot;
  }
  return least;
}

template <class T>
bool are_not_negative(const std::vector<T>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](const T& number) { return number >= 0; });
}

template <class T>
bool holds(const Conditions<T>& conditions) {
  return are_not_negative(conditions.numbers) &&
         std::all_of(conditions.matrices.begin(),
                     conditions.matrices.end(),
                     [](const auto& matrix) { return least_pivot(matrix) > 0; });
}

/// Returns the least pivot of the matrices of a proof; absent where the numbers prove nothing.
std::optional<double> pivot_of_proof(const WorstRateQuestion& question,
                                     const std::vector<double>& numbers,
                                     std::int64_t ticks) {
  if (!std::all_of(
          numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); })) {
    return std::nullopt;
  }
  const auto exact = conditions(question, constants_of<Rational>(question, ticks), numbers);
  if (!are_not_negative(exact.numbers)) {
    return std::nullopt;
  }
  double least = std::numeric_limits<double>::infinity();
  for (const auto& matrix : exact.matrices) {
    const Rational pivot = least_pivot(matrix);
    if (!(pivot > 0)) {
      return std::nullopt;
    }
    least = std::min(least, pivot.convert_to<double>());
  }
  return least;
}

// --- The search ------------------------------------------------------------------------------

using Real = long double;

template <class T>
std::vector<T> lower_triangle(const Matrix<T>& matrix) {
  std::vector<T> lower;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    lower.insert(
        lower.end(), matrix[i].begin(), matrix[i].begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  return lower;
}

std::vector<Real> difference(std::vector<Real> a, const std::vector<Real>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] -= b[i];
  }
  return a;
}

/// Adds what one unknown contributes to the conditions if it is 1, at rho = 0 and at rho = 1.
void add_unknown(const Conditions<Real>& at_zero,
                 const Conditions<Real>& at_one,
                 RateProgram& program) {
  program.blocks.resize(at_zero.matrices.size());
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    auto& block = program.blocks[b];
    block.size = at_zero.matrices[b].size();
    block.fixed.push_back(lower_triangle(at_zero.matrices[b]));
    block.per_rate.push_back(difference(lower_triangle(at_one.matrices[b]), block.fixed.back()));
  }
  program.rows.resize(at_zero.numbers.size());
  for (std::size_t row = 0; row < program.rows.size(); ++row) {
    program.rows[row].fixed.push_back(at_zero.numbers[row]);
    program.rows[row].per_rate.push_back(at_one.numbers[row] - at_zero.numbers[row]);
  }
}

/// The conditions as a programme. They are linear in the unknowns and in rho.
RateProgram program_of(const WorstRateQuestion& question) {
  const std::size_t unknowns = names_of_numbers(question).size();
  const FormSizes sizes = form_sizes(question);
  auto constants = constants_of<Real>(question, 0);
  RateProgram program;
  std::vector<Real> numbers(unknowns);
  for (std::size_t i = 0; i < unknowns; ++i) {
    std::fill(numbers.begin(), numbers.end(), Real(0));
    numbers[i] = 1;
    constants.rate = 0;
    const auto at_zero = conditions(question, constants, numbers);
    constants.rate = 1;
    add_unknown(at_zero, conditions(question, constants, numbers), program);
  }
  // The traces and the numbers are positive in the cone.
  program.norm.assign(unknowns, Real(1));
  std::size_t at = 0;
  for (const std::size_t size : {sizes.state, sizes.deviation}) {
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j <= i; ++j, ++at) {
        program.norm[at] = i == j ? 1 : 0;
      }
    }
  }
  return program;
}

/// The multipliers of a point of the cone at a large rho, where V is almost <state, state>. Vectors
/// that are not of the state are outweighed by the conditions on them: x' and what the model moves
/// by enter V', and the gradients of local steps also what a message may lose. Each of these in
/// turn gets the larger multiplier, by the factor `contrast`.
std::vector<Real> start_multipliers(const WorstRateQuestion& question,
                                    const Iteration<Real>& it,
                                    Real rate,
                                    Real contrast) {
  constexpr Real kOfNext = 100;
  const auto multipliers = multipliers_of(it);
  const bool moves_by_message =
      question.method == DescentMethod::memoryless || question.method == DescentMethod::ef14;
  const Real of_message = moves_by_message ? kOfNext * contrast : kOfNext / 10;
  std::vector<Real> numbers(multipliers.of_v.size(), 1 / (2 * rate));
  for (const Pair& pair : multipliers.of_decrease) {
    Real number = 1;
    const std::size_t from_end = it.points.size() - 1 - pair.i;
    if (pair.j == kStar && pair.i >= it.before.size()) {
      number = (from_end == 0 ? kOfNext : std::max(of_message, kOfNext)) *
               std::pow(contrast, static_cast<Real>(from_end));
    }
    numbers.push_back(number);
  }
  if (multipliers.of_message) {
    numbers.push_back(of_message);
  }
  return numbers;
}

/// A point of the cone at a large rho: W is the identity, and rho W outweighs all else.
RatePoint start_of(const WorstRateQuestion& question, const RateProgram& program) {
  constexpr Real kLargest = 1e15L;
  constexpr Real kLargestContrast = 1e9L;
  auto constants = constants_of<Real>(question, 0);
  const auto it = iteration_of(question, constants, false);
  RatePoint start;
  start.y = program.norm;  // the identity for W and W~
  bool is_inside = false;
  for (Real contrast = 8 * (1 + constants.step * constants.step);
       !is_inside && contrast < kLargestContrast;
       contrast *= 8) {
    for (start.rate = 4; !is_inside && start.rate < kLargest; start.rate *= 4) {
      constants.rate = start.rate;
      const auto multipliers = start_multipliers(question, it, start.rate, contrast);
      std::copy(multipliers.rbegin(), multipliers.rend(), start.y.rbegin());
      is_inside = holds(conditions(question, constants, start.y));
    }
  }
  start.rate = constants.rate;
  return start;
}

LyapunovFunction lyapunov_of(const WorstRateQuestion& question,
                             const std::vector<double>& numbers) {
  const auto constants = constants_of<double>(question, kTicks);
  const auto of_means = iteration_of(question, constants, false);
  const auto proof = named<double>(question, of_means, constants.rate, numbers);
  const auto form_of = [&](const std::vector<double>& w, const Iteration<double>& it) {
    Form<double> form(it.basis);
    add_lyapunov(1.0, constants, proof, w, it, false, form);
    Matrix<double> restricted;
    for (const std::size_t i : it.state) {
      restricted.emplace_back();
      for (const std::size_t j : it.state) {
        restricted.back().push_back(form.entries()[i][j]);
      }
    }
    return lower_triangle(restricted);
  };
  LyapunovFunction lyapunov;
  lyapunov.state = form_of(proof.form, of_means);
  lyapunov.objective = proof.objective(of_means.before.back());
  lyapunov.last = question.momentum ? proof.objective(of_means.before.front()) : 0;
  if (has_deviations(question)) {
    lyapunov.deviation = form_of(proof.deviation, iteration_of(question, constants, true));
  }
  return lyapunov;
}

std::int64_t ticks_of(double rate) { return std::llround(rate * static_cast<double>(kTicks)); }

double rate_of(std::int64_t ticks) {
  return static_cast<double>(ticks) / static_cast<double>(kTicks);
}

/// Returns the ticks of one unit of the last digit, of seven of 1 - rho.
std::int64_t ticks_of_last_digit(Real rate) {
  constexpr Real kShareOfRounding = 1e-7L;
  std::int64_t unit = 1;
  while (static_cast<Real>(unit * 10) <=
         kShareOfRounding * (1 - rate) * static_cast<Real>(kTicks)) {
    unit *= 10;
  }
  return unit;
}

/// A proof at a rho that is a decimal.
struct DecimalProof {
  std::int64_t ticks = 0;
  std::vector<double> numbers;
  double least_pivot = 0;
  int steps = 0;
};

/// The search in three parts: a point close to the least rho, that rho, and from the point again
/// down to decimals above it.
class DecimalSearch {
 public:
  explicit DecimalSearch(const WorstRateQuestion& question)
      : question_(question), program_(program_of(question)), start_(start_of(question, program_)) {}

  /// Returns a proof at the least rho, rounded up; absent where none is found below 1.
  std::optional<DecimalProof> run() {
    constexpr Real kClose = 1e-4L;
    const auto close = descend(start_, {.floor = 0, .precision = kClose});
    const auto least = close ? descend(*close, {}) : std::nullopt;
    if (!least || !(least->rate < 1)) {
      return std::nullopt;
    }
    const std::int64_t unit = ticks_of_last_digit(least->rate);
    const std::int64_t units_of_one = kTicks / unit;
    const auto units =
        static_cast<std::int64_t>(std::ceil(least->rate * static_cast<Real>(units_of_one)));
    for (std::int64_t more = 0; (units + more) * unit < kTicks; more = 2 * more + 1) {
      if (auto proof = prove((units + more) * unit, *close)) {
        return proof;
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<RatePoint> descend(const RatePoint& from, const RateGoal& goal) {
    auto point = least_rate(program_, from, goal);
    steps_ += point ? point->steps : 0;
    return point;
  }

  std::optional<DecimalProof> prove(std::int64_t ticks, const RatePoint& close) {
    const Real rate = static_cast<Real>(ticks) / static_cast<Real>(kTicks);
    const auto point = descend(rate < close.rate ? close : start_, {.floor = rate});
    if (!point) {
      return std::nullopt;
    }
    std::vector<double> numbers;
    std::transform(point->y.begin(), point->y.end(), std::back_inserter(numbers), [](Real number) {
      return static_cast<double>(number);
    });
    const auto pivot = pivot_of_proof(question_, numbers, ticks);
    if (!pivot) {
      return std::nullopt;
    }
    return DecimalProof{
        .ticks = ticks, .numbers = std::move(numbers), .least_pivot = *pivot, .steps = steps_};
  }

  WorstRateQuestion question_;
  RateProgram program_;
  RatePoint start_;
  int steps_ = 0;
};

}  // namespace
}  // namespace worst_case

void check_question(const WorstRateQuestion& question) {
  const CompressedProblem& problem = question.problem;
  require(problem.is_valid() && problem.smoothness > problem.strong_convexity,
          "the worst case at a step needs L above mu, got L = {:g}, mu = {:g}",
          problem.smoothness,
          problem.strong_convexity);
  require(question.method == DescentMethod::dense || problem.contraction < 1,
          "the worst case of compressed descent needs a share below 1, got {:g}",
          problem.contraction);
  require(question.step > 0 && std::isfinite(question.step),
          "the step is {}, but must be above 0",
          question.step);
  const double momentum = question.momentum.value_or(0);
  require(momentum >= 0 && momentum < 1, "momentum is {}, but must lie in [0, 1)", momentum);
  require(question.error_weight > 0 && question.error_weight <= 1,
          "the error weight is {}, but must lie in (0, 1]",
          question.error_weight);
  const bool estimates =
      question.method == DescentMethod::ef21 || question.method == DescentMethod::econtrol;
  const int most = estimates ? 1 : kMostLocalSteps;
  require(question.local_steps >= 1 && question.local_steps <= most,
          "local steps are {}, but must be from 1 to {}{}",
          question.local_steps,
          most,
          estimates ? " with a method that exchanges estimates" : "");
}

std::vector<std::string> proof_names(const WorstRateQuestion& question) {
  return worst_case::names_of_numbers(question);
}

RateProgram rate_program(const WorstRateQuestion& question) {
  return worst_case::program_of(question);
}

bool is_proof(const WorstRateQuestion& question, const std::vector<double>& proof, double rate) {
  return proof.size() == proof_names(question).size() &&
         worst_case::pivot_of_proof(question, proof, worst_case::ticks_of(rate)).has_value();
}

std::optional<WorstRate> worst_rate(const WorstRateQuestion& question) {
  check_question(question);
  const auto found = worst_case::DecimalSearch(question).run();
  if (!found) {
    return std::nullopt;
  }
  return WorstRate{.rate = worst_case::rate_of(found->ticks),
                   .least_pivot = found->least_pivot,
                   .lyapunov = worst_case::lyapunov_of(question, found->numbers),
                   .proof = found->numbers,
                   .steps = found->steps};
}

}  // namespace residuum
