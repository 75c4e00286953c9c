// f at z_t and at averages, smoothness by its routes, running sums: on problems where all of it is
// known.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Recipe;

/// f = sum_j h_j w_j^2 / 2 with exact gradients, from (1, ..., 1); one worker.
class Bowl final : public Objective {
 public:
  explicit Bowl(std::vector<double> h) : h_(std::move(h)) {}
  std::size_t dimension() const override { return h_.size(); }
  std::size_t samples() const override { return 0; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override { return {}; }
  Facts facts() const override { return {}; }
  void initial_point(std::uint64_t, std::span<double> w) const override {
    std::fill(w.begin(), w.end(), 1.0);
  }
  void stochastic_gradient(const Draw&, std::span<const float>, std::span<float>) const override {}
  void stochastic_gradient(const Draw&,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    for (std::size_t j = 0; j < h_.size(); ++j) {
      gradient[j] = h_[j] * w[j];
    }
  }
  double evaluate(int,
                  int workers,
                  std::span<const std::uint32_t>,
                  const Point& at,
                  std::span<double> gradient) const override {
    const auto w = at.w;
    double value = 0;
    for (std::size_t j = 0; j < h_.size(); ++j) {
      value += h_[j] * w[j] * w[j] / 2 / workers;
      if (!gradient.empty()) {
        gradient[j] += h_[j] * w[j] / workers;
      }
    }
    return value;
  }
  std::optional<TestResult> test(const Point&) const override { return std::nullopt; }

 private:
  std::vector<double> h_;
};

/// The evaluations and the sums, by iteration.
struct Sights {
  std::vector<EvaluationsView> evaluations;
  std::vector<RunningSums> sums;
  std::vector<std::vector<double>> models;
  std::vector<std::optional<double>> distances;
  std::vector<std::optional<Evaluation>> at_model;
};

class Keeper final : public StepObserver {
 public:
  explicit Keeper(Sights& sights) : sights_(sights) {}
  void observe(const StepView& view) override {
    sights_.evaluations.push_back(view.evaluations);
    sights_.sums.push_back(view.iterates.sums);
    sights_.models.emplace_back(view.iterates.model.begin(), view.iterates.model.end());
    sights_.distances.push_back(view.iterates.distance_sq);
    sights_.at_model.push_back(view.evaluations.at_model);
  }
  void progress(std::uint64_t, std::uint64_t) override {}

 private:
  Sights& sights_;
};

Sights keep(const Objective& objective, const Recipe& recipe) {
  Sights sights;
  Keeper keeper(sights);
  const auto world = make_single_process();
  test::train(*world, objective, recipe, keeper);
  return sights;
}

Recipe top_1_for(std::uint64_t iterations) {
  Recipe recipe;
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 1}};
  recipe.aggregator = {{"kind", "allgather"}};
  recipe.step = {{"value", 0.25}};
  recipe.iterations = iterations;
  recipe.evaluated = 1;
  recipe.virtual_points = 1;
  recipe.compares_points = true;
  return recipe;
}

TEST(Evaluations, KnowTheLossAtTheVirtualIterate) {
  // h = (4, 2): w_1 = (0, 1), but z_1 = (0, 0.5), so f(w_1) = 1 and f(z_1) = 0.25.
  const auto seen = keep(Bowl({4, 2}), top_1_for(2));

  EXPECT_EQ(seen.evaluations[0].virtual_loss, 3);
  EXPECT_EQ(seen.evaluations[1].virtual_loss, 0.25);
  EXPECT_EQ(seen.at_model[1]->loss, 1);
}

TEST(Evaluations, FindTheCurvatureThatSeparatesModelAndVirtualIterate) {
  // w_1 - z_1 = (0, 0.5) lies along the second axis.
  const auto seen = keep(Bowl({4, 2}), top_1_for(2));

  EXPECT_FALSE(seen.evaluations[0].smoothness_gap.has_value());
  EXPECT_DOUBLE_EQ(seen.evaluations[1].smoothness_gap.value(), 2);
}

