// One or two steps of published methods that are put together from components, followed by hand.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;
using test::TinyObjective;
using Numbers = std::vector<double>;

/// Gradients that are given, by the number of the gradient and by worker.
TinyObjective given_gradients(Numbers start,
                              std::vector<std::vector<Numbers>> gradients,
                              std::vector<Layer> layers = {}) {
  return {std::move(start),
          [gradients = std::move(gradients)](
              const Draw& draw, std::span<const double> /*w*/, std::span<double> g) {
            const Numbers& given = gradients[static_cast<std::size_t>(draw.iteration)]
                                            [static_cast<std::size_t>(draw.worker)];
            std::copy(given.begin(), given.end(), g.begin());
          },
          0,
          std::move(layers)};
}

std::vector<Layer> square_matrix() {
  return {{.name = "weight", .shape = {2, 2}, .offset = 0, .size = 4}};
}

// Distributed Lion (arXiv 2404.00438): worker p sends u = sign(0.9 m + 0.1 g), m <- 0.99 m + 0.01
// g, and w -= eta sign(sum u). In the first step u = sign g: (+, -), (+, +) and (-, -), so that w
// moves by (+, -). Then m = 0.01 g_0. Worker 0 turns to -0.05 g_0, which leaves 0.009 - 0.005 > 0
// of g_0: its signs stay. Worker 1 turns to -0.2 g_0, 0.009 - 0.02 < 0: (-, -). Worker 2 stays at
// (-,
// -), so that w moves by (-, -).
TEST(DistributedLion, MovesByTheMajorityOfItsSigns) {
  const auto objective =
      given_gradients({0, 0}, {{{3, -2}, {1, 5}, {-4, -1}}, {{-0.15, 0.1}, {-0.2, -1}, {-4, -1}}});
  Recipe recipe{.aggregator = {{"kind", "allgather"}},
                .feedback = {{"kind", "none"}},
                .step = {{"value", 0.25}},
                .update_rule = UpdateRule::signs,
                .workers = 3,
                .iterations = 2};
  recipe.quantiser = {{"kind", "sign"}, {"scale", "one"}};
  recipe.local = {{"optimiser", "lion"}};

  const auto frames = test::train(objective, recipe).frames;

  EXPECT_EQ(frames[0].model, (Numbers{-0.25, 0.25}));
  EXPECT_EQ(frames[1].model, (Numbers{0, 0.5}));
  // Each of three workers sends a byte with its two bits to the two others.
  EXPECT_EQ(frames[0].traffic.bytes, 3U * 2 * 1);
}

// SignMuon (arXiv 2605.16311): worker p sends the signs of the polar factor of its momentum. G =
// R(60) diag(10, 1) R(-30), R a rotation by degrees, has positive entries only. Its polar factor
// R(30) has a negative one in the first row, also by Newton-Schulz steps: these leave singular
// values of 0.7 to 1.2, and 0.25 s_1 - 0.75 s_2 < 0. Two workers have G and one has -G.
TEST(SignMuon, MovesByTheMajorityOfTheSignsOfPolarFactors) {
  const double root = std::sqrt(3.0);
  const Numbers matrix{(10 * root + root) / 4, (10 - 3) / 4.0, (30 - 1) / 4.0, 11 * root / 4};
  Numbers opposite;
  for (const double value : matrix) {
    ASSERT_GT(value, 0);
    opposite.push_back(-value);
  }
  const auto objective =
      given_gradients({0, 0, 0, 0}, {{matrix, opposite, matrix}}, square_matrix());
  Recipe recipe{.aggregator = {{"kind", "allgather"}},
                .feedback = {{"kind", "none"}},
                .step = {{"value", 0.5}},
                .update_rule = UpdateRule::signs,
                .workers = 3,
                .iterations = 1};
  recipe.quantiser = {{"kind", "sign"}, {"scale", "one"}};
  recipe.local = {{"optimiser", "muon"}};
  EXPECT_EQ(test::train(objective, recipe).frames[0].model, (Numbers{-0.5, 0.5, -0.5, -0.5}));

  recipe.local = {{"optimiser", "sgd"}};  // the signs of the gradients
  EXPECT_EQ(test::train(objective, recipe).frames[0].model, (Numbers{-0.5, -0.5, -0.5, -0.5}));
}

class LastShift final : public StepObserver {
 public:
  void observe(const StepView& view) override {
    models.emplace_back(view.iterates.model.begin(), view.iterates.model.end());
    gap_sq = view.iterates.shift->after_sq;
  }
  std::vector<Numbers> models;
  double gap_sq = -1;
};

// EF21-Muon (arXiv 2510.00643) with one worker, averaging 1/2, Top_2 both ways and eta = 1. Up: v_0
// = (3, 0.5; 0.5, 2), so that the estimate is diag(3, 2) with the polar factor I. Then v_1 = (0, 3;
// -3, 0), the change is (-3, 3; -3, -2) of which the first two entries are sent: the estimate (0,
// 3; 0, 2) has rank one and the polar factor (0, 3; 0, 2)/sqrt 13. Down: w_1 - W_0 has two entries,
// and w_2
// - W_1 as well, so that W is w.
TEST(Ef21Muon, MovesByThePolarFactorOfItsEstimateAndSendsItsChange) {
  const auto objective =
      given_gradients({0, 0, 0, 0}, {{{3, 0.5, 0.5, 2}}, {{-3, 5.5, -6.5, -2}}}, square_matrix());
  const Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                      .aggregator = {{"kind", "parameter-server"}, {"down", "ef21-p"}, {"k", 2}},
                      .feedback = {{"kind", "ef21-sgdm"}, {"averaging", 0.5}},
                      .step = {{"value", 1}},
                      .update_rule = UpdateRule::orthogonal,
                      .iterations = 2};
  const auto world = make_single_process();
  LastShift kept;

  test::train(*world, objective, recipe, kept);

  const std::array<Numbers, 2> expected{
      Numbers{-1, 0, 0, -1}, Numbers{-1, -3 / std::sqrt(13.0), 0, -1 - 2 / std::sqrt(13.0)}};
  for (std::size_t t = 0; t < 2; ++t) {
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(kept.models[t][i], expected[t][i], 1e-14) << "step " << t << ", entry " << i;
    }
  }
  EXPECT_LT(kept.gap_sq, 1e-30);
}

}  // namespace
}  // namespace residuum
