// Gradients of real workers last as long as the virtual clock says for the same gradients: a
// sleeper records what it is asked for, and lets nobody wait.

#include "core/protocols/pace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "tests/core/protocols/real_support.h"
#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

class Recorder final : public Sleeper {
 public:
  double asked(int worker, std::uint64_t number, double seconds) override {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(asked_.emplace(std::pair(worker, number), seconds).second)
        << "gradient " << number << " of worker " << worker << " waits twice";
    return 0;
  }
  /// Seconds by worker and number of the gradient.
  const std::map<std::pair<int, std::uint64_t>, double>& seconds() const { return asked_; }

 private:
  std::mutex mutex_;
  std::map<std::pair<int, std::uint64_t>, double> asked_;
};

const Json kTimes{{"compute", "lognormal:0.1,0.5"}, {"speeds", {1, 1, 0.25, 2}}};

Json timed(Json section) {
  section.update(kTimes);
  return section;
}

/// The virtual clock's machine for the same draws.
Machine virtual_machine(std::uint64_t seed) {
  return Machine(
      {.seed = seed, .compute = TimeLaw::log_normal(std::log(0.1), 0.5), .speeds = {1, 1, 0.25, 2}},
      {.workers = 4});
}

void expect_draws_of_virtual_time(const Recorder& recorder, std::uint64_t seed) {
  Machine machine = virtual_machine(seed);
  for (const auto& [gradient, seconds] : recorder.seconds()) {
    const auto worker = static_cast<std::uint32_t>(gradient.first);
    EXPECT_NEAR(seconds, machine.compute_end(worker, gradient.second, 0), 1e-9);
  }
}

TEST(Pace, OfLateRealWorkersHasTheDrawsOfVirtualTime) {
  const auto objective = test::noisy_quadratic(12, 0.3);
  for (const Json& section : {Json{{"kind", "asp"}},
                              Json{{"kind", "ssp"}, {"staleness", 1}},
                              Json{{"kind", "inhad"}, {"nodes", 2}, {"quota", 4}}}) {
    SCOPED_TRACE(section.dump());
    const auto protocol = test::real(timed(section));
    Recorder recorder;
    Recipe recipe = test::recipe_of(*protocol, 4, 20);
    recipe.seed = 7;
    recipe.sleeper = &recorder;
    const test::RealRun run = test::run_really(3, objective, recipe);
    EXPECT_EQ(run.outcomes.front().state, Outcome::State::finished);
    EXPECT_GE(recorder.seconds().size(), 20U);
    expect_draws_of_virtual_time(recorder, 7);
  }
}

std::vector<test::Frame> frames_in_lockstep(const Recipe& recipe, int processes) {
  std::vector<test::Frame> frames;
  const auto objective = test::noisy_quadratic(12, 0.3);
  test::on_processes(processes, [&](World& world) {
    test::FrameKeeper keeper;
    EXPECT_EQ(test::train(world, objective, recipe, keeper).state, Outcome::State::finished);
    if (world.is_root()) {
      frames = std::move(keeper.frames);
    }
  });
  return frames;
}

TEST(Pace, InLockstepHasTheDrawsOfVirtualTimeAndTrainsTheSame) {
  for (const Json& section : {Json{{"kind", "bsp"}},
                              Json{{"kind", "local"}, {"period", 3}},
                              Json{{"kind", "gossip"}, {"graph", "ring"}}}) {
    SCOPED_TRACE(section.dump());
    const auto simulated = make_protocol(Section("protocol", timed(section)));
    const auto real = test::real(timed(section));
    EXPECT_TRUE(real->law(4).is_on_wall_clock);
    EXPECT_FALSE(real->law(4).times_gradients);
    Recipe recipe = test::recipe_of(*simulated, 4, 6);
    const auto expected = frames_in_lockstep(recipe, 1);
    for (const int processes : {1, 3}) {
      Recorder recorder;
      recipe.protocol = real.get();
      recipe.sleeper = &recorder;
      test::expect_same_frames(frames_in_lockstep(recipe, processes), expected);
      EXPECT_EQ(recorder.seconds().size(), 4 * 6 * real->law(4).local_steps);
      expect_draws_of_virtual_time(recorder, recipe.seed);
    }
  }
}

class LastTime final : public StepObserver {
 public:
  void observe(const StepView& view) override {
    virtual_s = view.network.times.empty() ? -1 : view.network.times.front().total_s();
    has_wall = view.times.wall_s.has_value();
  }
  void progress(std::uint64_t /*done*/, std::uint64_t /*total*/) override {}
  double virtual_s = 0;
  bool has_wall = false;
};

