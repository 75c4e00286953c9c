// The share of grad f by which gradients miss it, with noise whose law is known and with a bias
// that half batches cannot see.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "objectives/registry.h"
#include "tests/assumptions/support.h"

namespace residuum {
namespace {

using test::convex;
using test::Json;
using test::Recipe;

double mean_of(const test::MeasuredRun& run, Column column) {
  double sum = 0;
  for (const auto& row : run.rows) {
    sum += row[column];
  }
  return sum / static_cast<double>(run.rows.size());
}

/// Every iteration with grad f(w_t).
Recipe evaluated(int workers, std::uint64_t iterations) {
  Recipe recipe;
  recipe.workers = workers;
  recipe.iterations = iterations;
  recipe.evaluated = 1;
  recipe.split = 1;
  return recipe;
}

// With noise sigma^2/d per coordinate and worker, b_t is normal with variance sigma^2 / (d P
// |grad f(w_t)|^2), and independent of the past; so is their mean, given the gradients.
TEST(GradientBias, OfTheQuadraticIsNoiseOfKnownSize) {
  constexpr int kWorkers = 4;
  constexpr double kVariance = 4;
  constexpr double kDimension = 50;
  const auto objective =
      convex("quadratic", {{"dimension", 50}, {"noise_variance", kVariance}}, kWorkers);
  Recipe recipe = evaluated(kWorkers, 2000);
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 5}};
  recipe.aggregator = {{"kind", "gtopk-tree"}};
  recipe.step = {{"value", 0.01}};

  const auto run = test::measure(*objective, recipe);

  double variance = 0;
  for (const auto& row : run.rows) {
    variance += kVariance / (kDimension * kWorkers * row[Column::grad_norm_sq]);
  }
  const auto n = static_cast<double>(run.rows.size());
  const double deviation = std::sqrt(variance) / n;
  EXPECT_NEAR(mean_of(run, Column::gradient_bias), 0, 4 * deviation);
  double squares = 0;
  for (const auto& row : run.rows) {
    const double one = kVariance / (kDimension * kWorkers * row[Column::grad_norm_sq]);
    squares += row[Column::gradient_bias] * row[Column::gradient_bias] / one;
  }
  // A chi-square variable over its n degrees of freedom, of standard deviation sqrt(2/n).
  EXPECT_NEAR(squares / n, 1, 4 * std::sqrt(2 / n));
}

/// f = |w|^2 / 2, but worker p's gradient at w is w + c + p-th noise, with c = (0.6, 0, ..., 0).
class Shifted final : public Objective {
 public:
  std::size_t dimension() const override { return kDimension; }
  std::size_t samples() const override { return 0; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override { return {}; }
  Facts facts() const override { return {}; }
  void initial_point(std::uint64_t /*seed*/, std::span<double> w) const override {
    std::iota(w.begin(), w.end(), 1.0);
  }
  void stochastic_gradient(const Draw& /*draw*/,
                           std::span<const float> /*w*/,
                           std::span<float> /*gradient*/) const override {}
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    std::copy(w.begin(), w.end(), gradient.begin());
    gradient[0] += 0.6;
    add_noise(draw, Purpose::noise, gradient);
    if (draw.first_half) {
      add_noise(draw, Purpose::half_noise, gradient);
    }
  }
  double evaluate(int /*worker*/,
                  int workers,
                  std::span<const std::uint32_t> /*shard*/,
                  const Point& at,
                  std::span<double> gradient) const override {
    for (std::size_t j = 0; j < gradient.size(); ++j) {
      gradient[j] += at.w[j] / workers;
    }
    return norm_sq<double>(at.w) / 2 / workers;
  }
  std::optional<TestResult> test(const Point& /*at*/) const override { return std::nullopt; }

 private:
  static constexpr std::size_t kDimension = 4;

  static void add_noise(const Draw& draw, Purpose purpose, std::span<double> gradient) {
    RandomStream random(draw.seed,
                        purpose,
                        static_cast<std::uint32_t>(draw.worker),
                        static_cast<std::uint32_t>(draw.iteration));
    for (double& value : gradient) {
      value += 0.1 * random.normal();
    }
  }
};

