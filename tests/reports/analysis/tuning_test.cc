// The choice of a tuning by hand-made ends: means, ties, misses, edges and what lies beyond them.

#include "reports/analysis/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace residuum::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Kind = TuningEnd::Kind;

/// A plan over steps 1, 2, 4, ...; the grid is those from `first` to `last`.
TuningPlan plan_of(std::size_t values, std::size_t first, std::size_t last, bool extends = false) {
  TuningAxis axis{.key = "step.value", .values = {}, .numbers = {}, .first = first, .last = last};
  for (std::size_t i = 0; i < values; ++i) {
    axis.numbers.push_back(static_cast<double>(std::size_t{1} << i));
    axis.values.emplace_back(axis.numbers.back());
  }
  return {.axes = {axis}, .quantity = "loss", .seeds = {1, 2}, .extends = extends};
}

TuningEnd value(double number) { return {.kind = Kind::value, .value = number}; }

/// Follows a tuning whose runs end alike for both seeds, or by `second` with the second one.
TuningResult follow(const TuningPlan& plan,
                    const std::vector<TuningEnd>& ends,
                    const std::map<std::size_t, TuningEnd>& second = {},
                    std::size_t refused = std::numeric_limits<std::size_t>::max()) {
  return follow_tuning(
      plan,
      [&](std::size_t level) { return level != refused; },
      [&](std::size_t level, std::size_t seed) {
        const auto other = second.find(level);
        return seed == 1 && other != second.end() ? other->second : ends.at(level);
      });
}

TEST(Tuning, ChoosesTheBestMeanOverTheSeeds) {
  const auto result =
      follow(plan_of(3, 0, 2), {value(3), value(1), value(2)}, {{1, value(5)}, {2, value(3)}});

  ASSERT_TRUE(result.is_over);
  EXPECT_EQ(result.best->level, 2U);  // means 3, 3 and 2.5
  EXPECT_EQ(result.best->mean, 2.5);
  ASSERT_TRUE(result.best->interval);
  // t of one degree of freedom at 95 % is 12.7062, the standard error 0.5.
  EXPECT_NEAR(result.best->interval->high, 2.5 + 0.5 * 12.7062, 1e-3);
}

TEST(Tuning, ChoosesTheHighestAccuracy) {
  TuningPlan plan = plan_of(3, 0, 2);
  plan.quantity = "accuracy";
  EXPECT_EQ(follow(plan, {value(0.7), value(0.9), value(0.8)}).best->level, 1U);
}

TEST(Tuning, TakesTheSmallerOfEqualValues) {
  EXPECT_EQ(follow(plan_of(3, 0, 2), {value(2), value(1), value(1)}).best->level, 1U);
}

TEST(Tuning, TakesDivergenceForWorseThanAnyNumber) {
  const TuningEnd diverged{.kind = Kind::worst};
  const auto one = follow(plan_of(3, 0, 2), {value(1e300), value(1), diverged}, {{1, diverged}});
  EXPECT_EQ(one.best->level, 0U);

  // Where every value has such a run, the fewest of them decide, and then the mean of the others.
  const auto all =
      follow(plan_of(3, 0, 2), {diverged, value(2), value(1)}, {{1, diverged}, {2, diverged}});
  EXPECT_EQ(all.best->level, 2U);
  EXPECT_EQ(all.best->worst, 1U);
  EXPECT_FALSE(all.best->interval);
  EXPECT_EQ(follow(plan_of(3, 0, 2), {diverged, diverged, diverged}).best->level, 0U);
}

TEST(Tuning, WaitsForRunsThatAreMissing) {
  const auto result = follow(plan_of(3, 0, 2), {value(1), {}, value(2)});
  EXPECT_FALSE(result.is_over);
  EXPECT_FALSE(result.best);
  EXPECT_THAT(result.trouble, IsEmpty());
  EXPECT_THAT(result.needed, ElementsAre(0, 1, 2));
}

TEST(Tuning, SaysWhichRunFailedOrMeasuredNothing) {
  const auto failed = follow(plan_of(2, 0, 1), {value(1), value(1)}, {{1, {.kind = Kind::failed}}});
  EXPECT_EQ(failed.trouble, "the run at step.value = 2 with seed 2 failed");
  EXPECT_FALSE(failed.is_over);
  const auto silent = follow(plan_of(2, 0, 1), {value(1), {.kind = Kind::unmeasured}});
  EXPECT_THAT(silent.trouble, HasSubstr("has not measured loss"));
}

TEST(Tuning, NamesTheEdgeAtWhichTheBestLies) {
  const auto upper = follow(plan_of(3, 0, 2), {value(3), value(2), value(1)});
  ASSERT_EQ(upper.edges.size(), 1U);
  EXPECT_TRUE(upper.edges.front().is_upper);
  const auto lower = follow(plan_of(3, 0, 2), {value(1), value(2), value(3)});
  ASSERT_EQ(lower.edges.size(), 1U);
  EXPECT_FALSE(lower.edges.front().is_upper);
  EXPECT_THAT(follow(plan_of(3, 0, 2), {value(2), value(1), value(3)}).edges, IsEmpty());
}

TEST(Tuning, GoesOnPastAnEdgeUntilTheBestLiesInside) {
  const std::vector<TuningEnd> ends{value(9), value(8), value(5), value(4), value(3), value(6)};
  const auto waiting =
      follow(plan_of(6, 1, 2, true), {value(9), value(8), value(5), {}, value(3), value(6)});
  EXPECT_FALSE(waiting.is_over);
  EXPECT_THAT(waiting.needed, ElementsAre(1, 2, 3));

  const auto result = follow(plan_of(6, 1, 2, true), ends);
  ASSERT_TRUE(result.is_over);
  EXPECT_EQ(result.best->level, 4U);
  EXPECT_THAT(result.edges, IsEmpty());
  EXPECT_THAT(result.needed, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(follow(plan_of(6, 1, 2, false), ends).best->level, 2U);
}

TEST(Tuning, EndsAtTheLastValueOrAtOneThatCannotBeRun) {
  const std::vector<TuningEnd> ends{value(4), value(3), value(2), value(1)};
  const auto last = follow(plan_of(4, 0, 1, true), ends);
  EXPECT_EQ(last.best->level, 3U);
  EXPECT_EQ(last.edges.size(), 1U);
  const auto refused = follow(plan_of(4, 0, 1, true), ends, {}, 3);
  EXPECT_EQ(refused.best->level, 2U);
  EXPECT_EQ(refused.edges.size(), 1U);
}

TEST(Tuning, TakesAllCombinationsOfSeveralKeys) {
  TuningPlan plan = plan_of(2, 0, 1);
  plan.axes.push_back({.key = "step.rule",
                       .values = {"constant", "inv-sqrt"},
                       .numbers = {},
                       .first = 0,
                       .last = 1});
  EXPECT_EQ(plan.levels(), 4U);
  EXPECT_EQ(plan.name(3), "step.value = 2, step.rule = inv-sqrt");
  EXPECT_EQ(plan.level_at(plan.places_of(2)), 2U);

  const auto result = follow(plan, {value(4), value(3), value(2), value(5)});
  EXPECT_EQ(plan.name(result.best->level), "step.value = 2, step.rule = constant");
  ASSERT_EQ(result.edges.size(), 1U) << "words have no order and no edge";
  EXPECT_EQ(result.edges.front().axis, 0U);
}

}  // namespace
}  // namespace residuum::reports
