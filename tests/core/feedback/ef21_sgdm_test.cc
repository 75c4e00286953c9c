// EF21-SGDM against runs that can be followed by hand, and against what it is in special cases.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;
using Values = std::vector<double>;

Recipe top_1(double averaging, std::uint64_t iterations, int workers = 1) {
  return {.sparsifier = {{"kind", "top-k"}, {"k", 1}},
          .aggregator = {{"kind", "allgather"}},
          .feedback = {{"kind", "ef21-sgdm"}, {"averaging", averaging}},
          .step = {{"value", 1}},
          .workers = workers,
          .iterations = iterations};
}

/// Gradient (4, 2) first, (0, 8) afterwards.
test::TinyObjective turning() {
  return {{0, 0}, [](const Draw& draw, std::span<const double>, std::span<double> g) {
            g[0] = draw.iteration == 0 ? 4 : 0;
            g[1] = draw.iteration == 0 ? 2 : 8;
          }};
}

TEST(Ef21Sgdm, SendsTheChangesOfAnAverageThatBeginsAtTheFirstGradient) {
  // a = 1/2. v = (4, 2): index 0 goes, g = (4, 0), w = (-4, 0).
  // v = (2, 5), v - g = (-2, 5): index 1 goes, g = (4, 5), w = (-8, -5).
  // v = (1, 6.5), v - g = (-3, 1.5): index 0 goes, g = (1, 5), w = (-9, -10).
  const auto frames = test::train(turning(), top_1(0.5, 3)).frames;

  EXPECT_EQ(frames[0].model, (Values{-4, 0}));
  EXPECT_EQ(frames[0].mean_residual, (Values{0, 2}));
  EXPECT_EQ(frames[1].mean_accumulator, (Values{-2, 5}));
  EXPECT_EQ(frames[1].model, (Values{-8, -5}));
  EXPECT_EQ(frames[2].mean_accumulator, (Values{-3, 1.5}));
  EXPECT_EQ(frames[2].model, (Values{-9, -10}));
  EXPECT_EQ(frames[2].mean_residual, (Values{0, 1.5}));
}

TEST(Ef21Sgdm, MeasuresTheGradientAndHowFarTheAverageHasMoved) {
  // From nothing to (4, 2), to (2, 5), to (1, 6.5).
  const auto frames = test::train(turning(), top_1(0.5, 3)).frames;

  EXPECT_EQ(frames[2].mean_gradient, (Values{0, 8}));
  EXPECT_EQ(frames[2].scalars[0].gradient_norm_sq, 64);
  EXPECT_EQ(frames[0].scalars[0].gradient_change_sq, 20);
  EXPECT_EQ(frames[1].scalars[0].gradient_change_sq, 13);
  EXPECT_EQ(frames[2].scalars[0].gradient_change_sq, 3.25);
  EXPECT_EQ(frames[2].scalars[0].average_norm_sq, 43.25);
}

TEST(Ef21Sgdm, WithoutAveragingIsEf21ToTheBit) {
  const auto objective = test::noisy_quadratic(9, 0.4);
  for (const auto precision : {Precision::float32, Precision::float64}) {
    Recipe averaged = top_1(1, 40, 3);
    averaged.step = {{"value", 0.1}};
    averaged.precision = precision;
    Recipe plain = averaged;
    plain.feedback = {{"kind", "ef21"}};

    EXPECT_EQ(test::train(objective, averaged).model(), test::train(objective, plain).model());
  }
}

TEST(Ef21Sgdm, WithoutSparsificationIsSgdOnTheAverageOfTheGradients) {
  const auto objective = test::noisy_quadratic(6, 0.3);
  Recipe recipe = top_1(0.25, 30, 3);
  recipe.sparsifier = {{"kind", "none"}};
  recipe.aggregator = {{"kind", "dense"}};
  recipe.step = {{"value", 0.1}};
  const auto frames = test::train(objective, recipe).frames;

  Values average = frames[0].mean_gradient;
  Values w(6, 0.5);
  for (const auto& frame : frames) {
    for (std::size_t j = 0; j < w.size(); ++j) {
      average[j] = 0.75 * average[j] + 0.25 * frame.mean_gradient[j];
      w[j] -= 0.1 * average[j];
      ASSERT_NEAR(frame.model[j], w[j], 1e-13) << frame.iteration;
    }
  }
}

TEST(Ef21Sgdm, KeepsTheEstimatesTheUpdateIsMadeOfWithEveryAggregator) {
  const auto objective = test::noisy_quadratic(9, 0.4);
  for (const auto& aggregator : test::aggregator_names()) {
    Recipe recipe = top_1(0.1, 50, 5);
    recipe.step = {{"rule", "inv-sqrt"}, {"value", 0.2}};
    recipe.aggregator = {{"kind", aggregator}};
    for (const auto& frame : test::train(objective, recipe).frames) {
      ASSERT_LE(frame.conservation_defect(), 1e-12) << aggregator << frame.iteration;
    }
  }
}

TEST(Ef21Sgdm, RefusesAnAverageOfNothingAndMoreThanTheNewest) {
  for (const char* averaging : {"0", "1.5", "-0.1"}) {
    EXPECT_EQ(test::error_of([&] {
                make_feedback(Section(
                    "feedback", Json{{"kind", "ef21-sgdm"}, {"averaging", std::stod(averaging)}}));
              }),
              std::string("'feedback.averaging' must lie in (0, 1], got ") + averaging);
  }
}

}  // namespace
}  // namespace residuum
