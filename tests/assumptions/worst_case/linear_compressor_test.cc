// Quadratics with a linear compressor: known rates, proved worst cases, and runs.

#include "assumptions/worst_case/linear_compressor.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "core/error.h"

namespace residuum {
namespace {

/// L = 1; the step is a multiple of the best one without momentum, times 1 - momentum.
WorstRateQuestion asked(DescentMethod method, double condition, double kept, double multiple = 1) {
  WorstRateQuestion question{
      .method = method,
      .problem = {.smoothness = 1, .strong_convexity = 1 / condition, .contraction = kept}};
  question.step =
      multiple * (method == DescentMethod::memoryless ? memoryless_step(question.problem)
                                                      : tight_step(question.problem));
  return question;
}

WorstRateQuestion with_momentum(WorstRateQuestion question, double momentum) {
  question.momentum = momentum;
  question.step *= 1 - momentum;
  return question;
}

WorstRateQuestion econtrol_of(double weight, double condition, double kept, double multiple) {
  auto question = asked(DescentMethod::econtrol, condition, kept, multiple);
  question.error_weight = weight;
  return question;
}

TEST(LinearCompressor, AttainsTheTightRate) {
  struct Case {
    double condition;
    double kept;
    double rate;  // of the papers
  };
  for (const auto& [condition, kept, rate] : {Case{2, 0.5, 0.794108532},
                                              Case{10, 0.1, 0.990469128},
                                              Case{100, 0.01, 0.999900497},
                                              Case{1000, 0.001, 0.999999000}}) {
    for (const auto method : {DescentMethod::ef14, DescentMethod::ef21}) {
      const auto found = slowest_linear(asked(method, condition, kept));
      EXPECT_NEAR(found.rate, rate, 6e-10);
    }
  }
}

TEST(LinearCompressor, IsThatOfDescentWhereNothingIsLost) {
  auto question = asked(DescentMethod::dense, 10, 1);
  question.step = 1.3;
  EXPECT_NEAR(rate_on(question, {.curvature = 0.5, .angle = 1}), 0.35 * 0.35, 1e-15);
  EXPECT_NEAR(slowest_linear(question).rate, 0.87 * 0.87, 1e-12);
  EXPECT_NEAR(
      slowest_linear(asked(DescentMethod::memoryless, 10, 0.1)).rate, 0.9895216445537524, 1e-12);
}

/// The proved rate is rounded up in the seventh digit of 1 - rate.
TEST(LinearCompressor, AttainsWhatIsProvedOfMomentumAndEControl) {
  for (const auto& question : {econtrol_of(0.01, 10, 0.5, 0.1),
                               econtrol_of(0.01, 10, 0.5, 1.05),
                               econtrol_of(0.001, 100, 0.1, 0.5),
                               with_momentum(asked(DescentMethod::ef21, 10, 0.5, 0.5), 0.8),
                               with_momentum(asked(DescentMethod::ef21, 10, 0.5, 1), 0.8),
                               with_momentum(asked(DescentMethod::ef14, 10, 0.1, 1), 0.8),
                               with_momentum(asked(DescentMethod::ef14, 100, 0.5, 1.05), 0.8)}) {
    const auto proved = worst_rate(question);
    ASSERT_TRUE(proved.has_value());
    const double reached = slowest_linear(question).rate;
    EXPECT_LE(reached, proved->rate);
    EXPECT_GT(reached, proved->rate - 1.1e-7 * (1 - proved->rate));
  }
}

TEST(LinearCompressor, StaysBelowWhatIsProvedElsewhere) {
  for (const auto& question : {econtrol_of(0.001, 10, 0.1, 1),
                               with_momentum(asked(DescentMethod::ef21, 10, 0.1, 1), 0.8)}) {
    const auto proved = worst_rate(question);
    ASSERT_TRUE(proved.has_value());
    const double reached = slowest_linear(question).rate;
    EXPECT_LT(reached, proved->rate);
    EXPECT_GT(reached, proved->rate - 0.05 * (1 - proved->rate));
  }
}

TEST(LinearCompressor, DivergesWhereNothingIsProved) {
  for (const auto& question :
       {asked(DescentMethod::ef21, 1000, 0.5, 1.05), econtrol_of(0.25, 10, 0.5, 1)}) {
    EXPECT_GT(slowest_linear(question).rate, 1);
    EXPECT_FALSE(worst_rate(question).has_value());
  }
}

TEST(LinearCompressor, RefusesWhatIsNoQuestion) {
  EXPECT_THROW(slowest_linear(asked(DescentMethod::ef21, 1, 0.5)), Error);
  EXPECT_THROW(slowest_linear(asked(DescentMethod::ef14, 10, 0.5, -1)), Error);
}

using Plane = std::array<double, 2>;

Plane plus(const Plane& a, double factor, const Plane& b) {
  return {a[0] + factor * b[0], a[1] + factor * b[1]};
}

/// a - s R a.
Plane compressed(const WorstRateQuestion& question, double angle, const Plane& a) {
  const double cosine = std::cos(angle);
  const double sine = std::sin(angle);
  const Plane turned{cosine * a[0] - sine * a[1], sine * a[0] + cosine * a[1]};
  return plus(a, -question.problem.root(), turned);
}

/// EControl in the plane as its paper has it, without complex numbers.
struct EControlRun {
  Plane x{1, 0.5};
  Plane h{0, 0};
  Plane e{0, 0};

  void iterate(const WorstRateQuestion& question, const LinearCompressor& problem) {
    x = plus(x, -question.step, h);
    const Plane missed{problem.curvature * x[0] - h[0], problem.curvature * x[1] - h[1]};
    const Plane sent = compressed(question, problem.angle, plus(missed, question.error_weight, e));
    h = plus(h, 1, sent);
    e = plus(plus(e, 1, missed), -1, sent);
  }

  double norm_sq() const {
    return x[0] * x[0] + x[1] * x[1] + h[0] * h[0] + h[1] * h[1] + e[0] * e[0] + e[1] * e[1];
  }
  void scale(double factor) {
    for (auto* part : {&x, &h, &e}) {
      *part = {factor * (*part)[0], factor * (*part)[1]};
    }
  }
};

TEST(LinearCompressor, IsWhatARunOfEControlFallsBy) {
  constexpr int kBefore = 5000;
  constexpr int kCounted = 100'000;
  for (const auto& question : {econtrol_of(0.01, 10, 0.5, 0.1), econtrol_of(0.01, 10, 0.5, 1.05)}) {
    const LinearCompressor problem = slowest_linear(question);
    EControlRun run;
    double logarithm = 0;
    for (int t = 0; t < kBefore + kCounted; ++t) {
      run.iterate(question, problem);
      const double norm_sq = run.norm_sq();
      logarithm += t < kBefore ? 0 : std::log(norm_sq);
      run.scale(1 / std::sqrt(norm_sq));
    }
    // The state turns, which adds a bounded number to the sum.
    EXPECT_NEAR(std::exp(logarithm / kCounted), problem.rate, 1e-2 * (1 - problem.rate));
  }
}

}  // namespace
}  // namespace residuum