TEST(Evaluations, TakeTheLargestSecantSoFar) {
  // w moves along the first axis, of curvature 4, then along the second.
  const auto seen = keep(Bowl({4, 2}), top_1_for(4));

  EXPECT_FALSE(seen.evaluations[0].smoothness_secant.has_value());
  EXPECT_DOUBLE_EQ(seen.evaluations[1].smoothness_secant.value(), 4);
  EXPECT_DOUBLE_EQ(seen.evaluations[2].smoothness_secant.value(), 4);
}

TEST(Evaluations, FindTheCurvatureOfTheDescentInequality) {
  // Equality for a quadratic along its step g = (4, 2): g.Hg/|g|^2 = (4*16 + 2*4)/20.
  const auto seen = keep(Bowl({4, 2}), top_1_for(1));

  EXPECT_DOUBLE_EQ(seen.evaluations[0].smoothness_descent.value(), 3.6);
}

TEST(Evaluations, HaveNoDescentWithMomentumNorOfPointsThatOnlyRoundingParts) {
  Recipe recipe = top_1_for(3);
  recipe.momentum = 0.5;
  EXPECT_FALSE(keep(Bowl({4, 2}), recipe).evaluations[1].smoothness_descent.has_value());

  recipe = top_1_for(3);  // dense: w = z, but for what float32 leaves
  recipe.sparsifier = {{"kind", "none"}};
  EXPECT_FALSE(keep(Bowl({4, 2}), recipe).evaluations[2].smoothness_gap.has_value());

  recipe.step = {{"value", 1e-14}};  // f changes by less than its rounding
  EXPECT_FALSE(keep(Bowl({4, 2}), recipe).evaluations[0].smoothness_descent.has_value());
}

TEST(Evaluations, FindTheLargestCurvatureByPowerIteration) {
  Recipe recipe = top_1_for(1);
  recipe.power = 1;
  recipe.workers = 3;
  const auto seen = keep(Bowl({0.5, 7, 3, 1, 0.1}), recipe);

  EXPECT_NEAR(seen.evaluations[0].smoothness_power.value(), 7, 0.02);
}

TEST(Evaluations, AverageTheIteratesWithTheWeightsOfTheStepRule) {
  // eta_t = 1/(2 + t): w_0 = 1, w_1 = w_0 - 1/2 = 1/2, weights 4 and 9: mean 8.5/13.
  Recipe recipe;
  recipe.step = {{"rule", "inv-time"}, {"value", 1}, {"shift", 2}};
  recipe.iterations = 2;
  recipe.evaluated = 1;
  recipe.averages_iterates = true;
  const auto seen = keep(Bowl({1}), recipe);

  EXPECT_DOUBLE_EQ(seen.evaluations[0].averaged_loss.value(), 0.5);
  EXPECT_DOUBLE_EQ(seen.evaluations[1].averaged_loss.value(), 0.5 * (8.5 / 13) * (8.5 / 13));
}

TEST(Evaluations, AreMadeOnlyWhereAsked) {
  Recipe recipe = top_1_for(2);
  recipe.virtual_points = std::nullopt;
  const auto seen = keep(Bowl({4, 2}), recipe);

  EXPECT_FALSE(seen.evaluations[1].virtual_loss.has_value());
  EXPECT_FALSE(seen.evaluations[1].smoothness_gap.has_value());
  EXPECT_FALSE(seen.evaluations[1].averaged_loss.has_value());
  EXPECT_FALSE(seen.evaluations[1].smoothness_power.has_value());
}

TEST(RunningSums, AreOfTheIterationsBeforeByHand) {
  // eta = 1/4, g_0 = (4, 2), w_1 - z_1 = (0, 0.5), g_1 = (0, 2).
  const auto seen = keep(Bowl({4, 2}), top_1_for(3));

  EXPECT_EQ(seen.sums[0].step, 0);
  EXPECT_EQ(seen.sums[1].step, 0.25);
  EXPECT_DOUBLE_EQ(seen.sums[1].noise, 20.0 / 16);
  EXPECT_EQ(seen.sums[1].gap, 0);
  EXPECT_EQ(seen.sums[2].step, 0.5);
  EXPECT_DOUBLE_EQ(seen.sums[2].noise, 20.0 / 16 + 4.0 / 16);
  EXPECT_EQ(seen.sums[2].gap, 0.25 * 0.25);
}

