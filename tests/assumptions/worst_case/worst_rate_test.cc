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

TEST(WorstRate, IsThatOfAllGradientStepsBeforeAnExchange) {
  // H steps of one worker without compression are H iterations. A mean of workers is no better.
  for (const double step : {0.7, 1.3, 1.9}) {
    for (const int local_steps : {1, 2, 3, 5}) {
      for (const int workers : {1, 3}) {
        WorstRateQuestion question = question_of(DescentMethod::dense, 10, 0, 1, workers);
        question.step = step;
        question.local_steps = local_steps;
        const double factor = std::max(std::abs(1 - step), std::abs(1 - step / 10));
        expect_bound(question, std::pow(factor, 2 * local_steps));
      }
    }
  }
}

TEST(WorstRate, IsThatOfPlainStepsWithoutMomentum) {
  for (const auto method : {DescentMethod::dense,
                            DescentMethod::memoryless,
                            DescentMethod::ef14,
                            DescentMethod::ef21}) {
    auto question = question_of(method, 10, 0.5, 0.8);
    const auto plain = worst_rate(question);
    ASSERT_TRUE(plain.has_value());
    question.momentum = 0;  // the velocity is in V, and nothing uses it
    const auto found = worst_rate(question);
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->rate, plain->rate, 2e-7 * (1 - plain->rate));
  }
}

/// The heavy ball on quadratics: the largest squared root of z^2 - (1 + beta - h lambda) z + beta
/// for curvatures lambda from q to 1. No bound for all functions is below.
double on_quadratics(double step, double momentum, double curvature) {
  constexpr int kCurvatures = 1000;
  double largest = 0;
  for (int i = 0; i <= kCurvatures; ++i) {
    const double lambda = curvature + (1 - curvature) * i / kCurvatures;
    const double sum = 1 + momentum - step * lambda;
    const double root = sum * sum - 4 * momentum;
    const double most = root < 0 ? std::sqrt(momentum) : (std::abs(sum) + std::sqrt(root)) / 2;
    largest = std::max(largest, most * most);
  }
  return largest;
}

WorstRateQuestion heavy_ball(double condition, double step, double momentum) {
  auto question = question_of(DescentMethod::dense, condition, 0);
  question.step = step;
  question.momentum = momentum;
  return question;
}

TEST(WorstRate, IsThatOfTheHeavyBallOnQuadraticsWhereMomentumIsSmall) {
  for (const double step : {0.1, 0.7, 1.3}) {
    for (const double momentum : {0.05, 0.1, 0.3}) {
      expect_bound(heavy_ball(10, step, momentum), on_quadratics(step, momentum, 0.1));
    }
  }
  const auto large = worst_rate(heavy_ball(10, 1.3, 0.5));
  ASSERT_TRUE(large.has_value());
  EXPECT_GT(large->rate, 1.2 * on_quadratics(1.3, 0.5, 0.1));
}

/// A gradient of Lessard, Recht, Packard (SIAM J. Optim. 2016, equation 4.11): mu = 1, L = 25.
double slope_with_a_cycle(double x) {
  if (x < 1) {
    return 25 * x;
  }
  return x < 2 ? x + 24 : 25 * x - 24;
}

TEST(WorstRate, IsAbsentWhereTheHeavyBallHasACycle) {
  // Polyak's step and momentum, which are the best for quadratics: 1/9 and 4/9.
  double before = 3.3;
  double x = 3.3;
  for (int t = 0; t < 1000; ++t) {
    const double next = x - slope_with_a_cycle(x) / 9 + 4.0 / 9 * (x - before);
    before = x;
    x = next;
  }
  EXPECT_GT(std::abs(x), 0.5);
  EXPECT_LT(on_quadratics(25.0 / 9, 4.0 / 9, 1.0 / 25), 0.45);

  EXPECT_FALSE(worst_rate(heavy_ball(25, 25.0 / 9, 4.0 / 9)).has_value());
}

WorstRateQuestion econtrol(double lost, double weight, double multiple, int workers = 1) {
  auto question = question_of(DescentMethod::econtrol, 10, lost, multiple, workers);
  question.error_weight = weight;
  return question;
}

TEST(WorstRate, OfEControlIsThatOfDescentWhereNothingIsLost) {
  // The estimates are the gradients, and what they have missed falls by 1 - w.
  for (const double weight : {0.1, 0.3, 1.0}) {
    auto question = econtrol(1e-8, weight, 1);
    question.step = 1.5;
    const auto found = worst_rate(question);
    ASSERT_TRUE(found.has_value());
    const double rate = std::max(std::pow(1 - 0.15, 2), std::pow(1 - weight, 2));
    EXPECT_NEAR(found->rate, rate, 2e-4);
    EXPECT_GE(found->rate, rate);
  }
}

