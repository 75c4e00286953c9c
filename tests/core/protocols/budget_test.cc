// Budgets of gradients and of virtual seconds: where a run ends by them, what it says of how far it
// is, and that a run which was stopped ends where another does.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "tests/core/protocols/real_support.h"
#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

constexpr std::uint64_t kFarAway = 100'000;

std::unique_ptr<Protocol> timed(Json section) {
  return make_protocol(Section("protocol", section));
}

Recipe recipe_for(const Protocol& protocol, OpenBudget budget, int workers = 4) {
  Recipe recipe;
  recipe.protocol = &protocol;
  recipe.workers = workers;
  recipe.iterations = kFarAway;
  recipe.budget = budget;
  return recipe;
}

std::uint64_t iterations_of(const Recipe& recipe, int processes = 1) {
  std::uint64_t iterations = 0;
  const auto objective = test::noisy_quadratic(12, 0.5);
  test::on_processes(processes, [&](World& world) {
    test::FrameKeeper keeper;
    const Outcome outcome = test::train(world, objective, recipe, keeper);
    EXPECT_EQ(outcome.state, Outcome::State::finished) << outcome.message;
    if (world.is_root()) {
      iterations = outcome.iterations;
      EXPECT_EQ(keeper.frames.size(), iterations);
    }
  });
  return iterations;
}

std::uint64_t iterations_in(double seconds, const Json& section, int processes = 1) {
  const auto protocol = timed(section);
  return iterations_of(recipe_for(*protocol, {.virtual_s = seconds}), processes);
}

// Gradients take 0.1 s and messages nothing, so that S seconds are S / 0.1 iterations, although the
// clock adds up rounded tenths.
TEST(VirtualSeconds, AreSoManyIterationsOfConstantLength) {
  const Json bsp{{"kind", "bsp"}, {"compute", 0.1}};
  for (const int processes : {1, 3}) {
    EXPECT_EQ(iterations_in(10, bsp, processes), 100U);
  }
  EXPECT_EQ(iterations_in(0.05, bsp), 1U);
  EXPECT_EQ(iterations_in(0.11, bsp), 2U);
}

TEST(VirtualSeconds, EndARunAtTheFirstVersionThatReachesThem) {
  const Json half_speed{{"kind", "bsp"}, {"compute", 0.1}, {"speeds", {1, 1, 0.5, 1}}};
  EXPECT_EQ(iterations_in(2, half_speed), 10U) << "all wait for the slowest";
  const Json local{{"kind", "local"}, {"period", 4}, {"compute", 0.1}};
  EXPECT_EQ(iterations_in(2, local), 5U);
  EXPECT_EQ(iterations_in(2.1, local), 6U);
  const Json gossip{{"kind", "gossip"}, {"graph", "ring"}, {"compute", 0.1}};
  EXPECT_EQ(iterations_in(2, gossip, 2), 20U);
}

// Four workers hand in together at 1, 2, 3 s: version 9 is the first of second 3.
TEST(VirtualSeconds, CountTheClockOfTheServerWhereGradientsAreLate) {
  const Json asp{{"kind", "asp"}, {"compute", 1}};
  for (const int processes : {1, 2}) {
    EXPECT_EQ(iterations_in(3, asp, processes), 9U);
    EXPECT_EQ(iterations_in(2.5, asp, processes), 9U);
  }
}

TEST(VirtualSeconds, TellHowFarARunIs) {
  const auto bsp = timed({{"kind", "bsp"}, {"compute", 0.5}});
  const Recipe recipe = recipe_for(*bsp, {.virtual_s = 4});
  test::FrameKeeper keeper;
  const auto world = make_single_process();
  static_cast<void>(test::train(*world, test::noisy_quadratic(12, 0.5), recipe, keeper));
  ASSERT_EQ(keeper.reported.size(), 8U);
  for (std::uint64_t done = 1; done <= 8; ++done) {
    EXPECT_EQ(keeper.reported[done - 1], (std::pair<std::uint64_t, std::uint64_t>(done, 8)));
  }
}

/// Versions of this protocol have three gradients or more, as it happens.
const Json kInhad{{"kind", "inhad"},
                  {"nodes", 2},
                  {"quota", 3},
                  {"staleness", 2},
                  {"cap", 4},
                  {"compute", "exponential:1"}};

void expect_gradients(const std::vector<test::Frame>& frames, std::uint64_t gradients) {
  ASSERT_GE(frames.size(), 2U);
  EXPECT_GE(frames.back().notes->total_contributions, gradients);
  EXPECT_LT(frames[frames.size() - 2].notes->total_contributions, gradients);
}

