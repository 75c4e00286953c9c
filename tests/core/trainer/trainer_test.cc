// The trainer where it must be something simpler: serial SGD, a sum by hand, itself in other units.

#include "core/trainer/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;
using Values = std::vector<double>;

/// G = (1, 2, ..., d) at every worker, iteration and point.
test::TinyObjective constant_gradient(std::size_t d) {
  return {Values(d), [](const Draw& /*draw*/, std::span<const double> /*w*/, std::span<double> g) {
            for (std::size_t j = 0; j < g.size(); ++j) {
              g[j] = static_cast<double>(j) + 1;
            }
          }};
}

/// SGD without any of this project: w -= (sum_p eta G^p) / P, the sum in precision Real.
template <class Real>
Values serial_sgd(const Objective& objective, const Recipe& recipe, double eta) {
  const std::size_t d = objective.dimension();
  Values w(d);
  objective.initial_point(recipe.seed, w);
  for (std::uint64_t t = 0; t < recipe.iterations; ++t) {
    const std::vector<Real> rounded(w.begin(), w.end());
    std::vector<Real> sum(d);
    for (int worker = 0; worker < recipe.workers; ++worker) {
      std::vector<Real> gradient(d);
      objective.stochastic_gradient(
          {.seed = recipe.seed, .worker = worker, .iteration = t, .samples = {}},
          std::span<const Real>(rounded),
          std::span<Real>(gradient));
      for (std::size_t j = 0; j < d; ++j) {
        sum[j] += static_cast<Real>(eta) * gradient[j];
      }
    }
    for (std::size_t j = 0; j < d; ++j) {
      w[j] -= static_cast<double>(sum[j]) / recipe.workers;
    }
  }
  return w;
}

TEST(Trainer, TellsTheObjectiveTheWorkersShardAndItsSamples) {
  const std::vector<std::vector<std::uint32_t>> shards{{0, 2, 4}, {1, 3}};
  std::vector<std::vector<std::uint32_t>> seen(2);
  const test::TinyObjective objective(
      {0.0},
      [&](const Draw& draw, std::span<const double> /*w*/, std::span<double> g) {
        g[0] = 0;
        seen[static_cast<std::size_t>(draw.worker)].assign(draw.shard.begin(), draw.shard.end());
        EXPECT_EQ(draw.samples.size(), 1U);
      },
      5);

  test::train(objective, {.workers = 2, .shards = shards});

  EXPECT_EQ(seen, shards);
}

TEST(DenseTraining, IsSerialSgdBitForBit) {
  const auto objective = test::noisy_quadratic(13, 0.5);
  for (const int workers : {1, 3, 4}) {
    Recipe recipe{.step = {{"value", 0.3}}, .workers = workers, .iterations = 50};
    EXPECT_EQ(test::train(objective, recipe).model(), serial_sgd<double>(objective, recipe, 0.3));
    recipe.precision = Precision::float32;
    EXPECT_EQ(test::train(objective, recipe).model(), serial_sgd<float>(objective, recipe, 0.3));
  }
}

TEST(Training, WithKEqualToDIsDenseTrainingForEverySparseAggregator) {
  const auto objective = test::noisy_quadratic(9, 0.5);
  for (const auto& aggregator : test::list_aggregator_names()) {
    // Two summands: no order of summation to differ in.
    Recipe dense{.workers = 2, .iterations = 40};
    Recipe sparse = dense;
    sparse.sparsifier = {{"kind", "top-k"}, {"k", 9}};
    sparse.aggregator = {{"kind", aggregator}};
    EXPECT_EQ(test::train(objective, sparse).model(), test::train(objective, dense).model())
        << aggregator;

    dense.workers = sparse.workers = 7;
    const auto run = test::train(objective, sparse);
    const auto expected = test::train(objective, dense).model();
    for (std::size_t j = 0; j < 9; ++j) {
      EXPECT_NEAR(run.model()[j], expected[j], 1e-13) << aggregator;
    }
    for (const auto& scalars : run.frames.back().scalars) {
      EXPECT_EQ(scalars.residual_norm_sq, 0) << aggregator;
    }
  }
}

TEST(Training, OfOneWorkerDoesNotDependOnTheSelectingAggregator) {
  const auto objective = test::noisy_quadratic(9, 0.5);
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                .aggregator = {{"kind", "allgather"}},
                .iterations = 40};
  const auto expected = test::train(objective, recipe).model();
  for (const char* aggregator :
       {"dense", "gtopk-exact", "gtopk-tree", "gtopk-mask", "gtopk-doubling"}) {
    recipe.aggregator = {{"kind", aggregator}};
    EXPECT_EQ(test::train(objective, recipe).model(), expected) << aggregator;
  }
}