TEST(RunningSums, DoNotDependOnWhatIsMeasured) {
  const auto objective = test::noisy_quadratic(7, 0.5);
  Recipe recipe = top_1_for(40);
  recipe.workers = 3;
  recipe.evaluated = recipe.virtual_points = std::nullopt;
  for (const double momentum : {0.0, 0.5}) {
    recipe.momentum = momentum;
    recipe.measured = 1;
    const auto all = keep(objective, recipe);
    recipe.measured = 13;
    const auto some = keep(objective, recipe);
    ASSERT_EQ(some.sums.size(), 4U);  // 0, 13, 26, 39
    EXPECT_EQ(some.sums[3].step, all.sums[39].step);
    EXPECT_EQ(some.sums[3].noise, all.sums[39].noise);
    EXPECT_EQ(some.sums[3].gap, all.sums[39].gap);
  }
}

/// f = 3 w^2 / 2, the mean over the odd ones of 4096 samples.
class OddSamples final : public Objective {
 public:
  OddSamples() {
    for (std::uint32_t sample = 1; sample < 4096; sample += 2) {
      odd_.push_back(sample);
    }
  }
  std::size_t dimension() const override { return 1; }
  std::size_t samples() const override { return 4096; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override { return {}; }
  Facts facts() const override { return {}; }
  std::span<const std::uint32_t> evaluated() const override { return odd_; }
  void initial_point(std::uint64_t, std::span<double> w) const override { w[0] = 1; }
  void stochastic_gradient(const Draw&, std::span<const float>, std::span<float>) const override {}
  void stochastic_gradient(const Draw&,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    gradient[0] = 3 * w[0];
  }
  double evaluate(int,
                  int,
                  std::span<const std::uint32_t> shard,
                  const Point& at,
                  std::span<double> gradient) const override {
    double share = 0;
    for (const std::uint32_t sample : shard) {
      share += sample % 2 == 1 ? 1.0 / 2048 : 0;
    }
    if (!gradient.empty()) {
      gradient[0] += share * 3 * at.w[0];
    }
    return share * 3 * at.w[0] * at.w[0] / 2;
  }
  std::optional<TestResult> test(const Point&) const override { return std::nullopt; }

 private:
  std::vector<std::uint32_t> odd_;
};

TEST(PowerIteration, ThinsTheSamplesThatFIsTheMeanOver) {
  Recipe recipe{.workers = 2, .iterations = 1, .shards = {{}, {}}, .power = 1};
  for (std::uint32_t sample = 0; sample < 4096; ++sample) {
    recipe.shards[sample / 2048].push_back(sample);
  }

  // 1024 of the 4096 in even steps are none of the odd ones.
  EXPECT_NEAR(keep(OddSamples(), recipe).evaluations[0].smoothness_power.value(), 3, 1e-6);
}

TEST(Distance, IsToTheMinimizerWhereThatIsKnown) {
  Recipe recipe = top_1_for(2);
  EXPECT_FALSE(keep(Bowl({4, 2}), recipe).distances[0].has_value());

  recipe.minimizer = {0, 0};
  const auto seen = keep(Bowl({4, 2}), recipe);
  EXPECT_EQ(seen.distances[0], 2);
  EXPECT_EQ(seen.distances[1], 1);
}

TEST(Looking, DoesNotChangeTheRun) {
  const auto objective = test::noisy_quadratic(7, 0.5);
  Recipe recipe = top_1_for(20);
  recipe.workers = 3;
  const auto watched = keep(objective, [&] {
    Recipe all = recipe;
    all.split = all.power = 1;
    all.averages_iterates = true;
    return all;
  }());
  recipe.virtual_points = std::nullopt;
  recipe.evaluated = std::nullopt;
  EXPECT_EQ(watched.models, keep(objective, recipe).models);
}

}  // namespace
}  // namespace residuum
