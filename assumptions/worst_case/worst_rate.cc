// One iteration of a compressed method takes a state to the next. We look for the least rho with a
// function V of the state that falls to rho V in every iteration, for every L-smooth and
// mu-strongly convex f and every compressor with |C(a) - a|^2 <= (1 - alpha)|a|^2.
//
// V itself is unknown: a quadratic form in (x - x*, grad f(x), memory), plus a multiple of f - f*.
// This is how Berg Thomsen, Taylor and Dieuleveut found the rates of error feedback
// (arXiv:2506.05271, one worker; arXiv:2605.31594, several), by performance estimation with the
// interpolation conditions of Taylor, Hendrickx and Glineur (Math. Program. 2017, theorem 4).
//
// Units: L = 1, q = mu/L. All vectors of an iteration are combinations of five:
//   x (with x* = 0), g = grad f(x), m (the memory), c (the message), g' = grad f(x').
//   dense       x' = x - h g                           h = eta L
//   memoryless  x' = x - h c,               |g - c|^2 <= (1 - alpha)|g|^2
//   EF14        x' = x - h c, m' = m + g - c, |m'|^2 <= (1 - alpha)|m + g|^2     m = e/(eta L)
//   EF21        x' = x - h m, m' = m + c,   |g' - m'|^2 <= (1 - alpha)|g' - m|^2
// With h_i = 2(1 - q)(f_i - f*), the values at the points i, j of {*, x, x'} belong to such an f if
// and only if
//   J_ij = h_i - h_j - 2(1-q)<g_j, x_i - x_j> - |g_i - g_j|^2 - q|x_i - x_j|^2
//          + 2q<g_j - g_i, x_j - x_i>   >= 0.
//
// The proof consists of numbers >= 0 and of positive definite matrices:
//   V - s1 J_x* - s2 J_*x  = <state, W state>                          so V >= 0
//   rho V - V' - sum_ij l_ij J_ij - n((1 - alpha)|v|^2 - |r|^2) = <all five, S all five>
// where |r|^2 <= (1 - alpha)|v|^2 is the condition on the message. Its terms without h define V's
// form and S; those with h define three of the numbers:
//   V has h with the weight p = s1 - s2;   l_*x = l_x* + l_xx' - l_x'x - rho p;
//   l_*x' = l_x'* + l_x'x - l_xx' + p.
// If W and S are positive definite and all numbers are >= 0, then V' <= rho V, and |state|^2 is at
// most a multiple of V. For one rho all of this is linear in (W, s1, s2, l_x*, l_x'*, l_xx', l_x'x,
// n): a semidefinite programme. It is the dual of the search for the worst f, so that every
// point of it is a bound. The least rho is found by the method of centres (method_of_centres.h).
//
// Several workers. All conditions hold of every worker with the same multipliers, and we take their
// mean over the workers. A square is that of the mean plus the mean of those of the deviations, so
// each condition splits in two: one of the means, which is that of one worker; and one of the
// deviations, which have x = x' = 0. The latter has a matrix W~ of (g, m) and S~ of (g, m, c, g').
// The number of workers is in neither. EF14 and memoryless descent have no deviation at x* if it
// minimises every f_p. With EF21 g, m and g' are less grad f_p(x*), which cancels everywhere.
//
// The search for the numbers is in long doubles and proves nothing. is_proof() repeats all of the
// above in rational numbers: W and S are positive definite if elimination finds positive pivots
// alone.

#include "assumptions/worst_case/worst_rate.h"

#include <boost/multiprecision/cpp_int.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "assumptions/worst_case/method_of_centres.h"
#include "core/error.h"

