// The start of logistic regression, and gradients that are shifted by those at x*.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/trainer/trainer.h"
#include "tests/objectives/convex/support.h"

namespace residuum::test {
namespace {

using testing::Each;
using Json = nlohmann::json;
using Samples = std::vector<std::uint32_t>;

std::unique_ptr<Objective> logistic(Json values = Json::object(), int workers = 3) {
  values.update({{"rows", 60}, {"features", 5}});
  return make("logistic", values, {}, workers);
}

std::vector<double> start_of(const Objective& f) {
  std::vector<double> w(f.dimension(), std::nan(""));
  f.initial_point(1, w);
  return w;
}

std::vector<double> gradient(const Objective& f, const Draw& draw, const std::vector<double>& w) {
  std::vector<double> g(w.size(), std::nan(""));
  f.stochastic_gradient(draw, w, g);
  return g;
}

/// Every third sample.
Samples shard_of(int worker) {
  Samples shard;
  for (std::uint32_t i = 0; i < 60; ++i) {
    if (i % 3 == static_cast<std::uint32_t>(worker)) {
      shard.push_back(i);
    }
  }
  return shard;
}

TEST(LogisticStart, IsZeroOrANumberOrTheMinimizerMoved) {
  const auto minimizer = logistic()->facts().minimizer;
  EXPECT_THAT(start_of(*logistic()), Each(0.0));
  EXPECT_THAT(start_of(*logistic({{"start", "zero"}})), Each(0.0));
  EXPECT_THAT(start_of(*logistic({{"start", -1.5}})), Each(-1.5));
  EXPECT_EQ(start_of(*logistic({{"start", "minimizer"}})), minimizer);
  const auto moved = start_of(*logistic({{"start", "minimizer + 0.005"}}));
  const auto back = start_of(*logistic({{"start", "minimizer -1e-4"}}));
  for (std::size_t j = 0; j < minimizer.size(); ++j) {
    EXPECT_EQ(moved[j], 0.005 + minimizer[j]);
    EXPECT_EQ(back[j], -1e-4 + minimizer[j]);
  }
}

TEST(LogisticStart, RefusesWhatIsNoStart) {
  for (const Json& wrong : {Json("minimiser"),
                            Json("minimizer + x"),
                            Json("minimizer 0.1"),
                            Json("minimizer + inf"),
                            Json("zeros"),
                            Json(true)}) {
    EXPECT_THAT(error_of([&] {
                  logistic({{"start", wrong}});
                }),
                testing::HasSubstr("'objective.start' must be \"zero\", a number"))
        << wrong;
  }
}

TEST(LogisticStart, RefusesTheMinimizerWhereThereIsNone) {
  // Two samples in two dimensions are separable; without a ridge there is no minimum.
  const Json separable{{"rows", 2}, {"features", 2}, {"l2", 0}};
  for (const auto& [key, value] :
       {std::pair{"start", Json("minimizer")}, std::pair{"shifted", Json(true)}}) {
    auto values = separable;
    values[key] = value;
    EXPECT_THAT(error_of([&] { make("logistic", values); }),
                testing::HasSubstr("no minimum; use a larger 'l2'"));
  }
}

TEST(ShiftedGradients, VanishAtTheMinimizerOnEveryWorker) {
  const auto plain = logistic();
  const auto shifted = logistic({{"shifted", true}});
  const auto minimizer = plain->facts().minimizer;
  for (int worker = 0; worker < 3; ++worker) {
    const auto shard = shard_of(worker);
    const Draw draw{.worker = worker, .samples = shard, .shard = shard};
    EXPECT_GT(norm(gradient(*plain, draw, minimizer)), 0.01);
    EXPECT_THAT(gradient(*shifted, draw, minimizer), Each(0.0));
  }
}

TEST(ShiftedGradients, DifferByTheShardsGradientAtTheMinimizerWhateverTheBatch) {
  const auto plain = logistic();
  const auto shifted = logistic({{"shifted", true}});
  const auto minimizer = plain->facts().minimizer;
  const auto w = normal_vector(5, 3);
  const auto shard = shard_of(1);
  const Samples batch{1, 4, 4};
  const Draw draw{.worker = 1, .samples = batch, .shard = shard};
  const auto at_minimizer = gradient(*plain, {.samples = shard}, minimizer);
  auto expected = gradient(*plain, draw, w);
  for (std::size_t j = 0; j < w.size(); ++j) {
    expected[j] -= at_minimizer[j];
  }
  EXPECT_EQ(gradient(*shifted, draw, w), expected);
}

// Equal shards have equal weights, and grad f(x*) = 0.
TEST(ShiftedGradients, LeaveTheMeanOverWorkersAsItIs) {
  const auto shifted = logistic({{"shifted", true}});
  const auto w = normal_vector(5, 4);
  std::vector<double> mean(w.size());
  for (int worker = 0; worker < 3; ++worker) {
    const auto shard = shard_of(worker);
    const auto g = gradient(*shifted, {.worker = worker, .samples = shard, .shard = shard}, w);
    for (std::size_t j = 0; j < w.size(); ++j) {
      mean[j] += g[j] / 3;
    }
  }
  EXPECT_LE(distance(mean, evaluate(*shifted, w).gradient), 1e-12);
}

TEST(ShiftedGradients, FollowAShardThatChanges) {
  const auto shifted = logistic({{"shifted", true}});
  const auto minimizer = shifted->facts().minimizer;
  for (const Samples& shard : {Samples{0, 1, 2}, Samples{3, 4, 5, 6}, Samples{0, 1, 2}}) {
    EXPECT_THAT(gradient(*shifted, {.worker = 0, .samples = shard, .shard = shard}, minimizer),
                Each(0.0));
  }
}

/// f - f* after Top-1 with error feedback and full gradients.
double gap_after(const Objective& f, std::uint64_t iterations) {
  const auto world = make_single_process();
  const Cluster cluster(*world, 3);
  const auto section = [](const char* name, const Json& values) { return Section(name, values); };
  const Method method{
      .sparsifier = make_sparsifier(section("sparsifier", {{"kind", "top-k"}, {"k", 1}})),
      .aggregator = make_aggregator(section("aggregator", {{"kind", "allgather"}})),
      .feedback = make_feedback(section("feedback", {{"kind", "ef14"}})),
      .step_rule = make_step_rule(section("step", {{"value", 0.2}}), {}),
      .momentum = 0};
  Training training;
  training.objective = &f;
  training.method = &method;
  training.cluster = &cluster;
  training.shards = {shard_of(0), shard_of(1), shard_of(2)};
  training.iterations = iterations;
  training.batch = 0;
  training.precision = Precision::float64;
  training.plan.measure = false;
  NoObserver nobody;
  return train(training, nobody).evaluation->loss - *f.facts().minimum;
}

// EF-GD with a constant step stops short of f*, since workers that disagree at x* go on filling
// their residuals; EF-GD* does not (Sahu et al. 2021; Gorbunov et al. 2020).
TEST(ShiftedGradients, LetErrorFeedbackConvergeToTheMinimum) {
  EXPECT_GT(gap_after(*logistic(), 5000), 1e-6);
  EXPECT_LT(gap_after(*logistic({{"shifted", true}}), 5000), 1e-13);
}

}  // namespace
}  // namespace residuum::test