TEST(Gradients, EndARunAtTheFirstVersionThatReachesThem) {
  const auto inhad = timed(kInhad);
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (const std::uint64_t gradients : {50, 51, 52, 53}) {
    const auto run = test::train(objective, recipe_for(*inhad, {.gradients = gradients}));
    EXPECT_EQ(run.outcome.state, Outcome::State::finished);
    expect_gradients(run.frames, gradients);
  }
}

TEST(Gradients, EndARunOfRealProcessesTooOnAllOfThem) {
  Json section = kInhad;
  section.erase("compute");
  const auto inhad = test::real(section);
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (const int every : {1, 7}) {  // processes meet at every version, or seldom
    Recipe recipe = recipe_for(*inhad, {.gradients = 50});
    recipe.measured = every;
    const test::RealRun run = test::run_really(3, objective, recipe);
    for (const Outcome& outcome : run.outcomes) {
      EXPECT_EQ(outcome.state, Outcome::State::finished);
      EXPECT_EQ(outcome.iterations, run.outcomes.front().iterations);
      EXPECT_LE(outcome.iterations, 17U) << "a version has three gradients at least";
    }
    if (every == 1) {
      expect_gradients(run.frames, 50);
    }
  }
}

/// Keeps the last state in memory; a process that begins with one goes on from it.
class Kept final : public Checkpoints {
 public:
  explicit Kept(const Cluster& cluster) : cluster_(cluster) {}

  std::uint64_t load(const SaveOrLoad& save_or_load) override {
    if (iterations > 0) {
      StateReader reader(bytes_);
      RunState state(cluster_, &reader, RunState::Direction::load);
      save_or_load(state);
      EXPECT_FALSE(state.damage());
    }
    return iterations;
  }
  bool due() override { return false; }
  void save(std::uint64_t done, const SaveOrLoad& save_or_load) override {
    bytes_.clear();
    StateWriter writer(bytes_);
    RunState state(cluster_, &writer, RunState::Direction::save);
    save_or_load(state);
    iterations = done;
  }

  std::uint64_t iterations = 0;

 private:
  const Cluster& cluster_;
  Bytes bytes_;
};

/// An observer that asks for a stop after a number of iterations.
class StopsAfter final : public StepObserver {
 public:
  StopsAfter(std::uint64_t after, std::atomic<bool>& stop) : after_(after), stop_(stop) {}
  void observe(const StepView& /*view*/) override {}
  void progress(std::uint64_t done, std::uint64_t /*total*/) override {
    stop_.store(stop_.load() || done >= after_);
  }

 private:
  std::uint64_t after_;
  std::atomic<bool>& stop_;
};

void expect_one_end(Recipe recipe, std::uint64_t stop_after) {
  const auto world = make_single_process();
  const auto objective = test::noisy_quadratic(12, 0.5);
  const std::uint64_t whole = test::train(objective, recipe).outcome.iterations;
  const Cluster cluster(*world, recipe.workers);
  Kept kept(cluster);
  recipe.checkpoints = &kept;
  std::atomic<bool> stop = false;
  recipe.stop = &stop;
  StopsAfter stopper(stop_after, stop);
  const Outcome first = test::train(*world, objective, recipe, stopper);
  EXPECT_EQ(first.state, Outcome::State::stopped);
  EXPECT_LT(kept.iterations, whole);
  recipe.stop = nullptr;
  test::FrameKeeper rest;
  const Outcome second = test::train(*world, objective, recipe, rest);
  EXPECT_EQ(second.iterations, whole);
  EXPECT_EQ(kept.iterations, whole) << "the end is saved";
  test::FrameKeeper nothing;
  const Outcome third = test::train(*world, objective, recipe, nothing);
  EXPECT_EQ(third.iterations, whole);
  EXPECT_TRUE(nothing.frames.empty()) << "the budget was spent before";
}

TEST(Budgets, EndAResumedRunWhereAnotherEnds) {
  const auto bsp = timed({{"kind", "bsp"}, {"compute", "lognormal:0.1,0.5"}});
  expect_one_end(recipe_for(*bsp, {.virtual_s = 3}), 5);
  const auto asp = timed({{"kind", "asp"}, {"compute", "exponential:0.1"}});
  expect_one_end(recipe_for(*asp, {.virtual_s = 2}), 20);
  const auto inhad = timed(kInhad);
  expect_one_end(recipe_for(*inhad, {.gradients = 60}), 4);
}

}  // namespace
}  // namespace residuum
