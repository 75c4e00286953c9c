// EControl against a run that can be followed by hand, and against what it is in special cases.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;
using Values = std::vector<double>;

Recipe controlled_top_1(double weight, std::uint64_t iterations, int workers = 1) {
  return {.sparsifier = {{"kind", "top-k"}, {"k", 1}},
          .aggregator = {{"kind", "allgather"}},
          .feedback = {{"kind", "econtrol"}, {"error_weight", weight}},
          .step = {{"value", 1}},
          .workers = workers,
          .iterations = iterations};
}

TEST(EControl, SendsChangesWithAPartOfWhatTheEstimatesHaveMissed) {
  // Gradients (4, 2), (0, 8), (0, 8), a = 1/2.
  // a = (4, 2): index 0 goes, h = (4, 0), e = (0, 2), w = (-4, 0).
  // a = (0, 1) + (-4, 8): index 1 goes, h = (4, 9), e = (0, 2) + (-4, 8) - (0, 9), w = (-8, -9).
  // a = (-2, 0.5) + (-4, -1): index 0 goes, h = (-2, 9), e = (-4, 1) + (-4, -1) - (-6, 0).
  const test::TinyObjective turning(
      {0, 0}, [](const Draw& draw, std::span<const double>, std::span<double> g) {
        g[0] = draw.iteration == 0 ? 4 : 0;
        g[1] = draw.iteration == 0 ? 2 : 8;
      });

  const auto frames = test::train(turning, controlled_top_1(0.5, 3)).frames;

  EXPECT_EQ(frames[0].model, (Values{-4, 0}));
  EXPECT_EQ(frames[0].mean_residual, (Values{0, 2}));
  EXPECT_EQ(frames[1].mean_accumulator, (Values{-4, 9}));
  EXPECT_EQ(frames[1].model, (Values{-8, -9}));
  EXPECT_EQ(frames[1].mean_residual, (Values{-4, 1}));
  EXPECT_EQ(frames[2].mean_accumulator, (Values{-6, -0.5}));
  EXPECT_EQ(frames[2].model, (Values{-6, -18}));
  EXPECT_EQ(frames[2].mean_residual, (Values{-2, 0}));
}

TEST(EControl, WithoutSparsificationIsSgd) {
  const auto objective = test::noisy_quadratic(6, 0.3);
  Recipe recipe = controlled_top_1(0.1, 30, 3);
  recipe.sparsifier = {{"kind", "none"}};
  recipe.aggregator = {{"kind", "dense"}};
  recipe.step = {{"value", 0.1}};
  Values w(6, 0.5);
  for (const auto& frame : test::train(objective, recipe).frames) {
    for (std::size_t j = 0; j < w.size(); ++j) {
      w[j] -= 0.1 * frame.mean_gradient[j];
      ASSERT_NEAR(frame.model[j], w[j], 1e-13) << frame.iteration;
      ASSERT_NEAR(frame.mean_residual[j], 0, 1e-13) << frame.iteration;
    }
  }
}

TEST(EControl, KeepsInItsResidualWhatTheModelHasMissedWithEveryAggregator) {
  const auto objective = test::noisy_quadratic(9, 0.4);
  for (const auto& aggregator : test::aggregator_names()) {
    Recipe recipe = controlled_top_1(0.1, 50, 5);
    recipe.step = {{"value", 0.05}};
    recipe.aggregator = {{"kind", aggregator}};
    for (const auto& frame : test::train(objective, recipe).frames) {
      ASSERT_LE(frame.conservation_defect(), 1e-12) << aggregator << frame.iteration;
      for (std::size_t j = 0; j < frame.model.size(); ++j) {
        ASSERT_NEAR(
            frame.model[j] - frame.virtual_iterate[j], 0.05 * frame.mean_residual[j], 1e-12);
      }
    }
  }
}

TEST(EControl, RefusesToAddNothingAndMoreThanTheWholeError) {
  for (const char* weight : {"0", "1.5", "-0.1"}) {
    EXPECT_EQ(test::error_of([&] {
                make_feedback(Section(
                    "feedback", Json{{"kind", "econtrol"}, {"error_weight", std::stod(weight)}}));
              }),
              std::string("'feedback.error_weight' must lie in (0, 1], got ") + weight);
  }
}

}  // namespace
}  // namespace residuum
