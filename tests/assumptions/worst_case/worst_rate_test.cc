// The worst rate at any step: known values, what V does on random problems, and runs that come
// near.

#include "assumptions/worst_case/worst_rate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "tests/assumptions/rotated_quadratics.h"

namespace residuum {
namespace {

using test::Matrix;
using test::normals;
using test::random_curvature;
using Vectors = std::vector<std::vector<double>>;

/// L = 1; the step is a multiple of the best one.
WorstRateQuestion question_of(
    DescentMethod method, double condition, double lost, double multiple = 1, int workers = 1) {
  WorstRateQuestion question{
      .method = method,
      .problem = {.smoothness = 1, .strong_convexity = 1 / condition, .contraction = 1 - lost},
      .workers = workers};
  question.step =
      multiple * (method == DescentMethod::memoryless ? memoryless_step(question.problem)
                                                      : tight_step(question.problem));
  return question;
}

/// A proved bound may exceed the value by one in the seventh digit of 1 - rate.
void expect_bound(const WorstRateQuestion& question, double value) {
  const auto found = worst_rate(question);
  ASSERT_TRUE(found.has_value());
  EXPECT_GE(found->rate, value * (1 - 1e-15));
  EXPECT_LE(found->rate, value + 1e-6 * (1 - value));
  EXPECT_TRUE(is_proof(question, found->proof, found->rate));
  EXPECT_GT(found->least_pivot, 0);
}

TEST(WorstRate, IsTheTightRateOfErrorFeedbackAtItsStep) {
  struct Case {
    double condition;
    double lost;
    double rate;
  };
  for (const auto& [condition, lost, rate] : {Case{2, 0.5, 0.794108532},
                                              Case{10, 0.9, 0.990469128},
                                              Case{100, 0.99, 0.999900497},
                                              Case{1000, 0.999, 0.999999000}}) {
    for (const auto method : {DescentMethod::ef14, DescentMethod::ef21}) {
      for (const int workers : {1, 4}) {
        const auto question = question_of(method, condition, lost, 1, workers);
        expect_bound(question, tight_rate(question.problem));
        EXPECT_NEAR(tight_rate(question.problem), rate, 6e-10);
      }
    }
  }
}

TEST(WorstRate, IsThatOfDescentAtAnyStep) {
  // The slower of the curvatures mu and L decides: (1 - eta mu)^2 or (1 - eta L)^2.
  for (const double step : {0.1, 0.7, 1.3, 1.9}) {
    WorstRateQuestion question = question_of(DescentMethod::dense, 10, 0);
    question.step = step;
    expect_bound(question, std::pow(std::max(std::abs(1 - step), std::abs(1 - step / 10)), 2));
  }
}

TEST(WorstRate, IsThatOfCompressedDescentAtItsStep) {
  expect_bound(question_of(DescentMethod::memoryless, 10, 0.9), 0.9895216445537524);
  const auto question = question_of(DescentMethod::memoryless, 2, 0.5);
  expect_bound(question, memoryless_rate(question.problem));
}

TEST(WorstRate, IsTheSameInOtherUnits) {
  const auto question = question_of(DescentMethod::ef14, 10, 0.5, 0.5);
  auto other = question;
  other.problem.smoothness = 640;
  other.problem.strong_convexity *= 640;
  other.step /= 640;

  const auto rate = worst_rate(question);
  ASSERT_TRUE(rate.has_value());
  expect_bound(other, rate->rate - 1e-7 * (1 - rate->rate));
}

TEST(WorstRate, IsAbsentWhereTheMethodDiverges) {
  auto question = question_of(DescentMethod::dense, 10, 0);
  question.step = 2.1;
  EXPECT_FALSE(worst_rate(question).has_value());
  EXPECT_FALSE(worst_rate(question_of(DescentMethod::ef21, 10, 0.5, 2)).has_value());
}

TEST(WorstRate, ChecksAProofItself) {
  const auto question = question_of(DescentMethod::ef14, 10, 0.5, 0.8);
  const auto found = worst_rate(question);
  ASSERT_TRUE(found.has_value());
  const double rate = found->rate;

  EXPECT_TRUE(is_proof(question, found->proof, rate));
  EXPECT_FALSE(is_proof(question, found->proof, rate - 1e-6 * (1 - rate)));
  auto other_step = question;
  other_step.step *= 1 - 1e-3;
  EXPECT_FALSE(is_proof(other_step, found->proof, rate));
  const auto names = proof_names(question);
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto numbers = found->proof;
    numbers[i] = -1;
    EXPECT_FALSE(is_proof(question, numbers, rate)) << names[i];
    numbers[i] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(is_proof(question, numbers, rate)) << names[i];
  }
  auto shorter = found->proof;
  shorter.pop_back();
  EXPECT_FALSE(is_proof(question, shorter, rate));
}

TEST(WorstRate, RefusesWhatIsNoQuestion) {
  auto question = question_of(DescentMethod::ef21, 10, 0.5);
  question.step = 0;
  EXPECT_THROW(worst_rate(question), Error);
  question = question_of(DescentMethod::ef21, 1, 0.5);
  EXPECT_THROW(worst_rate(question), Error);
  question = question_of(DescentMethod::ef21, 10, 0);
  EXPECT_THROW(worst_rate(question), Error);
}

// --- V on random quadratics ------------------------------------------------------------------

std::vector<double> product(const Matrix& matrix, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      y[i] += matrix[i][j] * x[j];
    }
  }
  return y;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