namespace residuum {
namespace worst_case {
namespace {

using Rational = boost::multiprecision::cpp_rational;

/// rho is a whole number of these.
constexpr std::int64_t kTicks = 1'000'000'000'000'000;

/// Places of the five vectors in a combination.
constexpr std::size_t kModel = 0;
constexpr std::size_t kGradient = 1;
constexpr std::size_t kMemory = 2;
constexpr std::size_t kMessage = 3;
constexpr std::size_t kNextGradient = 4;
constexpr std::size_t kBasis = 5;

template <class T>
using Combination = std::array<T, kBasis>;

template <class T>
Combination<T> operator+(Combination<T> a, const Combination<T>& b) {
  for (std::size_t i = 0; i < kBasis; ++i) {
    a[i] += b[i];
  }
  return a;
}

template <class T>
Combination<T> operator-(Combination<T> a, const Combination<T>& b) {
  for (std::size_t i = 0; i < kBasis; ++i) {
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

/// A symmetric quadratic form of the five vectors.
template <class T>
struct Form {
  std::array<std::array<T, kBasis>, kBasis> entries{};

  /// Adds weight <a, b>.
  void add(const T& weight, const Combination<T>& a, const Combination<T>& b) {
    for (std::size_t i = 0; i < kBasis; ++i) {
      for (std::size_t j = 0; j < kBasis; ++j) {
        entries[i][j] += weight * (a[i] * b[j] + a[j] * b[i]) / 2;
      }
    }
  }
  void add(const T& weight, const Form& other) {
    for (std::size_t i = 0; i < kBasis; ++i) {
      for (std::size_t j = 0; j < kBasis; ++j) {
        entries[i][j] += weight * other.entries[i][j];
      }
    }
  }
};

template <class T>
struct Point {
  Combination<T> x{};
  Combination<T> g{};
};

/// One iteration in the five vectors, of means or of deviations.
template <class T>
struct Iteration {
  Point<T> before;
  Point<T> after;
  Combination<T> memory{};
  Combination<T> next_memory{};
  Combination<T> compressed{};     // v
  Combination<T> lost{};           // r
  std::vector<std::size_t> used;   // of the five, those that are not 0
  std::vector<std::size_t> state;  // of those, the ones of V
};

template <class T>
struct Constants {
  T step;       // h
  T curvature;  // q
  T lost;       // 1 - alpha
  T rate;       // rho
};

bool has_memory(DescentMethod method) {
  return method == DescentMethod::ef14 || method == DescentMethod::ef21;
}

template <class T>
Combination<T> unit(std::size_t vector) {
  Combination<T> combination{};
  combination[vector] = T(1);
  return combination;
}

template <class T>
Iteration<T> iteration_of(DescentMethod method, const T& step, bool of_deviations) {
  const auto x = of_deviations ? Combination<T>{} : unit<T>(kModel);
  const auto g = unit<T>(kGradient);
  const auto m = unit<T>(kMemory);
  const auto c = unit<T>(kMessage);
  const auto next_g = unit<T>(kNextGradient);
  Iteration<T> it;
  it.before = {.x = x, .g = g};
  Combination<T> move{};
  switch (method) {
    case DescentMethod::dense:
      move = g;
      break;
    case DescentMethod::memoryless:
      move = c;
      it.compressed = g;
      it.lost = g - c;
      break;
    case DescentMethod::ef14:
      move = c;
      it.memory = m;
      it.next_memory = m + g - c;
      it.compressed = m + g;
      it.lost = it.next_memory;
      break;
    case DescentMethod::ef21:
      move = m;
      it.memory = m;
      it.next_memory = m + c;
      it.compressed = next_g - m;
      it.lost = next_g - it.next_memory;
      break;
  }
  it.after = {.x = of_deviations ? x : x - step * move, .g = next_g};
  if (!of_deviations) {
    it.used.push_back(kModel);
  }
  it.used.push_back(kGradient);
  if (has_memory(method)) {
    it.used.push_back(kMemory);
  }
  it.state = it.used;
  if (method != DescentMethod::dense) {
    it.used.push_back(kMessage);
  }
  it.used.push_back(kNextGradient);
  return it;
}

/// J_ij without its h.
template <class T>
Form<T> interpolation(const T& q, const Point<T>& i, const Point<T>& j) {
  const auto dx = i.x - j.x;
  const auto dg = i.g - j.g;
  Form<T> form;
  form.add(T(-2 * (1 - q)), j.g, dx);
  form.add(T(-1), dg, dg);
  form.add(T(-q), dx, dx);
  form.add(T(2 * q), dg, dx);
  return form;
}

/// The numbers of a proof by their names. They are linear in what the programme has as unknowns.
template <class T>
struct ProofNumbers {
  std::vector<T> form;       // W
  std::vector<T> deviation;  // W~
  T s_x_star{};
  T s_star_x{};
  T l_x_star{};
  T l_next_star{};
  T l_x_next{};
  T l_next_x{};
  T message{};  // n

  T objective() const { return s_x_star - s_star_x; }
  T l_star_x(const T& rate) const { return l_x_star + l_x_next - l_next_x - rate * objective(); }
  T l_star_next() const { return l_next_star + l_next_x - l_x_next + objective(); }
};

constexpr std::array kScalarNames{"s1", "s2", "l_x*", "l_x'*", "l_xx'", "l_x'x", "n"};

std::size_t triangle(std::size_t size) { return size * (size + 1) / 2; }

/// The sizes of W and W~.
struct FormSizes {
  std::size_t state = 0;
  std::size_t deviation = 0;
};

FormSizes form_sizes(const WorstRateQuestion& question) {
  const std::size_t memories = has_memory(question.method) ? 1 : 0;
  return {.state = 2 + memories, .deviation = question.workers > 1 ? 1 + memories : 0};
}

std::vector<std::string> names_of_numbers(const WorstRateQuestion& question) {
  const FormSizes sizes = form_sizes(question);
  std::vector<std::string> names;
  const auto add_triangle = [&](const char* name, std::size_t size) {
    for (std::size_t i = 1; i <= size; ++i) {
      for (std::size_t j = 1; j <= i; ++j) {
        names.push_back(fmt::format("{}{}{}", name, i, j));
      }
    }
  };
  add_triangle("W", sizes.state);
  add_triangle("W~", sizes.deviation);
  names.insert(names.end(), kScalarNames.begin(), kScalarNames.end());
  return names;
}

template <class T, class Number>
ProofNumbers<T> named(const WorstRateQuestion& question, const std::vector<Number>& numbers) {
  const FormSizes sizes = form_sizes(question);
  auto next = numbers.begin();
  const auto take = [&] { return T(*next++); };
  ProofNumbers<T> proof;
  for (std::size_t i = 0; i < triangle(sizes.state); ++i) {
    proof.form.push_back(take());
  }
  for (std::size_t i = 0; i < triangle(sizes.deviation); ++i) {
    proof.deviation.push_back(take());
  }
  proof.s_x_star = take();
  proof.s_star_x = take();
  proof.l_x_star = take();
  proof.l_next_star = take();
  proof.l_x_next = take();
  proof.l_next_x = take();
  proof.message = take();
  return proof;
}

template <class T>
using Matrix = std::vector<std::vector<T>>;

template <class T>
Matrix<T> restricted(const Form<T>& form, const std::vector<std::size_t>& used) {
  Matrix<T> matrix(used.size(), std::vector<T>(used.size()));
  for (std::size_t i = 0; i < used.size(); ++i) {
    for (std::size_t j = 0; j < used.size(); ++j) {
      matrix[i][j] = form.entries[used[i]][used[j]];
    }
  }
  return matrix;
}

/// Adds sum_ij w_ij <state_i, state_j> to the form, with w as a lower triangle.
template <class T>
void add_state_form(const T& weight,
                    const std::vector<T>& triangle_of_w,
                    const std::vector<Combination<T>>& state,
                    Form<T>& form) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < state.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j, ++at) {
      form.add(T(weight * triangle_of_w[at] * (i == j ? 1 : 2)), state[i], state[j]);
    }
  }
}

/// The vectors of V before or after the iteration, in the order of `state`.
template <class T>
std::vector<Combination<T>> state_vectors(const Iteration<T>& it, bool after) {
  std::vector<Combination<T>> vectors;
  for (const std::size_t vector : it.state) {
    const Point<T>& point = after ? it.after : it.before;
    if (vector == kMemory) {
      vectors.push_back(after ? it.next_memory : it.memory);
    } else {
      vectors.push_back(vector == kModel ? point.x : point.g);
    }
  }
  return vectors;
}

/// Adds weight V, without its h.
template <class T>
void add_lyapunov(const T& weight,
                  const Constants<T>& constants,
                  const ProofNumbers<T>& proof,
                  const Iteration<T>& it,
                  bool after,
                  Form<T>& form) {
  const bool of_deviations = it.state.front() != kModel;
  const Point<T>& point = after ? it.after : it.before;
  add_state_form(
      weight, of_deviations ? proof.deviation : proof.form, state_vectors(it, after), form);
  const T& q = constants.curvature;
  form.add(T(weight * proof.s_x_star), interpolation(q, point, {}));
  form.add(T(weight * proof.s_star_x), interpolation(q, {}, point));
}

/// S, or S~.
template <class T>
Form<T> decrease(const Constants<T>& constants,
                 const ProofNumbers<T>& proof,
                 const Iteration<T>& it) {
  Form<T> form;
  add_lyapunov(constants.rate, constants, proof, it, false, form);
  add_lyapunov(T(-1), constants, proof, it, true, form);
  const T& q = constants.curvature;
  const Point<T> star{};
  form.add(T(-proof.l_x_star), interpolation(q, it.before, star));
  form.add(T(-proof.l_star_x(constants.rate)), interpolation(q, star, it.before));
  form.add(T(-proof.l_next_star), interpolation(q, it.after, star));
  form.add(T(-proof.l_star_next()), interpolation(q, star, it.after));
  form.add(T(-proof.l_x_next), interpolation(q, it.before, it.after));
  form.add(T(-proof.l_next_x), interpolation(q, it.after, it.before));
  form.add(T(-proof.message * constants.lost), it.compressed, it.compressed);
  form.add(proof.message, it.lost, it.lost);
  return form;
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
  const auto proof = named<T>(question, numbers);
  const FormSizes sizes = form_sizes(question);
  Conditions<T> conditions;
  const auto of_means = iteration_of(question.method, constants.step, false);
  conditions.matrices.push_back(square_of(proof.form, sizes.state));
  conditions.matrices.push_back(restricted(decrease(constants, proof, of_means), of_means.used));
  if (sizes.deviation > 0) {
    const auto of_deviations = iteration_of(question.method, constants.step, true);
    conditions.matrices.push_back(square_of(proof.deviation, sizes.deviation));
    conditions.matrices.push_back(
        restricted(decrease(constants, proof, of_deviations), of_deviations.used));
  }
  conditions.numbers = {proof.s_x_star,
                        proof.s_star_x,
                        proof.l_x_star,
                        proof.l_star_x(constants.rate),
                        proof.l_next_star,
                        proof.l_star_next(),
                        proof.l_x_next,
                        proof.l_next_x,
                        proof.message};
  return conditions;
}

template <class T>
Constants<T> constants_of(const WorstRateQuestion& question, std::int64_t ticks) {
  const T smoothness(question.problem.smoothness);
  return {.step = T(question.step) * smoothness,
          .curvature = T(question.problem.strong_convexity) / smoothness,
          .lost = T(1) - T(question.problem.contraction),
          .rate = T(ticks) / T(kTicks)};
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

template <class T>
bool holds(const Conditions<T>& conditions) {
  return std::all_of(conditions.numbers.begin(),
                     conditions.numbers.end(),
                     [](const T& number) { return number >= 0; }) &&
         std::all_of(conditions.matrices.begin(),
                     conditions.matrices.end(),
                     [](const auto& matrix) { return least_pivot(matrix) > 0; });
}

Conditions<Rational> exact_conditions(const WorstRateQuestion& question,
                                      const std::vector<double>& numbers,
                                      std::int64_t ticks) {
  return conditions(question, constants_of<Rational>(question, ticks), numbers);
}

bool is_exact_proof(const WorstRateQuestion& question,
                    const std::vector<double>& numbers,
                    std::int64_t ticks) {
  return std::all_of(
             numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); }) &&
         holds(exact_conditions(question, numbers, ticks));
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

/// A point of the cone at a large rho: W is the identity, the next gradient and the message have
/// large multipliers, the latter the larger where it moves x', and rho W outweighs all else.
RatePoint start_of(const WorstRateQuestion& question, const RateProgram& program) {
  constexpr Real kLargest = 1e15L;
  auto constants = constants_of<Real>(question, 0);
  RatePoint start;
  start.y = program.norm;  // the identity for W and W~
  const std::size_t scalars = start.y.size() - kScalarNames.size();
  start.rate = 1;
  const bool moves_by_message = question.method != DescentMethod::ef21;
  const Real of_message = moves_by_message ? 1e4L * (1 + constants.step * constants.step) : 1;
  do {
    start.rate *= 4;
    constants.rate = start.rate;
    const Real s = 1 / (2 * start.rate);
    const std::array<Real, kScalarNames.size()> of_scalars{s, s, 1, 100, 1, 1, 10 * of_message};
    std::copy(of_scalars.begin(),
              of_scalars.end(),
              start.y.begin() + static_cast<std::ptrdiff_t>(scalars));
  } while (!holds(conditions(question, constants, start.y)) && start.rate < kLargest);
  return start;
}

LyapunovFunction lyapunov_of(const WorstRateQuestion& question,
                             const std::vector<double>& numbers) {
  const auto constants = constants_of<double>(question, kTicks);
  const auto proof = named<double>(question, numbers);
  const auto form_of = [&](bool of_deviations) {
    const auto it = iteration_of(question.method, constants.step, of_deviations);
    Form<double> form;
    add_lyapunov(1.0, constants, proof, it, false, form);
    return lower_triangle(restricted(form, it.state));
  };
  LyapunovFunction lyapunov{
      .state = form_of(false), .objective = proof.objective(), .deviation = {}};
  if (question.workers > 1) {
    lyapunov.deviation = form_of(true);
  }
  return lyapunov;
}

double exact_least_pivot(const Conditions<Rational>& conditions) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& matrix : conditions.matrices) {
    least = std::min(least, least_pivot(matrix).convert_to<double>());
  }
  return least;
}

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
    if (!is_exact_proof(question_, numbers, ticks)) {
      return std::nullopt;
    }
    return DecimalProof{.ticks = ticks, .numbers = std::move(numbers), .steps = steps_};
  }

  WorstRateQuestion question_;
  RateProgram program_;
  RatePoint start_;
  int steps_ = 0;
};

}  // namespace
}  // namespace worst_case

std::vector<std::string> proof_names(const WorstRateQuestion& question) {
  return worst_case::names_of_numbers(question);
}

RateProgram rate_program(const WorstRateQuestion& question) {
  return worst_case::program_of(question);
}

bool is_proof(const WorstRateQuestion& question, const std::vector<double>& proof, double rate) {
  return proof.size() == proof_names(question).size() &&
         worst_case::is_exact_proof(question, proof, worst_case::ticks_of(rate));
}

std::optional<WorstRate> worst_rate(const WorstRateQuestion& question) {
  worst_case::check_question(question);
  const auto found = worst_case::DecimalSearch(question).run();
  if (!found) {
    return std::nullopt;
  }
  const auto exact = worst_case::exact_conditions(question, found->numbers, found->ticks);
  return WorstRate{.rate = worst_case::rate_of(found->ticks),
                   .least_pivot = worst_case::exact_least_pivot(exact),
                   .lyapunov = worst_case::lyapunov_of(question, found->numbers),
                   .proof = found->numbers,
                   .steps = found->steps};
}

}  // namespace residuum