TEST(Momentum, IsTheHeavyBallOnTheAggregatedUpdate) {
  // Updates of 0.5: v = 0.5, 0.75, 0.875; w = -0.5, -1.25, -2.125.
  const Recipe recipe{.step = {{"value", 0.5}}, .momentum = 0.5, .workers = 2, .iterations = 3};

  const auto frames = test::train(constant_gradient(1), recipe).frames;

  EXPECT_EQ(frames[0].model, (Values{-0.5}));
  EXPECT_EQ(frames[1].model, (Values{-1.25}));
  EXPECT_EQ(frames[2].model, (Values{-2.125}));
}

TEST(Momentum, InGradientUnitsMultipliesTheVelocityByTheStepOfTheDay) {
  // v = 1, 1.5, 1.75 in gradients; steps 1, 0.5, 0.5: w = -1, -1.75, -2.625.
  const Recipe recipe{.feedback = {{"kind", "ef14"}, {"units", "gradient"}},
                      .step = {{"rule", "milestones"},
                               {"value", 1},
                               {"milestones", {1}},
                               {"factor", 0.5},
                               {"unit", "iterations"}},
                      .momentum = 0.5,
                      .iterations = 3};

  const auto frames = test::train(constant_gradient(1), recipe).frames;

  EXPECT_EQ(frames[0].model, (Values{-1}));
  EXPECT_EQ(frames[1].model, (Values{-1.75}));
  EXPECT_EQ(frames[2].model, (Values{-2.625}));
}

TEST(Momentum, MovesEntriesThatTheUpdateDoesNotTouch) {
  // Top-1 of (1, 2): (0, 2), then of (2, 2): index 0 with 2; index 1 rolls on with 0.5 * 2.
  const Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                      .aggregator = {{"kind", "gtopk-exact"}},
                      .step = {{"value", 1}},
                      .momentum = 0.5,
                      .iterations = 2};

  const auto frames = test::train(constant_gradient(2), recipe).frames;

  EXPECT_EQ(frames[0].model, (Values{0, -2}));
  EXPECT_EQ(frames[1].model, (Values{-2, -3}));
}

TEST(Units, GiveTheSameTrajectoryAtAConstantStep) {
  // A step that is a power of two only shifts exponents: the same bits.
  const auto objective = test::noisy_quadratic(11, 0.5);
  for (const double momentum : {0.0, 0.9}) {
    Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                  .aggregator = {{"kind", "gtopk-tree"}},
                  .step = {{"value", 0.125}},
                  .momentum = momentum,
                  .workers = 5,
                  .iterations = 60};
    const auto in_steps = test::train(objective, recipe);
    recipe.feedback = {{"kind", "ef14"}, {"units", "gradient"}};
    const auto in_gradients = test::train(objective, recipe);

    EXPECT_EQ(in_steps.model(), in_gradients.model());
    for (std::size_t j = 0; j < 11; ++j) {
      EXPECT_EQ(in_steps.frames.back().mean_residual[j],
                0.125 * in_gradients.frames.back().mean_residual[j]);
    }
  }
}

TEST(Training, ChangesWithTheSeedAndWithNothingElse) {
  const auto objective = test::noisy_quadratic(5, 0.5);
  Recipe recipe{.sparsifier = {{"kind", "rand-k"}, {"k", 2}},
                .aggregator = {{"kind", "allgather"}},
                .workers = 3,
                .iterations = 20};
  const auto model = test::train(objective, recipe).model();

  EXPECT_EQ(test::train(objective, recipe).model(), model);
  recipe.measured = 7;
  recipe.evaluated = Json(1);
  recipe.tested = Json(2);
  EXPECT_EQ(test::train(objective, recipe).model(), model) << "looking changed the run";
  recipe.seed = 2;
  EXPECT_NE(test::train(objective, recipe).model(), model);
}

TEST(Training, LooksAtTheIterationsThatAreDue) {
  const auto objective = test::noisy_quadratic(3, 0);
  const Recipe recipe{.iterations = 8, .measured = 3, .evaluated = Json(6), .tested = Json(3)};

  const auto run = test::train(objective, recipe);

  std::vector<std::uint64_t> iterations;
  for (const auto& frame : run.frames) {
    iterations.push_back(frame.iteration);
    const bool evaluated = frame.iteration % 6 == 0 || frame.iteration == 7;
    EXPECT_EQ(frame.evaluation.has_value(), evaluated) << "iteration " << frame.iteration;
    EXPECT_TRUE(frame.test.has_value());
    EXPECT_EQ(frame.follows_measured, frame.iteration == 7);
  }
  EXPECT_EQ(iterations, (std::vector<std::uint64_t>{0, 3, 6, 7}));
}

