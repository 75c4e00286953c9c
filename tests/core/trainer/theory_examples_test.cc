// Runs whose course is known in closed form.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/vectors/dense.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

/// T-DIV (Beznosikov et al.): f_i = <a_i, x>^2 + |x|^2 / 4 with the rows below, x_0 = (1, 1, 1).
test::TinyObjective three_valleys() {
  return {{1, 1, 1}, [](const Draw& draw, std::span<const double> x, std::span<double> g) {
            std::array<double, 3> a{2, 2, 2};
            a[static_cast<std::size_t>(draw.worker)] = -3;
            const double product = a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
            for (std::size_t j = 0; j < 3; ++j) {
              g[j] = 2 * product * a[j] + x[j] / 2;
            }
          }};
}

TEST(ThreeValleys, TopOneWithoutFeedbackDivergesAsPredicted) {
  // Each worker sends its -5.5: x grows by the factor 1 + 11 eta / 6.
  const Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                      .aggregator = {{"kind", "allgather"}},
                      .feedback = {{"kind", "none"}},
                      .step = {{"value", 0.05}},
                      .workers = 3,
                      .iterations = 20};

  const auto model = test::train(three_valleys(), recipe).model();

  for (const double x_j : model) {
    EXPECT_NEAR(x_j, 5.7783120570, 1e-9);
  }
}

TEST(ThreeValleys, TopOneWithFeedbackConverges) {
  for (const auto& aggregator : test::list_aggregator_names()) {
    for (const double eta : {0.005, 0.01, 0.02, 0.05}) {
      const Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                          .aggregator = {{"kind", aggregator}},
                          .step = {{"value", eta}},
                          .workers = 3,
                          .iterations = 20000,
                          .measured = 20000};
      const auto model = test::train(three_valleys(), recipe).model();
      EXPECT_LT(norm_sq<double>(model), 1e-12) << aggregator << ", eta " << eta;
    }
  }
}

TEST(ThreeValleys, TheFirstSelectionViolatesTheAssumption) {
  // mean a = eta (7, 7, 7) / 6; g picks -5.5 eta at one index: delta = 211 / 49 = 4.30612...
  const Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                      .aggregator = {{"kind", "gtopk-exact"}},
                      .step = {{"value", 0.05}},
                      .workers = 3,
                      .iterations = 1};

  const auto frame = test::train(three_valleys(), recipe).frames[0];

  const double error = distance_sq(frame.mean_accumulator, frame.update, 1.0 / 3);
  const double random = 2.0 / 3 * norm_sq<double>(frame.mean_accumulator);
  EXPECT_NEAR(error / random, 4.306122448979592, 1e-12);
}

TEST(RandomK, ReachesTheSteadyStateOfAConstantGradient) {
  // T-RK-STEADY: E|e|^2 -> eta^2 |g|^2 (1 - rho)(2 - rho) / rho^2 at rho = 0.2,
  // within six standard errors of the mean over seeds; the start has shrunk by the factor 0.8^100.
  constexpr std::size_t kDimension = 20;
  const test::TinyObjective objective(
      std::vector<double>(kDimension),
      [](const Draw&, std::span<const double>, std::span<double> g) {
        for (std::size_t j = 0; j < g.size(); ++j) {
          g[j] = j % 2 == 0 ? 2 : -1;
        }
      });
  double sum = 0;
  double sum_sq = 0;
  constexpr int kSeeds = 400;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Recipe recipe{.sparsifier = {{"kind", "rand-k"}, {"density", 0.2}},
                        .aggregator = {{"kind", "allgather"}},
                        .step = {{"value", 0.5}},
                        .iterations = 100,
                        .seed = seed,
                        .measured = 100};
    const double residual =
        test::train(objective, recipe).frames.back().scalars[0].residual_norm_sq;
    sum += residual;
    sum_sq += residual * residual;
  }

  const double gradient_sq = 10 * 4 + 10 * 1;
  const double expected = 0.25 * gradient_sq * (1 - 0.2) * (2 - 0.2) / (0.2 * 0.2);
  const double mean = sum / kSeeds;
  const double error = std::sqrt((sum_sq / kSeeds - mean * mean) / kSeeds);
  EXPECT_NEAR(mean, expected, 6 * error);
  EXPECT_LT(error, 0.05 * expected);
}

TEST(TopOne, OfAConstantGradientServesTheCoordinatesByTurns) {
  // G = (2, 1), eta = 1: accumulators (2,1) -> send 2; (2,2) -> tie, lower index; (2,3) -> 3; ...
  const test::TinyObjective objective(
      {0, 0}, [](const Draw&, std::span<const double>, std::span<double> g) {
        g[0] = 2;
        g[1] = 1;
      });
  const Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                      .aggregator = {{"kind", "gtopk-exact"}},
                      .step = {{"value", 1}},
                      .iterations = 4};

  const auto frames = test::train(objective, recipe).frames;

  using Values = std::vector<double>;
  EXPECT_EQ(frames[0].update, (Values{2, 0}));
  EXPECT_EQ(frames[1].update, (Values{2, 0}));
  EXPECT_EQ(frames[2].update, (Values{0, 3}));
  EXPECT_EQ(frames[3].update, (Values{4, 0}));
  EXPECT_EQ(frames[3].mean_residual, (Values{0, 1}));
  EXPECT_EQ(frames[3].scalars[0].total_error, 1.0 + 4 + 4 + 1);
}

}  // namespace
}  // namespace residuum
