// A training that cannot go on says where and why, in the same words at any number of processes.

#include "core/training/divergence.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <vector>

#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using State = Outcome::State;
using test::Json;
using test::Recipe;
using test::TinyObjective;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A TinyObjective whose five parameters are three layers of 2, 1 and 2, and whose loss is the rule
/// given; without one that of a TinyObjective.
class Layered final : public Objective {
 public:
  using Loss = std::function<double(std::span<const double> w)>;

  explicit Layered(TinyObjective::Gradient gradient, Loss loss = {})
      : inner_(std::vector<double>(5, 1.0), std::move(gradient)), loss_(std::move(loss)) {}

  std::size_t dimension() const override { return 5; }
  std::vector<Layer> layers() const override {
    return {{.name = "conv1.weight", .shape = {2}, .offset = 0, .size = 2},
            {.name = "conv1.bias", .shape = {1}, .offset = 2, .size = 1},
            {.name = "fc.weight", .shape = {2, 1}, .offset = 3, .size = 2}};
  }
  std::size_t samples() const override { return 0; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override { return {}; }
  Facts facts() const override { return {}; }
  void initial_point(std::uint64_t seed, std::span<double> w) const override {
    inner_.initial_point(seed, w);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const float> w,
                           std::span<float> gradient) const override {
    inner_.stochastic_gradient(draw, w, gradient);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    inner_.stochastic_gradient(draw, w, gradient);
  }
  double evaluate(int worker,
                  int workers,
                  std::span<const std::uint32_t> shard,
                  const Point& at,
                  std::span<double> gradient) const override {
    return loss_ ? loss_(at.w) / workers : inner_.evaluate(worker, workers, shard, at, gradient);
  }
  std::optional<TestResult> test(const Point& at) const override { return inner_.test(at); }

 private:
  TinyObjective inner_;
  Loss loss_;
};

/// One gradient that has `poison` in the given places, and ones elsewhere; else all are ones.
TinyObjective::Gradient poisoned(int worker,
                                 std::uint64_t iteration,
                                 const std::map<std::size_t, double>& poison) {
  return [=](const Draw& draw, std::span<const double>, std::span<double> gradient) {
    std::fill(gradient.begin(), gradient.end(), 1.0);
    if (draw.worker == worker && draw.iteration == iteration) {
      for (const auto& [place, value] : poison) {
        gradient[place] = value;
      }
    }
  };
}

/// Trains on 1, 2 and 4 processes, which must all end alike; the outcome, and the number of
/// iterations that the observer saw measured.
struct Ending {
  Outcome outcome;
  std::size_t rows = 0;
};

Ending ending_of(const Objective& objective, Recipe recipe) {
  recipe.workers = 4;
  const auto alone = test::train(objective, recipe);
  const Outcome& expected = alone.outcome;
  for (const int processes : {2, 4}) {
    test::on_processes(processes, [&](World& world) {
      test::FrameKeeper keeper;
      const Outcome outcome = test::train(world, objective, recipe, keeper);
      EXPECT_EQ(outcome.state, expected.state);
      EXPECT_EQ(outcome.message, expected.message) << processes << " processes";
      EXPECT_EQ(outcome.iterations, expected.iterations);
      ASSERT_EQ(outcome.divergence.has_value(), expected.divergence.has_value());
      if (outcome.divergence) {
        EXPECT_EQ(outcome.divergence->of, expected.divergence->of);
        EXPECT_EQ(outcome.divergence->worker, expected.divergence->worker);
        EXPECT_EQ(outcome.divergence->entry, expected.divergence->entry);
      }
      if (world.is_root()) {
        EXPECT_EQ(keeper.frames.size(), alone.frames.size());
      }
    });
  }
  return {.outcome = expected, .rows = alone.frames.size()};
}

TEST(Divergence, NamesIterationWorkerLayerAndEntryOfAGradient) {
  const Layered objective(poisoned(2, 3, {{4, kNan}}));

  for (const auto precision : {Precision::float32, Precision::float64}) {
    const Ending ending = ending_of(objective, {.iterations = 10, .precision = precision});

    EXPECT_EQ(ending.outcome.state, State::diverged);
    EXPECT_EQ(ending.outcome.iterations, 3U);
    EXPECT_EQ(ending.rows, 3U);
    EXPECT_EQ(ending.outcome.message,
              "gradient of worker 2 is not finite at iteration 3: entry 1 of layer 'fc.weight' is "
              "nan");
    const Divergence& found = ending.outcome.divergence.value();
    EXPECT_EQ(found.of, Divergence::Of::gradient);
    EXPECT_EQ(found.iteration, 3U);
    EXPECT_EQ(found.worker, 2);
    EXPECT_EQ(place_of(found, objective)->layer, "fc.weight");
    EXPECT_EQ(place_of(found, objective)->index, 1U);
  }
}

TEST(Divergence, IsThatOfTheFirstWorkerAndItsFirstEntry) {
  const Layered objective(
      [](const Draw& draw, std::span<const double>, std::span<double> gradient) {
        std::fill(gradient.begin(), gradient.end(), 1.0);
        if (draw.iteration == 1 && draw.worker >= 1) {
          gradient[2] = draw.worker == 1 ? -kInfinity : kNan;
          gradient[0] = draw.worker == 1 ? 1 : kNan;
          gradient[3] = kNan;
        }
      });

  EXPECT_EQ(ending_of(objective, {.iterations = 10}).outcome.message,
            "gradient of worker 1 is not finite at iteration 1: entry 0 of layer 'conv1.bias' is "
            "-inf");
}

// In float32 a = 1e30 * 1e10 is beyond the largest number, the gradient 1e10 is not.
TEST(Divergence, TellsAnAccumulatorFromAGradient) {
  const Layered objective(poisoned(3, 2, {{3, 1e10}}));

  const Ending ending = ending_of(
      objective, {.step = {{"value", 1e30}}, .iterations = 10, .precision = Precision::float32});

  EXPECT_EQ(ending.outcome.message,
            "accumulator of worker 3 is not finite at iteration 2: entry 0 of layer 'fc.weight' is "
            "inf");
  EXPECT_EQ(ending.outcome.divergence->of, Divergence::Of::accumulator);
}

// 1e200 is a number, its square is not.
TEST(Divergence, TellsANormThatOverflowsFromAnEntry) {
  const Ending gradient = ending_of(Layered(poisoned(1, 2, {{1, 1e199}, {2, -1e200}})),
                                    {.step = {{"value", 1e-300}}, .iterations = 10});
  EXPECT_EQ(gradient.outcome.message,
            "gradient of worker 1 has a squared norm beyond the largest double at iteration 2: "
            "entry 0 of layer 'conv1.bias' is -1e+200");

  const Ending accumulator = ending_of(Layered(poisoned(1, 2, {{1, 1e100}})),
                                       {.step = {{"value", 1e100}}, .iterations = 10});
  EXPECT_EQ(accumulator.outcome.message,
            "accumulator of worker 1 has a squared norm beyond the largest double at iteration 2: "
            "entry 1 of layer 'conv1.weight' is 1e+200");
}

// Gradients stay 1 wherever the model is; in gradient units the accumulators do, too.
TEST(Divergence, IsSeenInTheModelWhereGradientsAreFinite) {
  const Layered objective(poisoned(0, 99, {}), [](std::span<const double>) { return 1.0; });
  Recipe recipe{.feedback = {{"kind", "ef14"}, {"units", "gradient"}},
                .step = {{"value", 2e38}},
                .iterations = 10,
                .precision = Precision::float32};
  recipe.evaluated = Json(1);

  // 1 - 2e38 t leaves the floats (3.4e38) in the second iteration.
  const Ending ending = ending_of(objective, recipe);
  EXPECT_EQ(ending.outcome.message,
            "model is not finite at iteration 2: entry 0 of layer 'conv1.weight' is -inf");
  EXPECT_EQ(ending.outcome.iterations, 2U);
  EXPECT_EQ(ending.rows, 1U) << "numbers of a model that is lost were shown";

  // Sparse updates; and at the end, where no gradient follows.
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 2}};
  recipe.aggregator = {{"kind", "gtopk-tree"}};
  recipe.iterations = 2;
  const Ending last = ending_of(objective, recipe);
  EXPECT_EQ(last.outcome.state, State::diverged);
  EXPECT_EQ(last.outcome.divergence->of, Divergence::Of::model) << last.outcome.message;
}