// At w = (1, 2, 3, 4), where the run stands still, grad f = w and |w|^2 = 30: b is <c, w>/30 = 0.02
// and noise of variance 0.01 / (2 * 30). Half batches compare noise with noise.
TEST(GradientBias, SeesWhatIsCommonToAllHalfBatches) {
  Recipe recipe = evaluated(2, 4000);
  recipe.step = {{"value", 1e-12}};

  const auto run = test::measure(Shifted(), recipe);

  const double n = 4000;
  const double deviation = std::sqrt(0.01 / 60 / n);
  EXPECT_NEAR(mean_of(run, Column::gradient_bias), 0.02, 4 * deviation);
  EXPECT_GT(0.02, 50 * deviation) << "and far from 0";
  double ratio_squares = 0;
  const double ratio = mean_of(run, Column::half_batch_bias);
  for (const auto& row : run.rows) {
    ratio_squares += std::pow(row[Column::half_batch_bias] - ratio, 2);
  }
  EXPECT_NEAR(ratio, 1, 4 * std::sqrt(ratio_squares / n / n));
}

/// Rows 0 .. n-1 in two shards of which one is four times the other.
std::vector<std::vector<std::uint32_t>> unequal_shards(std::uint32_t n) {
  std::vector<std::vector<std::uint32_t>> shards(2);
  for (std::uint32_t i = 0; i < n; ++i) {
    shards[i % 5 == 0 ? 0 : 1].push_back(i);
  }
  return shards;
}

const Json kLogistic{{"data", "synthetic-logistic"}, {"rows", 60}, {"features", 8}, {"l2", 0.01}};

TEST(GradientBias, OfWholeUnequalShardsIsRounding) {
  const auto objective = convex("logistic", kLogistic, 2);
  Recipe recipe = evaluated(2, 5);
  recipe.batch = 0;
  recipe.shards = unequal_shards(60);

  for (const auto& row : test::measure(*objective, recipe).rows) {
    EXPECT_NEAR(row[Column::gradient_bias], 0, 1e-14);
  }
}

TEST(GradientBias, OfAccumulatedBatchesFromUnequalShardsHasMeanZero) {
  const auto objective = convex("logistic", kLogistic, 2);
  Recipe recipe = evaluated(2, 2000);
  recipe.step = {{"value", 1e-12}};
  recipe.batch = 6;
  recipe.accumulation = 3;
  recipe.shards = unequal_shards(60);

  const auto run = test::measure(*objective, recipe);

  const double mean = mean_of(run, Column::gradient_bias);
  double squares = 0;
  for (const auto& row : run.rows) {
    squares += std::pow(row[Column::gradient_bias] - mean, 2);
  }
  const auto n = static_cast<double>(run.rows.size());
  EXPECT_NEAR(mean, 0, 4 * std::sqrt(squares / n / n));
}

TEST(GradientBias, IsSeenWhereWorkersClipTheirGradients) {
  const auto objective = convex("logistic", kLogistic, 2);
  Recipe recipe = evaluated(2, 1);
  recipe.batch = 0;
  recipe.shards = unequal_shards(60);
  recipe.clip = Clip::worker;
  recipe.clip_norm = 1e-6;  // leaves next to nothing of grad f

  EXPECT_NEAR(test::measure(*objective, recipe).rows[0][Column::gradient_bias], -1, 1e-4);
}

TEST(GradientBias, IsAbsentWhereTheFullGradientIsUnknownOrZero) {
  const auto objective = convex("quadratic", {{"dimension", 3}, {"noise_variance", 1.0}}, 1);
  Recipe recipe = evaluated(1, 4);
  recipe.evaluated = std::nullopt;
  EXPECT_FALSE(test::measure(*objective, recipe).rows[0].has(Column::gradient_bias));

  recipe.evaluated = 3;
  const auto run = test::measure(*objective, recipe);
  EXPECT_TRUE(run.rows[0].has(Column::gradient_bias));
  EXPECT_FALSE(run.rows[1].has(Column::gradient_bias)) << "of another iteration";

  const test::TinyObjective flat({0, 0}, [](const Draw&, std::span<const double>, auto gradient) {
    std::fill(gradient.begin(), gradient.end(), 1.0);
  });
  recipe.evaluated = 1;
  EXPECT_FALSE(test::measure(flat, recipe).rows[0].has(Column::gradient_bias));
}

}  // namespace
}  // namespace residuum