/// a + factor b.
std::vector<double> plus(std::vector<double> a, double factor, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] += factor * b[i];
  }
  return a;
}

std::vector<double> mean(const Vectors& vectors) {
  std::vector<double> sum(vectors.front().size());
  for (const auto& vector : vectors) {
    sum = plus(std::move(sum), 1.0 / static_cast<double>(vectors.size()), vector);
  }
  return sum;
}

/// The form with this lower triangle.
double form_of(const std::vector<double>& lower, const Vectors& state) {
  double value = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < state.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j, ++at) {
      value += (i == j ? 1 : 2) * lower[at] * dot(state[i], state[j]);
    }
  }
  return value;
}

/// f_p = (1/2) x^T A_p x, so that L = 1 and x* = 0, and one state of a method on it.
struct State {
  std::vector<double> x;
  Vectors gradients;
  Vectors memories;  // e/eta of EF14, g of EF21
};

struct Workers {
  std::vector<Matrix> curvatures;

  void set_gradients(State& state) const {
    state.gradients.clear();
    for (const auto& curvature : curvatures) {
      state.gradients.push_back(product(curvature, state.x));
    }
  }
};

double value_of(const LyapunovFunction& v, double mu, const State& state) {
  const auto gradient = mean(state.gradients);
  const auto memory = mean(state.memories);
  // f = <grad f, x>/2, h = 2 (1 - mu) f
  double value = form_of(v.state, {state.x, gradient, memory}) +
                 v.objective * (1 - mu) * dot(gradient, state.x);
  for (std::size_t p = 0; p < state.gradients.size() && !v.deviation.empty(); ++p) {
    value +=
        form_of(v.deviation,
                {plus(state.gradients[p], -1, gradient), plus(state.memories[p], -1, memory)}) /
        static_cast<double>(state.gradients.size());
  }
  return value;
}

/// A message that loses exactly the share `lost` of |v|^2, in a random direction.
std::vector<double> message_of(const std::vector<double>& v, double lost, RandomStream& random) {
  const auto direction = normals(v.size(), random);
  return plus(v, std::sqrt(lost * dot(v, v) / dot(direction, direction)), direction);
}

/// Takes the method one iteration further.
State after(const WorstRateQuestion& question,
            const Workers& workers,
            double lost,
            State state,
            RandomStream& random) {
  const bool is_ef14 = question.method == DescentMethod::ef14;
  if (!is_ef14) {
    state.x = plus(state.x, -question.step, mean(state.memories));
    workers.set_gradients(state);
  }
  Vectors messages;
  for (std::size_t p = 0; p < state.memories.size(); ++p) {
    auto& memory = state.memories[p];
    const auto v = plus(state.gradients[p], is_ef14 ? 1 : -1, memory);
    messages.push_back(message_of(v, lost, random));
    memory = is_ef14 ? plus(v, -1, messages[p]) : plus(memory, 1, messages[p]);
  }
  if (is_ef14) {
    state.x = plus(state.x, -question.step, mean(messages));
    workers.set_gradients(state);
  }
  return state;
}

