// Thresholds found by pilot runs, against what the runs themselves show.

#include "core/trainer/pilot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/protocols/protocol.h"
#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

constexpr std::size_t kModelSize = 12;
constexpr std::uint64_t kIterations = 200;
constexpr int kK = 2;

Recipe recipe(Json sparsifier, int workers = 3) {
  return {.sparsifier = std::move(sparsifier),
          .aggregator = {{"kind", "allgather"}},
          .workers = workers,
          .iterations = kIterations};
}

Json hard_threshold(const Json& threshold) {
  Json values{{"kind", "hard-threshold"}, {"threshold", threshold}};
  if (threshold.is_string()) {
    values["k"] = kK;
  }
  return values;
}

std::optional<FoundThreshold> find(World& world, const Objective& objective, const Recipe& recipe) {
  const Cluster cluster(world, recipe.workers);
  const Method method = test::method_of(recipe, objective.dimension());
  Training training;
  training.protocol = recipe.protocol;
  training.objective = &objective;
  training.method = &method;
  training.cluster = &cluster;
  training.iterations = recipe.iterations;
  training.precision = recipe.precision;
  training.stop = recipe.stop;
  return find_threshold(training);
}

std::optional<FoundThreshold> find(const Objective& objective, const Recipe& recipe) {
  const auto world = make_single_process();
  return find(*world, objective, recipe);
}

double sent(const Objective& objective, const Recipe& recipe) {
  double total = 0;
  for (const auto& frame : test::train(objective, recipe).frames) {
    for (const auto& scalars : frame.scalars) {
      total += scalars.nnz_sent;
    }
  }
  return total;
}

constexpr double budget(int workers) { return kK * workers * static_cast<double>(kIterations); }

/// Gradients that do not depend on the model: without feedback the accumulators are frozen.
test::TinyObjective frozen() {
  return {std::vector<double>(kModelSize),
          [](const Draw& draw, std::span<const double> /*w*/, std::span<double> g) {
            RandomStream random(draw.seed,
                                Purpose::noise,
                                static_cast<std::uint32_t>(draw.worker),
                                static_cast<std::uint32_t>(draw.iteration));
            std::generate(g.begin(), g.end(), [&] { return random.normal(); });
          }};
}

TEST(Pilot, IsNotNeededWhereTheThresholdIsKnown) {
  const auto objective = test::noisy_quadratic(kModelSize, 0.5);
  for (const Json& known : {Json{{"kind", "top-k"}, {"k", 2}},
                            hard_threshold(0.1),
                            Json{{"kind", "hard-threshold"}, {"k", 2}}}) {
    EXPECT_FALSE(find(objective, recipe(known)).has_value()) << known;
  }
}

TEST(Pilot, IsTheOrderStatisticOfTheTopKRunsAccumulators) {
  const auto objective = test::noisy_quadratic(kModelSize, 0.5);
  // Of one worker the mean accumulator is the accumulator.
  std::vector<double> magnitudes;
  for (const auto& frame :
       test::train(objective, recipe({{"kind", "top-k"}, {"k", kK}}, 1)).frames) {
    for (const double a_j : frame.mean_accumulator) {
      magnitudes.push_back(std::abs(a_j));
    }
  }
  std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());

  const auto found = find(objective, recipe(hard_threshold("pilot"), 1));

  EXPECT_EQ(found->threshold, magnitudes[kK * kIterations - 1]);
  EXPECT_EQ(found->pilot_runs, 1);
}

// The threshold is the K-th largest entry of a frozen sequence, so exactly K entries are sent.
TEST(Pilot, SpendsTheBudgetExactlyOnAFrozenSequence) {
  const auto objective = frozen();
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    auto pilot = recipe(hard_threshold("pilot"));
    pilot.feedback = {{"kind", "none"}};
    pilot.precision = precision;
    auto resolved = pilot;
    resolved.sparsifier = hard_threshold(find(objective, pilot)->threshold);
    EXPECT_EQ(sent(objective, resolved), budget(3));
  }
}

