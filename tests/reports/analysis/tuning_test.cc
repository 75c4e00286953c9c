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

  // If every value has diverged runs, the fewest of them decide, and then the mean of the others.
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

/// Returns a plan of five values in which the better half goes on, twice.
TuningPlan halving_plan() {
  TuningPlan plan = plan_of(5, 0, 4);
  plan.halving = 2;
  return plan;
}

TEST(Tuning, HalvesTheValuesAndDoublesTheBudget) {
  const TuningPlan plan = halving_plan();
  EXPECT_EQ(plan.rounds(), 3U);
  EXPECT_EQ(plan.trials(), 15U);
  const std::vector<std::size_t> kept{5, 3, 2};
  const std::vector<double> shares{0.25, 0.5, 1};
  for (std::size_t round = 0; round < 3; ++round) {
    EXPECT_EQ(plan.kept(round), kept[round]);
    EXPECT_EQ(plan.share(round), shares[round]);
  }
  EXPECT_EQ(plan_of(5, 0, 4).rounds(), 1U) << "without halving";
  EXPECT_EQ(plan_of(5, 0, 4).share(0), 1);
}

// Values 0, 1 and 2 are the best at a quarter of the budget, 1 and 2 at half of it, 2 at the whole.
TEST(Tuning, KeepsTheBetterHalfOfEachRound) {
  std::vector<TuningEnd> ends{value(3), value(1), value(2), value(8), value(9)};
  const TuningPlan plan = halving_plan();
  const auto first = [&](std::size_t count) {
    auto some = ends;
    some.resize(count);
    some.resize(plan.trials());  // the others are missing
    return some;
  };
  const auto after_one = follow(plan, first(5));
  EXPECT_FALSE(after_one.is_over);
  EXPECT_THAT(after_one.needed, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));

  ends.insert(ends.end(), {value(3), value(1), value(2), {}, {}});
  const auto after_two = follow(plan, first(10));
  EXPECT_THAT(after_two.needed, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 11, 12));

  ends.insert(ends.end(), {{}, value(0.6), value(0.5), {}, {}});
  const auto result = follow(plan, ends);
  ASSERT_TRUE(result.is_over);
  EXPECT_EQ(result.best->level, 2U);
  EXPECT_EQ(result.best->round, 2U);
  EXPECT_EQ(result.levels.size(), 10U);
  EXPECT_EQ(result.left_out, 3U);
}

// With two seeds Student's t is 12.7. Of values 3 and 4, which go out first, 3 is 5 and 5.2 worse
// than value 0, which stays last: an interval above 0. Value 4 is 1 and 9 worse: not decided. Then
// value 0 goes, which is as far from value 2 with both seeds. A value that diverges is worse for
// sure.
TEST(Tuning, CountsWhatHalvingLeftOutUndecided) {
  std::vector<TuningEnd> ends{value(3), value(1), value(2), value(8), value(4)};
  ends.insert(ends.end(), {value(3), value(1), value(2), {}, {}});
  ends.insert(ends.end(), {{}, value(0.6), value(0.5), {}, {}});
  const std::map<std::size_t, TuningEnd> second{{3, value(8.2)}, {4, value(12)}, {5, value(3.01)}};
  const auto result = follow(halving_plan(), ends, second);
  EXPECT_EQ(result.left_out, 3U);
  EXPECT_EQ(result.undecided, 1U);

  auto diverges = second;
  diverges[4] = {.kind = Kind::worst};
  EXPECT_EQ(follow(halving_plan(), ends, diverges).undecided, 0U);
}

}  // namespace
}  // namespace residuum::reports