// On a network that takes no time an iteration lasts as long as its slowest gradient.
TEST(Pace, InLockstepAddsUpToTheVirtualTimeOfTheRun) {
  const auto simulated = make_protocol(Section("protocol", timed({{"kind", "bsp"}})));
  const auto real = test::real(timed({{"kind", "bsp"}}));
  const auto objective = test::noisy_quadratic(12, 0.3);
  const auto world = make_single_process();
  Recipe recipe = test::recipe_of(*simulated, 4, 10);
  LastTime predicted;
  static_cast<void>(test::train(*world, objective, recipe, predicted));
  EXPECT_FALSE(predicted.has_wall);
  Recorder recorder;
  recipe.protocol = real.get();
  recipe.sleeper = &recorder;
  LastTime measured;
  static_cast<void>(test::train(*world, objective, recipe, measured));
  EXPECT_TRUE(measured.has_wall);
  EXPECT_EQ(measured.virtual_s, -1) << "the wall clock is no virtual time";
  double sum = 0;
  for (std::uint64_t t = 0; t < 10; ++t) {
    double longest = 0;
    for (int worker = 0; worker < 4; ++worker) {
      longest = std::max(longest, recorder.seconds().at({worker, t}));
    }
    sum += longest;
  }
  EXPECT_NEAR(predicted.virtual_s, sum, 1e-9);
}

/// Lets the first worker wait for an hour and the others not at all.
class Hour final : public Sleeper {
 public:
  double asked(int worker, std::uint64_t /*number*/, double /*seconds*/) override {
    return worker == 0 ? 3600 : 0;
  }
};

// All workers share one process, which computes one gradient after the other. If it waited there,
// or if the end of the run waited for the first worker, this test would take an hour.
TEST(Pace, OfOneWorkerHoldsUpNobodyElseAndNotTheEnd) {
  const auto objective = test::noisy_quadratic(12, 0.3);
  const auto asp = test::real(timed({{"kind", "asp"}}));
  Hour hour;
  Recipe recipe = test::recipe_of(*asp, 4, 12);
  recipe.sleeper = &hour;
  const test::RealRun run = test::run_really(2, objective, recipe);
  ASSERT_EQ(run.frames.size(), 12U);
  for (const test::Frame& frame : run.frames) {
    EXPECT_THAT(frame.contributors, testing::Each(testing::Gt(0)));
    EXPECT_FALSE(frame.contributors.empty());
  }
}

// Stragglers slow a gradient down by when it begins: windows are those of the same seed.
TEST(Pace, OfStragglersGoesByTheTimeOfTheRun) {
  const Stragglers slow{.factor = 4, .normal_seconds = 1, .slow_seconds = 1};
  const SimulatedMachine machine{
      .compute = TimeLaw::constant(0.5), .is_real = true, .stragglers = slow};
  const auto world = make_single_process();
  const Cluster cluster(*world, 2);
  Training training;
  training.seed = 3;
  training.cluster = &cluster;
  Pace pace(training, machine);
  Machine virtual_time({.seed = 3, .compute = TimeLaw::constant(0.5), .stragglers = slow},
                       {.workers = 2});
  double start = 0;
  bool was_slow = false;
  for (std::uint64_t number = 0; number < 40; ++number) {
    const double end = virtual_time.compute_end(1, number, start);
    const double seconds = pace.seconds(1, number, 1, start);
    EXPECT_NEAR(seconds, end - start, 1e-12);
    EXPECT_GE(seconds, 0.5 - 1e-9);
    EXPECT_LE(seconds, 2 + 1e-9);
    was_slow = was_slow || seconds > 0.6;
    start = end;
  }
  EXPECT_TRUE(was_slow);
}

std::string refusal_of(Json section) {
  try {
    static_cast<void>(test::real(std::move(section)));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Pace, IsGivenInSeconds) {
  for (const char* kind : {"bsp", "asp"}) {
    EXPECT_THAT(refusal_of({{"kind", kind}, {"compute", "measured"}}),
                testing::HasSubstr("a real run is timed by the wall clock anyway"));
    EXPECT_THAT(refusal_of({{"kind", kind}, {"speeds", {1, 2}}}),
                testing::HasSubstr("'protocol.speeds' needs protocol.compute"));
    EXPECT_EQ(refusal_of({{"kind", kind}}), "no error");
  }
}

}  // namespace
}  // namespace residuum