TEST(Pilot, IsZeroWhereTheBudgetExceedsAllNonZeroEntries) {
  const test::TinyObjective sparse(
      std::vector<double>(kModelSize),
      [](const Draw& /*draw*/, std::span<const double> /*w*/, std::span<double> g) {
        std::fill(g.begin(), g.end(), 0.0);
        g[3] = 1;
      });
  EXPECT_EQ(find(sparse, recipe(hard_threshold("pilot")))->threshold, 0);
  // Any threshold up to the smallest entry sends them all, which is the nearest to the budget.
  auto resolved =
      recipe(hard_threshold(find(sparse, recipe(hard_threshold("matched")))->threshold));
  EXPECT_EQ(sent(sparse, resolved), budget(3) / kK);
}

TEST(Matched, SendsTheBudgetToOnePercent) {
  const auto objective = test::noisy_quadratic(kModelSize, 0.5);
  for (const char* rule : {"fixed", "eta-scaled"}) {
    auto matched = recipe(hard_threshold("matched"));
    matched.sparsifier["rule"] = rule;
    const auto found = find(objective, matched);
    auto resolved = recipe(hard_threshold(found->threshold));
    resolved.sparsifier["rule"] = rule;

    EXPECT_NEAR(sent(objective, resolved), budget(3), 0.01 * budget(3)) << rule;
    EXPECT_GE(found->pilot_runs, 2);
    EXPECT_LE(found->pilot_runs, 20);
  }
}

TEST(Matched, SendsTheBudgetWithLocalSteps) {
  const auto objective = test::noisy_quadratic(kModelSize, 0.5);
  const auto local = make_protocol(Section("protocol", Json{{"kind", "local"}, {"period", 4}}));
  auto matched = recipe(hard_threshold("matched"));
  const double of_one_step = find(objective, matched)->threshold;
  matched.protocol = local.get();
  const double found = find(objective, matched)->threshold;
  EXPECT_GT(found, 1.5 * of_one_step) << "four gradients are larger than one";
  auto resolved = recipe(hard_threshold(found));
  resolved.protocol = local.get();
  EXPECT_NEAR(sent(objective, resolved), budget(3), 0.01 * budget(3));
}

TEST(Matched, TakesTheNearestWhereNoThresholdSpendsTheBudget) {
  // Every entry is +-1 in every iteration: all is sent, or nothing until it has piled up.
  const test::TinyObjective signs(
      std::vector<double>(kModelSize),
      [](const Draw& /*draw*/, std::span<const double> /*w*/, std::span<double> g) {
        std::fill(g.begin(), g.end(), 1.0);
      });
  auto matched = recipe(hard_threshold("matched"));
  matched.feedback = {{"kind", "none"}};
  const auto found = find(signs, matched);
  matched.sparsifier = hard_threshold(found->threshold);

  // Nothing (distance K) is nearer than everything (distance 5 K).
  EXPECT_EQ(sent(signs, matched), 0);
  EXPECT_LE(found->pilot_runs, 50);
}

TEST(Pilot, IsTheSameOnAnyNumberOfProcesses) {
  const auto objective = test::noisy_quadratic(kModelSize, 0.5);
  for (const char* kind : {"pilot", "matched"}) {
    const auto given = recipe(hard_threshold(kind), 4);
    const auto alone = find(objective, given);
    for (const int processes : {2, 3, 4}) {
      test::on_processes(processes, [&](World& world) {
        const auto found = find(world, objective, given);
        EXPECT_EQ(found->threshold, alone->threshold) << kind;
        EXPECT_EQ(found->pilot_runs, alone->pilot_runs) << kind;
      });
    }
  }
}

TEST(Pilot, EndsWhenItIsAskedToStop) {
  const std::atomic<bool> stop = true;
  const auto objective = test::noisy_quadratic(kModelSize, 0.5);
  auto matched = recipe(hard_threshold("matched"));
  matched.stop = &stop;
  EXPECT_LE(find(objective, matched)->pilot_runs, 2);
}

TEST(Pilot, RefusesABudgetThatDoesNotFitIntoMemory) {
  const Pilot pilot{.rule = Pilot::Rule::order_statistic, .k = 12};
  EXPECT_THAT(test::error_of([&] { check_pilot(pilot, 3, 1 << 24); }),
              testing::AllOf(testing::HasSubstr("603979776 magnitudes"),
                             testing::HasSubstr("use threshold \"matched\"")));
  EXPECT_EQ(test::error_of([&] { check_pilot(pilot, 3, 1 << 16); }), "");
  EXPECT_EQ(test::error_of([&] { check_pilot({.k = 12}, 3, 1 << 24); }), "");
}

}  // namespace
}  // namespace residuum
