// Running statistics (of batch normalisation): kept by each worker, averaged for evaluations.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"
#include "tests/core/trainer/counting.h"

namespace residuum {
namespace {

using test::Counting;
using test::Recipe;
using Values = std::vector<double>;

Recipe recipe() {
  return {.workers = 4,
          .iterations = 6,
          .evaluated = 1,
          .tested = 1,
          .split = 1,
          .virtual_points = 2,
          .averages_iterates = true};
}

TEST(Statistics, ReachEvaluationsAsTheirAverageOverTheWorkersBeforeTheIteration) {
  const auto run = test::train(Counting(), recipe());

  ASSERT_EQ(run.frames.size(), 6U);
  for (std::size_t t = 0; t < 6; ++t) {
    // (0.1 + 1.1 + 2.1 + 3.1) / 4 a batch; further gradients (every batch is split) add nothing.
    EXPECT_NEAR(run.frames[t].evaluation->loss, 1.6 * static_cast<double>(t), 1e-14);
    EXPECT_NEAR(run.frames[t].test->loss, 1.6 * static_cast<double>(t), 1e-14);
    EXPECT_EQ(run.frames[t].test->accuracy, std::ldexp(1, -static_cast<int>(t)));
  }
  EXPECT_NEAR(run.outcome.evaluation->loss, 1.6 * 6, 1e-14);
  EXPECT_NEAR(run.outcome.test->loss, 1.6 * 6, 1e-14);
}

TEST(Statistics, HaveTheSameBitsAtAnyNumberOfProcesses) {
  const auto alone = test::train(Counting(), recipe());
  for (const int processes : {2, 3, 4}) {
    Values losses;
    test::on_processes(processes, [&](World& world) {
      test::FrameKeeper keeper;
      const Counting objective;
      test::train(world, objective, recipe(), keeper);
      if (world.is_root()) {
        for (const auto& frame : keeper.frames) {
          losses.push_back(frame.test->loss);
          losses.push_back(frame.evaluation->loss);
        }
      }
    });
    Values expected;
    for (const auto& frame : alone.frames) {
      expected.push_back(frame.test->loss);
      expected.push_back(frame.evaluation->loss);
    }
    EXPECT_EQ(losses, expected) << processes;
  }
}

}  // namespace
}  // namespace residuum
