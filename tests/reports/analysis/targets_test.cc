// Runs that can be followed by hand spend known amounts until they reach targets.

#include "reports/analysis/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reports/results/files.h"
#include "reports/summaries/collect.h"
#include "tests/reports/analysis/straight_runs.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::ElementsAre;
using testing::StraightMethod;

constexpr double kNever = std::numeric_limits<double>::infinity();

class Targets : public ::testing::Test {
 protected:
  std::vector<TargetComparison> targets_of(const std::vector<StraightMethod>& methods) const {
    testing::write_straight(path(), methods);
    return compare();
  }
  std::vector<TargetComparison> compare() const {
    const ResultFolder folder = read_result_folder(path());
    return costs_to_targets(folder, group_runs(folder));
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(Targets, LeadInEqualStepsOfTheLossFromTheWorstBeginningToTheBestEnd) {
  // The first values are 1.01 and 1.02, the best is 1.01 - 0.4 = 0.61: steps of 0.02.
  const auto all = targets_of({{.aggregator = "fast", .fall = 0.04}, {.aggregator = "slow"}});

  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].cost, "iterations");
  EXPECT_EQ(all[1].cost, "bytes");
  ASSERT_EQ(all[0].targets.size(), kTargets);
  EXPECT_NEAR(all[0].targets[0], 0.99, 1e-12);
  EXPECT_NEAR(all[0].targets[9], 0.81, 1e-12);
  EXPECT_EQ(all[0].targets[19], 1 - 0.04 * 10 + 0.01);
}

TEST_F(Targets, AreReachedAtTheFirstEvaluationThere) {
  // Every second iteration is evaluated, and iterations cost 100 bytes. Fast is at 1.01 - 0.04 t:
  // at 0.99 from t = 0.5 on, which is seen at 2, and at 0.81 from t = 5, which is seen at 6; the
  // second seed is 0.01 behind. Slow ends at 0.895 and 0.905.
  const auto all =
      targets_of({{.aggregator = "fast", .fall = 0.04}, {.aggregator = "slow", .fall = 0.0115}});

  EXPECT_THAT(all[0].methods[0].spent[0], ElementsAre(2, 2));
  EXPECT_THAT(all[0].methods[0].spent[9], ElementsAre(6, 6));
  EXPECT_THAT(all[0].methods[0].spent[19], ElementsAre(10, kNever));
  EXPECT_THAT(all[1].methods[0].spent[9], ElementsAre(600, 600));
  EXPECT_THAT(all[0].methods[1].spent[4], ElementsAre(10, 10));          // 0.91
  EXPECT_THAT(all[0].methods[1].spent[5], ElementsAre(kNever, kNever));  // 0.89
  EXPECT_EQ(all[1].methods[0].most, 1000);
}

// Every second iteration is evaluated, and two iterations cost 200 bytes.
TEST_F(Targets, SayHowFarEvaluationsAreApart) {
  const auto all = targets_of({{.aggregator = "fast", .fall = 0.04}});

  EXPECT_EQ(all[0].resolution, 2);
  EXPECT_EQ(all[1].resolution, 200);
  EXPECT_EQ(all[0].resolution_words(),
            "Evaluations are at most 2\u00a0iterations apart: a target may have been reached that "
            "much earlier than it was seen.");
  EXPECT_THAT(all[1].resolution_words(),
              ::testing::StartsWith("Evaluations are at most 200 B apart"));
}

TEST_F(Targets, AreInTheSummaryWithMissesAsNullAndCounted) {
  testing::write_straight(
      path(), {{.aggregator = "fast", .fall = 0.04}, {.aggregator = "slow", .fall = 0.0115}});

  (void)collect(path());

  const Json targets = read_json(path() / "summary.json")["targets"];
  ASSERT_EQ(targets.size(), 2U);
  EXPECT_EQ(targets[0]["cost"], "iterations");
  EXPECT_EQ(targets[1]["unit"], "bytes");
  EXPECT_EQ(targets[0]["targets"].size(), kTargets);
  const Json& fast = targets[0]["methods"][0];
  EXPECT_EQ(fast["runs"], Json::array({testing::straight_id(0, 1), testing::straight_id(0, 2)}));
  EXPECT_EQ(fast["spent"][9], Json::array({6, 6}));
  EXPECT_EQ(fast["spent"][19], Json::array({10, nullptr}));
  EXPECT_EQ(fast["missed"][9], 0);
  EXPECT_EQ(fast["missed"][19], 1);
  EXPECT_EQ(targets[1]["methods"][1]["spent"][5], Json::array({nullptr, nullptr}));
  EXPECT_EQ(targets[1]["methods"][1]["missed"][5], 2);
}

TEST_F(Targets, CountARunThatDivergedAsOneThatNeverGetsThere) {
  testing::write_straight(path(), {{.aggregator = "a", .fall = 0.04}});
  testing::change_status(path(), testing::straight_id(0, 2), [](Json& status) {
    status["state"] = "diverged";
    status["final"]["loss"] = "inf";
  });
  const auto all = compare();

  // 0.71 is passed at t = 7.5 and 7.75, 0.67 at 8.5 and 8.75, after the last value of the second.
  EXPECT_THAT(all[0].methods[0].spent[14], ElementsAre(8, 8));
  EXPECT_THAT(all[0].methods[0].spent[16], ElementsAre(10, kNever));
}

TEST_F(Targets, CountARunThatFailedAsOneThatGetsNowhere) {
  testing::write_straight(path(), {{.aggregator = "a", .fall = 0.04}});
  testing::change_status(
      path(), testing::straight_id(0, 2), [](Json& status) { status["state"] = "failed"; });
  const auto all = compare();

  EXPECT_THAT(all[0].methods[0].spent[0], ElementsAre(2, kNever));
}

TEST_F(Targets, OfAMethodWithoutBytesHaveIterationsAlone) {
  const auto all = targets_of({{.aggregator = "a", .bytes = std::nullopt}});

  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].cost, "iterations");
}

TEST_F(Targets, OfRunsThatNeverImproveAreNone) {
  EXPECT_TRUE(
      targets_of({{.aggregator = "a", .fall = 0}, {.aggregator = "b", .fall = -1}}).empty());
}

TEST(ShareReached, IsAStairThatKeepsMissesInItsDenominator) {
  // Two runs and two targets: three of the four pairs are reached, at 10, 10 and 40.
  const TargetCosts method{.group = 0, .spent = {{10, 10}, {40, kNever}}, .most = 100};
  std::vector<double> x;
  std::vector<double> y;
  for (const Point& point : share_reached(method)) {
    x.push_back(point.x);
    y.push_back(*point.middle);
    EXPECT_EQ(point.n, 2U);
  }

  EXPECT_THAT(x, ElementsAre(10, 10, 40, 40, 100));
  EXPECT_THAT(y, ElementsAre(0, 0.5, 0.5, 0.75, 0.75));
}

TEST(ShareReached, OfAMethodThatReachedNothingIsZeroUpToTheEnd) {
  const auto stair = share_reached({.group = 0, .spent = {{kNever}}, .most = 7});

  ASSERT_EQ(stair.size(), 1U);
  EXPECT_EQ(stair[0].x, 7);
  EXPECT_EQ(stair[0].middle, 0);
}

}  // namespace
}  // namespace residuum::reports
