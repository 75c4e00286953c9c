// How a training ends: finished, stopped on request, diverged.

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using State = Outcome::State;

/// The gradient of worker 1 becomes `poison` at iteration 3.
test::TinyObjective poisoned(double poison) {
  return {std::vector<double>{1, 1},
          [poison](const Draw& draw, std::span<const double> w, std::span<double> g) {
            g[0] = w[0];
            g[1] = draw.worker == 1 && draw.iteration == 3 ? poison : 0;
          }};
}

TEST(Training, EndsFinishedAfterItsIterations) {
  const auto run = test::train(test::noisy_quadratic(2, 0), {.workers = 2, .iterations = 5});

  EXPECT_EQ(run.outcome.state, State::finished);
  EXPECT_EQ(run.outcome.iterations, 5U);
  EXPECT_EQ(run.outcome.message, "");
  EXPECT_TRUE(run.outcome.evaluation.has_value());
  EXPECT_TRUE(run.outcome.test.has_value());
}

TEST(Training, EndsDivergedAtAGradientThatIsNotFinite) {
  for (const double poison :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      const auto run =
          test::train(poisoned(poison), {.workers = 3, .iterations = 10, .precision = precision});

      EXPECT_EQ(run.outcome.state, State::diverged);
      EXPECT_EQ(run.outcome.iterations, 3U);
      EXPECT_EQ(run.outcome.message,
                std::string("gradient of worker 1 is not finite at iteration 3: entry 1 is ") +
                    (std::isnan(poison) ? "nan" : "inf"));
      EXPECT_EQ(run.frames.size(), 3U) << "the broken iteration was shown";
      EXPECT_FALSE(run.outcome.evaluation.has_value());
    }
  }
}

TEST(Training, EndsDivergedAtAStepThatIsTooLong) {
  // w <- (1 - 30) w: beyond the largest double after some 200 iterations.
  const test::TinyObjective objective(
      {1.0}, [](const Draw&, std::span<const double> w, std::span<double> g) { g[0] = w[0]; });

  const auto run = test::train(objective, {.step = {{"value", 30}}, .iterations = 10000});

  EXPECT_EQ(run.outcome.state, State::diverged);
  EXPECT_LT(run.outcome.iterations, 300U);
}

TEST(Training, EndsStoppedAfterTheIterationInWhichItWasAsked) {
  std::atomic<bool> stop = false;
  const test::TinyObjective objective(
      {1.0}, [&stop](const Draw& draw, std::span<const double>, std::span<double> g) {
        g[0] = 1;
        if (draw.iteration == 4) {
          stop = true;
        }
      });

  const auto run = test::train(objective, {.iterations = 10, .stop = &stop});

  EXPECT_EQ(run.outcome.state, State::stopped);
  EXPECT_EQ(run.outcome.iterations, 5U);
  EXPECT_EQ(run.outcome.message, "stopped on request after iteration 4");
  EXPECT_EQ(run.frames.size(), 5U);
}

TEST(Training, EndsAlikeOnEveryProcessWhateverTheReason) {
  test::on_processes(3, [](World& world) {
    test::FrameKeeper keeper;
    const auto broken = test::train(world,
                                    poisoned(std::numeric_limits<double>::quiet_NaN()),
                                    {.workers = 3, .iterations = 10},
                                    keeper);
    EXPECT_EQ(broken.state, State::diverged);
    EXPECT_EQ(broken.message, "gradient of worker 1 is not finite at iteration 3: entry 1 is nan");

    // Asked on one process only: all stop after the same iteration.
    const std::atomic<bool> stop = world.rank() == 2;
    const auto stopped = test::train(world,
                                     test::noisy_quadratic(2, 0),
                                     {.workers = 4, .iterations = 10, .stop = &stop},
                                     keeper);
    EXPECT_EQ(stopped.state, State::stopped);
    EXPECT_EQ(stopped.iterations, 1U);
  });
}

TEST(Training, OfNoIterationsIsFinishedAtOnce) {
  const auto run = test::train(test::noisy_quadratic(2, 0), {.iterations = 0});

  EXPECT_EQ(run.outcome.state, State::finished);
  EXPECT_EQ(run.outcome.iterations, 0U);
  EXPECT_TRUE(run.frames.empty());
}

}  // namespace
}  // namespace residuum