TEST(Training, WithoutMeasuringShowsNothingAndEndsAtTheSamePoint) {
  const auto objective = test::noisy_quadratic(3, 0.1);
  const auto world = make_single_process();
  Recipe recipe{.workers = 2, .iterations = 10};
  const auto seen = test::train(objective, recipe);
  recipe.measure = false;
  test::FrameKeeper keeper;

  const auto outcome = test::train(*world, objective, recipe, keeper);

  EXPECT_TRUE(keeper.frames.empty());
  EXPECT_EQ(keeper.reported.size(), 10U);
  ASSERT_TRUE(outcome.test.has_value());
  EXPECT_EQ(outcome.test->loss, seen.model()[0]);
}

/// Of a model that says how large it is and has no numbers.
class EndlessObjective final : public Objective {
 public:
  explicit EndlessObjective(std::size_t dimension) : dimension_(dimension) {}
  std::size_t dimension() const override { return dimension_; }
  std::size_t samples() const override { return 0; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override { return {}; }
  Facts facts() const override { return {}; }
  void initial_point(std::uint64_t /*seed*/, std::span<double> /*w*/) const override {}
  void stochastic_gradient(const Draw& /*draw*/,
                           std::span<const float> /*w*/,
                           std::span<float> /*gradient*/) const override {}
  void stochastic_gradient(const Draw& /*draw*/,
                           std::span<const double> /*w*/,
                           std::span<double> /*gradient*/) const override {}
  double evaluate(int /*worker*/,
                  int /*workers*/,
                  std::span<const std::uint32_t> /*shard*/,
                  const Point& /*at*/,
                  std::span<double> /*gradient*/) const override {
    return 0;
  }
  std::optional<TestResult> test(const Point& /*at*/) const override { return std::nullopt; }

 private:
  std::size_t dimension_;
};

TEST(Training, RefusesAModelThatIndicesOf32BitsCannotAddress) {
  const std::size_t first = std::size_t{1} << 32;
  EXPECT_EQ(test::error_of([&] { test::train(EndlessObjective(first), Recipe{}); }),
            "the model has 4294967296 parameters; at most 4294967295 can be trained, so take a "
            "smaller model");
  EXPECT_EQ(test::error_of([&] { check_dimension(EndlessObjective(first - 1)); }), "");
}

TEST(Evaluation, AddsThePartsOfAllWorkers) {
  // TinyObjective: worker p adds (p + 1) |w|^2, so f = 6 |w|^2 and grad f = 12 w for P = 3.
  const test::TinyObjective objective(
      Values{1, 2}, [](const Draw&, std::span<const double>, std::span<double> g) {
        std::fill(g.begin(), g.end(), 0.0);
      });
  const Recipe recipe{.workers = 3, .iterations = 1, .evaluated = Json(1)};

  const auto run = test::train(objective, recipe);

  ASSERT_TRUE(run.frames[0].evaluation.has_value());
  EXPECT_EQ(run.frames[0].evaluation->loss, 30);
  EXPECT_EQ(run.frames[0].evaluation->grad_norm_sq, 720);
  ASSERT_TRUE(run.outcome.evaluation.has_value());
  EXPECT_EQ(run.outcome.evaluation->loss, 30);
}

/// The gradient is the mean of the drawn samples' numbers, over n = 4 samples.
test::TinyObjective mean_of_samples() {
  return {Values{0},
          [](const Draw& draw, std::span<const double> /*w*/, std::span<double> g) {
            g[0] = 0;
            for (const std::uint32_t sample : draw.samples) {
              g[0] += sample / static_cast<double>(draw.samples.size());
            }
          },
          4};
}

TEST(Shards, OfDifferentSizesAreWeightedByTheirSamples) {
  // The mean over all samples is (1 + 2 + 3 + 10) / 4 = 4, that of the shards' means 6.
  const Recipe recipe{.step = {{"value", 1}},
                      .workers = 2,
                      .iterations = 1,
                      .batch = 0,
                      .shards = {{1, 2, 3}, {10}}};

  const auto run = test::train(mean_of_samples(), recipe);

  EXPECT_EQ(run.model(), Values{-4});
  EXPECT_EQ(run.frames[0].mean_gradient, Values{4});
}

TEST(Epoch, CountsPassesOverTheTrainingSet) {
  Recipe recipe{.workers = 2, .iterations = 3, .batch = 1, .shards = {{0, 1}, {2, 3}}};
  EXPECT_EQ(test::train(mean_of_samples(), recipe).frames[2].epoch, 1.0);  // 2 iterations of 2 of 4
  recipe.batch = 0;
  EXPECT_EQ(test::train(mean_of_samples(), recipe).frames[2].epoch, 2.0);
  EXPECT_EQ(test::train(constant_gradient(1), Recipe{.iterations = 2}).frames[1].epoch, 0.0);
}

}  // namespace
}  // namespace residuum
