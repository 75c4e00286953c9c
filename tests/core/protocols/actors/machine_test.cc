// Compute times follow their laws, speeds and slow windows; letters take what their link says.

#include "core/protocols/actors/machine.h"

#include <gtest/gtest.h>

#include <cmath>

namespace residuum {
namespace {

/// Returns the mean of f(time) over gradients that each begin at time 0 of a fresh machine.
template <class Of>
double mean_compute_time(const TimeLaw& law, const Of& of) {
  constexpr int kDraws = 100000;
  Machine machine({.seed = 3, .compute = law}, 1);
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    sum += of(machine.compute_end(0, static_cast<std::uint64_t>(i), 0));
  }
  return sum / kDraws;
}

TEST(Machine, DrawsComputeTimesFromTheirLaws) {
  // Six standard errors of the mean of 1e5 draws are 6 sd / sqrt(1e5) = 0.019 sd.
  const auto itself = [](double x) { return x; };
  const auto log = [](double x) { return std::log(x); };
  EXPECT_EQ(mean_compute_time(TimeLaw::constant(0.25), itself), 0.25);
  EXPECT_NEAR(mean_compute_time(TimeLaw::exponential(2), itself), 2, 0.019 * 2);
  EXPECT_NEAR(mean_compute_time(TimeLaw::log_normal(0.5, 2), log), 0.5, 0.019 * 2);
  // The logarithm of a Pareto variable is log(scale) plus an exponential of mean 1 / alpha.
  EXPECT_NEAR(mean_compute_time(TimeLaw::pareto(3, 1.5), log), std::log(3) + 1 / 1.5, 0.019 / 1.5);
}

TEST(Machine, DividesTimesBySpeed) {
  Machine machine({.compute = TimeLaw::constant(3), .speeds = {1, 2, 0.5}}, 3);

  EXPECT_EQ(machine.compute_end(0, 0, 10), 13);
  EXPECT_EQ(machine.compute_end(1, 0, 10), 11.5);
  EXPECT_EQ(machine.compute_end(2, 0, 10), 16);
}

TEST(Machine, KeepsTheTimesOfAWorkerWhenAnotherJoins) {
  Machine small({.compute = TimeLaw::exponential(1)}, 2);
  Machine large({.compute = TimeLaw::exponential(1)}, 7);

  for (std::uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(small.compute_end(1, i, 0), large.compute_end(1, i, 0));
  }
}

TEST(Machine, SlowsStragglersInTheirWindowsOnly) {
  // Half of the time is slow and goes at a quarter of the speed, so work takes 1 / (1/2 + 1/8)
  // = 1.6 times as long. There are about 8000 windows of each kind, with a relative error of 1.2%.
  Machine machine({.seed = 5,
                   .compute = TimeLaw::constant(0.1),
                   .stragglers = {.factor = 4, .normal_seconds = 2, .slow_seconds = 2}},
                  1);
  constexpr int kGradients = 200000;
  double time = 0;
  int normal = 0;
  int slow = 0;
  for (int i = 0; i < kGradients; ++i) {
    const double end = machine.compute_end(0, static_cast<std::uint64_t>(i), time);
    ASSERT_GE(end - time, 0.1 - 1e-9);
    ASSERT_LE(end - time, 0.4 + 1e-9);
    normal += std::abs(end - time - 0.1) < 1e-6 ? 1 : 0;
    slow += std::abs(end - time - 0.4) < 1e-6 ? 1 : 0;
    time = end;
  }

  EXPECT_NEAR(time / (0.1 * kGradients), 1.6, 6 * 0.012);
  EXPECT_GT(normal, kGradients / 2);
  EXPECT_GT(slow, kGradients / 10);
}

TEST(Machine, LetsLettersOvertakeOnlyWithJitter) {
  const Machine fixed({.delay = linear_delay(1, 0.5)}, 2);
  const Machine jittery({.delay = linear_delay(1, 0.5), .jitter = TimeLaw::exponential(3)}, 2);

  bool differs = false;
  for (std::uint64_t number = 0; number < 10; ++number) {
    EXPECT_EQ(fixed.travel(0, 1, 8, number), 5);
    EXPECT_GE(jittery.travel(0, 1, 8, number), 5);
    EXPECT_EQ(jittery.travel(0, 1, 8, number), jittery.travel(0, 1, 8, number));
    differs = differs || jittery.travel(0, 1, 8, number) != jittery.travel(0, 1, 8, 0);
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace residuum
