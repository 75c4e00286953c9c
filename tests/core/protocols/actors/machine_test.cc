// Compute times follow their laws, speeds and slow windows; messages take what their link says.

#include "core/protocols/actors/machine.h"

#include <gtest/gtest.h>

#include <cmath>

namespace residuum {
namespace {

/// Returns the mean of f(time) over gradients that each begin at time 0 of a fresh machine.
template <class Of>
double mean_compute_time(const TimeLaw& law, const Of& of) {
  constexpr int kDraws = 100000;
  Machine machine({.seed = 3, .compute = law}, {.workers = 1});
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
  Machine machine({.compute = TimeLaw::constant(3), .speeds = {1, 2, 0.5}}, {.workers = 3});

  EXPECT_EQ(machine.compute_end(0, 0, 10), 13);
  EXPECT_EQ(machine.compute_end(1, 0, 10), 11.5);
  EXPECT_EQ(machine.compute_end(2, 0, 10), 16);
}

TEST(Machine, KeepsTheTimesOfAWorkerWhenAnotherJoins) {
  Machine small({.compute = TimeLaw::exponential(1)}, {.workers = 2});
  Machine large({.compute = TimeLaw::exponential(1)}, {.workers = 7});

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
                  {.workers = 1});
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

TEST(Machine, LetsMessagesOvertakeOnlyWithJitter) {
  Machine fixed({.delay = linear_delay(1, 0.5)}, {.workers = 2});
  Machine jittery({.delay = linear_delay(1, 0.5), .jitter = TimeLaw::exponential(3)},
                  {.workers = 2});

  bool differs = false;
  for (std::uint64_t number = 0; number < 10; ++number) {
    EXPECT_EQ(fixed.arrival(0, 1, 8, number, 0), 5);
    EXPECT_GE(jittery.arrival(0, 1, 8, number, 0), 5);
    EXPECT_EQ(jittery.arrival(0, 1, 8, number, 0), jittery.arrival(0, 1, 8, number, 0));
    differs = differs || jittery.arrival(0, 1, 8, number, 0) != jittery.arrival(0, 1, 8, 0, 0);
  }
  EXPECT_TRUE(differs);
}

// 100 bytes keep a link busy for 1 s and are under way for 5 s.
TEST(Machine, ALinkCarriesOneMessageAtATimeAtEitherEnd) {
  const MachineOptions options{.delay = linear_delay(5, 0), .link_s_per_byte = 0.01};
  const Roster flat{.workers = 3};
  Machine machine(options, flat);
  EXPECT_EQ(machine.arrival(0, flat.server(), 100, 0, 0), 6);
  EXPECT_EQ(machine.arrival(1, flat.server(), 100, 0, 0), 7) << "the server receives the first";
  EXPECT_EQ(machine.arrival(0, flat.server(), 100, 1, 0), 8) << "sent at 2, after two others";
  EXPECT_EQ(machine.arrival(2, flat.server(), 100, 0, 20), 26) << "all links are free again";
  EXPECT_EQ(machine.arrival(flat.server(), 0, 100, 0, 20), 26) << "it sends while it receives";
  EXPECT_EQ(machine.arrival(flat.server(), 1, 100, 1, 20), 27);
}

/// Returns the message of the usage error that the machine ends with.
template <class Act>
std::string error_of_machine(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(Machine, SaysWhereItWouldComputeForEver) {
  const auto compute = [](double seconds, double window, double start) {
    Machine machine({.compute = TimeLaw::constant(seconds),
                     .stragglers = {.factor = 2, .normal_seconds = window, .slow_seconds = window}},
                    {.workers = 1});
    return error_of_machine([&] { machine.compute_end(0, 0, start); });
  };
  EXPECT_EQ(compute(10, 1, 0), "no error");
  EXPECT_NE(compute(1, 1e-9, 0).find("windows of stragglers"), std::string::npos);
  EXPECT_NE(compute(1e300, 1, 0).find("windows of stragglers"), std::string::npos);
  EXPECT_NE(compute(1, 1, 1e300).find("windows of stragglers"), std::string::npos);
}

TEST(Machine, SaysWhereVirtualTimeIsNoLongerFinite) {
  const auto compute = [](double seconds, double speed) {
    Machine machine({.compute = TimeLaw::constant(seconds), .speeds = {speed}}, {.workers = 1});
    return error_of_machine([&] { machine.compute_end(0, 0, 1e308); });
  };
  EXPECT_EQ(compute(1, 1), "no error");
  EXPECT_NE(compute(1e308, 1).find("beyond all numbers"), std::string::npos);
  EXPECT_NE(compute(1e300, 1e-300).find("beyond all numbers"), std::string::npos);
  Machine slow({.delay = linear_delay(1e308, 0), .link_s_per_byte = 1e308}, {.workers = 1});
  EXPECT_NE(error_of_machine([&] { slow.arrival(0, 1, 10, 0, 0); }).find("faster network"),
            std::string::npos);
}

TEST(Machine, WorkersOfANodeShareItsLink) {
  const Roster paired{.workers = 4, .nodes = 2};
  Machine machine({.delay = linear_delay(0, 0), .link_s_per_byte = 0.01}, paired);
  EXPECT_EQ(machine.arrival(0, paired.server(), 100, 0, 0), 1);
  EXPECT_EQ(machine.arrival(1, paired.node(1), 100, 0, 0), 2) << "node 0 sends for worker 0";
  EXPECT_EQ(machine.arrival(2, paired.node(0), 300, 0, 0), 3) << "node 1 receives, and may send";
}

}  // namespace
}  // namespace residuum