/// The largest V'/V over random quadratics and states. `lost` is what messages lose.
double largest_ratio(const WorstRateQuestion& question, const LyapunovFunction& v, double lost) {
  RandomStream random(3, Purpose::test, 0, 0);
  const double mu = question.problem.strong_convexity;
  double largest = 0;
  for (int problem = 0; problem < 4000; ++problem) {
    Workers workers;
    State state{.x = normals(2, random), .gradients = {}, .memories = {}};
    const double scale = std::exp(2 * random.normal());  // of memories against the model
    for (int p = 0; p < question.workers; ++p) {
      workers.curvatures.push_back(random_curvature(2, mu, random));
      state.memories.push_back(plus({0, 0}, scale, normals(2, random)));
    }
    workers.set_gradients(state);
    for (int iteration = 0; iteration < 10; ++iteration) {
      const double before = value_of(v, mu, state);
      state = after(question, workers, lost, std::move(state), random);
      largest = std::max(largest, value_of(v, mu, state) / before);
    }
  }
  return largest;
}

TEST(WorstRate, HoldsOfItsVOnRandomQuadratics) {
  for (const auto method : {DescentMethod::ef14, DescentMethod::ef21}) {
    for (const double multiple : {0.4, 1.0, 1.03}) {
      for (const int workers : {1, 3}) {
        const auto question = question_of(method, 10, 0.5, multiple, workers);
        const auto found = worst_rate(question);
        ASSERT_TRUE(found.has_value());

        const double ratio = largest_ratio(question, found->lyapunov, 0.5);
        EXPECT_LE(ratio, found->rate * (1 + 1e-9)) << multiple << ' ' << workers;
        if (workers == 1) {  // the search is not blind
          EXPECT_GE(ratio, 1 - 1.1 * (1 - found->rate)) << multiple;
        }
      }
    }
  }
}

TEST(WorstRate, IsPassedByMessagesThatLoseMore) {
  for (const auto method : {DescentMethod::ef14, DescentMethod::ef21}) {
    const auto question = question_of(method, 10, 0.5);
    const auto found = worst_rate(question);
    ASSERT_TRUE(found.has_value());

    EXPECT_GT(largest_ratio(question, found->lyapunov, 0.55), 1.01 * found->rate);
  }
}

// --- Runs ------------------------------------------------------------------------------------

/// The average factor of |x|^2 in the second half of a run of EF14 with Top-1 in two dimensions.
double average_factor(const Matrix& curvature, double step, double start) {
  constexpr int kIterations = 1200;
  std::vector<double> x{std::cos(start), std::sin(start)};
  std::vector<double> e{0, 0};
  double half = 1;
  for (int t = 0; t < kIterations; ++t) {
    if (t == kIterations / 2) {
      half = dot(x, x);
    }
    auto a = plus(e, step, product(curvature, x));
    const std::size_t sent = std::abs(a[0]) >= std::abs(a[1]) ? 0 : 1;
    x[sent] -= a[sent];
    a[sent] = 0;
    e = a;
  }
  return std::pow(dot(x, x) / half, 2.0 / kIterations);
}

TEST(WorstRate, IsNotPassedByRunsAndNearlyReached) {
  for (const double multiple : {0.3, 0.7, 1.0}) {
    const auto question = question_of(DescentMethod::ef14, 20, 0.5, multiple);
    const auto found = worst_rate(question);
    ASSERT_TRUE(found.has_value());
    double worst = 0;
    RandomStream random(5, Purpose::test, 0, 0);
    for (int problem = 0; problem < 1500; ++problem) {
      const double angle = random.normal();
      const auto curvature = test::rotated(angle, 1, 0.05);
      worst = std::max(worst, average_factor(curvature, question.step, 3 * random.normal()));
    }
    EXPECT_LE(worst, found->rate);
    EXPECT_GE(worst, 1 - 1.1 * (1 - found->rate));
  }
}

}  // namespace
}  // namespace residuum