TEST(WorstRate, OfEControlIsAboveWhatItsErrorsFallBy) {
  for (const double weight : {0.001, 0.01, 0.05}) {
    const auto found = worst_rate(econtrol(0.5, weight, 0.8));
    ASSERT_TRUE(found.has_value());
    EXPECT_GT(found->rate, std::pow(1 - weight, 2));
  }
  EXPECT_FALSE(worst_rate(econtrol(0.5, 0.9, 0.5)).has_value());
}

TEST(WorstRate, IsAbsentForSeveralWorkersWithoutMemory) {
  // Three quadratics with one minimiser on which Top-1 without memory diverges at every step
  // (Beznosikov, Horvath, Richtarik, Safaryan, 2020, example 1): from (1, 1, 1) each worker sends
  // its largest entry, -5.5, at a place of its own. L = 34.5, mu = 1/2.
  const std::vector<double> ones(3, 1);
  std::vector<double> sum(3, 0);
  for (std::size_t p = 0; p < 3; ++p) {
    std::vector<double> a(3, 2);
    a[p] = -3;
    const auto gradient = [&](std::size_t j) { return 2 * (a[0] + a[1] + a[2]) * a[j] + 0.5; };
    EXPECT_GT(std::abs(gradient(p)), std::abs(gradient((p + 1) % 3)));
    sum[p] += gradient(p) / 3;
  }
  EXPECT_LT(*std::max_element(sum.begin(), sum.end()), 0);  // descent goes up

  for (const double multiple : {0.01, 0.1, 1.0}) {
    EXPECT_FALSE(
        worst_rate(question_of(DescentMethod::memoryless, 69, 2.0 / 3, multiple, 3)).has_value());
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
  for (const double momentum : {-0.1, 1.0}) {
    EXPECT_THROW(worst_rate(heavy_ball(10, 1, momentum)), Error);
  }
  for (const double weight : {0.0, 1.5}) {
    EXPECT_THROW(worst_rate(econtrol(0.5, weight, 1)), Error);
  }
  question = question_of(DescentMethod::ef21, 10, 0.5);
  question.local_steps = 2;
  EXPECT_THROW(worst_rate(question), Error);
  question = question_of(DescentMethod::ef14, 10, 0.5);
  for (const int local_steps : {0, kMostLocalSteps + 1}) {
    question.local_steps = local_steps;
    EXPECT_THROW(worst_rate(question), Error);
  }
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
  std::vector<double> velocity;
  Vectors gradients;
  Vectors last_gradients;  // at x + step velocity
  Vectors memories;        // e/eta of EF14, g of EF21, h of EControl
  Vectors errors;          // of EControl
};

struct Workers {
  std::vector<Matrix> curvatures;

  Vectors gradients(const std::vector<double>& x) const {
    Vectors made;
    for (const auto& curvature : curvatures) {
      made.push_back(product(curvature, x));
    }
    return made;
  }
};

bool has_memories(DescentMethod method) { return method >= DescentMethod::ef14; }

/// The vectors of all workers that V has, gradients first.
std::vector<Vectors> of_workers(const WorstRateQuestion& question, const State& state) {
  std::vector<Vectors> all{state.gradients};
  if (has_memories(question.method)) {
    all.push_back(state.memories);
  }
  if (question.method == DescentMethod::econtrol) {
    all.push_back(state.errors);
  }
  if (question.momentum) {
    all.push_back(state.last_gradients);
  }
  return all;
}

double value_of(const WorstRateQuestion& question, const LyapunovFunction& v, const State& state) {
  const double mu = question.problem.strong_convexity;
  const auto all = of_workers(question, state);
  Vectors means{state.x};
  for (const auto& vectors : all) {
    means.push_back(mean(vectors));
  }
  if (question.momentum) {
    means.insert(means.end() - 1, state.velocity);
  }
  // f = <grad f, x>/2, h = 2 (1 - mu) f
  double value = form_of(v.state, means) + v.objective * (1 - mu) * dot(means[1], state.x);
  if (question.momentum) {
    value += v.last * (1 - mu) * dot(means.back(), plus(state.x, question.step, state.velocity));
  }
  for (std::size_t p = 0; p < state.gradients.size() && !v.deviation.empty(); ++p) {
    Vectors deviations;
    for (const auto& vectors : all) {
      deviations.push_back(plus(vectors[p], -1, mean(vectors)));
    }
    value += form_of(v.deviation, deviations) / static_cast<double>(state.gradients.size());
  }
  return value;
}

/// A message that loses exactly the share `lost` of |v|^2, in a random direction.
std::vector<double> message_of(const std::vector<double>& v, double lost, RandomStream& random) {
  const auto direction = normals(v.size(), random);
  return plus(v, std::sqrt(lost * dot(v, v) / dot(direction, direction)), direction);
}

/// The sum of the gradients of a worker's local steps.
std::vector<double> sum_of_gradients(const WorstRateQuestion& question,
                                     const Matrix& curvature,
                                     std::vector<double> x) {
  std::vector<double> sum(x.size());
  for (int i = 0; i < question.local_steps; ++i) {
    const auto gradient = product(curvature, x);
    sum = plus(sum, 1, gradient);
    x = plus(x, -question.step, gradient);
  }
  return sum;
}

void move(const WorstRateQuestion& question,
          const Workers& workers,
          const std::vector<double>& by,
          State& state) {
  state.velocity = plus(by, question.momentum.value_or(0), state.velocity);
  state.last_gradients = state.gradients;
  state.x = plus(state.x, -question.step, state.velocity);
  state.gradients = workers.gradients(state.x);
}

/// Takes the method one iteration further.
State after(const WorstRateQuestion& question,
            const Workers& workers,
            double lost,
            State state,
            RandomStream& random) {
  if (question.method >= DescentMethod::ef21) {
    move(question, workers, mean(state.memories), state);
    for (std::size_t p = 0; p < state.memories.size(); ++p) {
      const double weight = question.method == DescentMethod::econtrol ? question.error_weight : 0;
      const auto a = plus(plus(state.gradients[p], -1, state.memories[p]), weight, state.errors[p]);
      state.memories[p] = plus(state.memories[p], 1, message_of(a, lost, random));
      state.errors[p] = plus(plus(state.errors[p], 1, state.gradients[p]), -1, state.memories[p]);
    }
    return state;
  }
  Vectors messages;
  for (std::size_t p = 0; p < state.memories.size(); ++p) {
    auto v = sum_of_gradients(question, workers.curvatures[p], state.x);
    if (question.method == DescentMethod::ef14) {
      v = plus(v, 1, state.memories[p]);
    }
    messages.push_back(question.method == DescentMethod::dense ? v : message_of(v, lost, random));
    state.memories[p] = plus(v, -1, messages[p]);
  }
  move(question, workers, mean(messages), state);
  return state;
}

/// The largest V'/V over random quadratics and states. `lost` is the share that messages lose.
double largest_ratio(const WorstRateQuestion& question, const LyapunovFunction& v, double lost) {
  RandomStream random(3, Purpose::test, 0, 0);
  const auto scaled = [&random] {  // of memories against the model
    const auto direction = normals(2, random);
    return plus({0, 0}, std::exp(2 * random.normal()), direction);
  };
  const int problems = 4000 / question.workers;
  double largest = 0;
  for (int problem = 0; problem < problems; ++problem) {
    Workers workers;
    State state;
    state.x = normals(2, random);
    state.velocity = scaled();
    for (int p = 0; p < question.workers; ++p) {
      workers.curvatures.push_back(random_curvature(2, question.problem.strong_convexity, random));
      state.memories.push_back(scaled());
      state.errors.push_back(scaled());
    }
    state.gradients = workers.gradients(state.x);
    state.last_gradients = workers.gradients(plus(state.x, question.step, state.velocity));
    for (int iteration = 0; iteration < 10; ++iteration) {
      const double before = value_of(question, v, state);
      state = after(question, workers, lost, std::move(state), random);
      largest = std::max(largest, value_of(question, v, state) / before);
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

/// Methods whose V has more than that of error feedback.
std::vector<WorstRateQuestion> further_questions(int workers) {
  std::vector<WorstRateQuestion> questions;
  for (const auto method : {DescentMethod::ef14, DescentMethod::ef21}) {
    questions.push_back(question_of(method, 10, 0.5, 0.7, workers));
    questions.back().momentum = 0.3;
  }
  questions.push_back(question_of(DescentMethod::ef14, 10, 0.5, 0.3, workers));
  questions.back().local_steps = 3;
  questions.push_back(question_of(DescentMethod::ef14, 10, 0.5, 0.2, workers));
  questions.back().local_steps = 2;
  questions.back().momentum = 0.5;
  questions.push_back(econtrol(0.5, 0.05, 0.8, workers));
  return questions;
}

TEST(WorstRate, HoldsOfMomentumLocalStepsAndEControl) {
  for (const int workers : {1, 3}) {
    for (const auto& question : further_questions(workers)) {
      const auto found = worst_rate(question);
      ASSERT_TRUE(found.has_value());
      const double ratio = largest_ratio(question, found->lyapunov, 0.5);
      EXPECT_LE(ratio, found->rate * (1 + 1e-9)) << workers;
      if (workers == 1) {  // the search is not blind
        EXPECT_GE(ratio, 1 - 1.2 * (1 - found->rate));
        EXPECT_GT(largest_ratio(question, found->lyapunov, 0.6), 1.001 * found->rate);
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