// 1e200 is a number, but the distance of that model from another one is none.
TEST(Divergence, IsSeenInAModelThatIsTooLargeForItsNorm) {
  const Layered objective(poisoned(0, 99, {}), [](std::span<const double>) { return 1.0; });
  Recipe recipe{.feedback = {{"kind", "ef14"}, {"units", "gradient"}},
                .step = {{"value", 1e200}},
                .iterations = 10};
  recipe.evaluated = Json(1);

  const Ending ending = ending_of(objective, recipe);

  EXPECT_EQ(ending.outcome.message,
            "model is too large to be measured at iteration 1: entry 0 of layer 'conv1.weight' is "
            "-1e+200");
  EXPECT_EQ(ending.rows, 0U) << "numbers of a model that is lost were shown";
}

// 1e38 is a float, the sum of four of them is none. The model would show it an iteration later.
TEST(Divergence, OfASumIsNamedInTheIterationWhereItOverflows) {
  const Layered objective([](const Draw& draw, std::span<const double>, std::span<double> g) {
    std::fill(g.begin(), g.end(), 0.0);
    g[2] = draw.iteration == 3 ? -1e38 : 1;
  });
  for (const char* aggregator : {"dense", "allgather", "parameter-server", "gtopk-tree"}) {
    Recipe recipe{.step = {{"value", 1}}, .iterations = 10, .precision = Precision::float32};
    recipe.aggregator = {{"kind", aggregator}};
    if (std::string(aggregator) == "gtopk-tree") {
      recipe.sparsifier = {{"kind", "top-k"}, {"k", 1}};
    }

    const Ending ending = ending_of(objective, recipe);

    EXPECT_EQ(ending.outcome.message,
              "sum of the workers' messages overflows objective.precision at iteration 3: entry 0 "
              "of layer 'conv1.bias' is -inf")
        << aggregator;
    ASSERT_TRUE(ending.outcome.divergence);
    EXPECT_EQ(ending.outcome.divergence->of, Divergence::Of::sum);
    EXPECT_EQ(ending.outcome.divergence->iteration, 3U);

    recipe.precision = Precision::float64;
    EXPECT_EQ(ending_of(objective, recipe).outcome.state, State::finished) << aggregator;
  }
}

TEST(Divergence, OfAStepThatIsTooLongIsFoundInEitherPrecision) {
  // w_t = (-29)^t: the sum of four workers' 30 * 29^25 is beyond the largest float, 29^102 is
  // 1.5e149.
  const auto gradient = [](const Draw&, std::span<const double> w, std::span<double> g) {
    std::copy(w.begin(), w.end(), g.begin());
  };
  const auto message_in = [&](Precision precision) {
    return ending_of(Layered(gradient),
                     {.step = {{"value", 30}}, .iterations = 10000, .precision = precision})
        .outcome.message;
  };

  EXPECT_EQ(
      message_in(Precision::float32),
      "sum of the workers' messages overflows objective.precision at iteration 25: entry 0 of "
      "layer 'conv1.weight' is -inf");
  EXPECT_EQ(message_in(Precision::float64),
            "model is too large to be measured at iteration 102: entry 0 of layer 'conv1.weight' "
            "is 1.46082e+149");
}

/// Every step takes 1 off all entries; the loss is the first entry's distance from 1, squared.
Layered moving() {
  return Layered(poisoned(0, 99, {}),
                 [](std::span<const double> w) { return (w[0] - 1) * (w[0] - 1); });
}

TEST(Divergence, IsALossAboveTheBoundWhereItIsEvaluated) {
  Recipe recipe{.step = {{"value", 1}}, .iterations = 20};
  recipe.loss_bound = 10;
  recipe.evaluated = Json(1);
  const Ending ending = ending_of(moving(), recipe);
  EXPECT_EQ(ending.outcome.message, "loss 16 at iteration 4 is above the bound 10");
  EXPECT_EQ(ending.outcome.iterations, 4U);
  EXPECT_EQ(ending.rows, 4U);
  EXPECT_EQ(ending.outcome.divergence->value, 16);
  EXPECT_EQ(ending.outcome.divergence->bound, 10);
  EXPECT_FALSE(place_of(*ending.outcome.divergence, moving()).has_value());

  recipe.evaluated = Json(5);
  EXPECT_EQ(ending_of(moving(), recipe).outcome.message,
            "loss 25 at iteration 5 is above the bound 10");

  recipe.loss_bound = 16;  // as large as allowed
  recipe.evaluated = Json(4);
  EXPECT_EQ(ending_of(moving(), recipe).outcome.message,
            "loss 64 at iteration 8 is above the bound 16");
}

TEST(Divergence, IsALossAboveTheBoundAtTheEnd) {
  Recipe recipe{.step = {{"value", 1}}, .iterations = 4};
  recipe.loss_bound = 10;

  const Ending ending = ending_of(moving(), recipe);

  EXPECT_EQ(ending.outcome.message, "loss 16 at iteration 4 is above the bound 10");
  EXPECT_EQ(ending.outcome.iterations, 4U);
  EXPECT_FALSE(ending.outcome.evaluation.has_value());
}

TEST(Divergence, IsALossThatIsNotFiniteAlsoWithoutABound) {
  for (const auto& [loss, word] : {std::pair(kNan, "nan"), std::pair(kInfinity, "inf")}) {
    const Layered objective(poisoned(0, 99, {}), [loss = loss](std::span<const double> w) {
      return w[0] < -1.5 ? loss : 1.0;
    });
    Recipe recipe{.step = {{"value", 1}}, .iterations = 20};
    recipe.evaluated = Json(1);

    EXPECT_EQ(ending_of(objective, recipe).outcome.message,
              std::string("loss ") + word + " at iteration 3 is not finite");
  }
}

TEST(Divergence, LeavesRunsBelowTheBoundAlone) {
  Recipe recipe{.step = {{"value", 1}}, .iterations = 4};
  recipe.loss_bound = 16.5;
  recipe.evaluated = Json(1);

  const Ending ending = ending_of(moving(), recipe);

  EXPECT_EQ(ending.outcome.state, State::finished);
  EXPECT_FALSE(ending.outcome.divergence.has_value());
  EXPECT_EQ(ending.outcome.evaluation->loss, 16);
}

}  // namespace
}  // namespace residuum
