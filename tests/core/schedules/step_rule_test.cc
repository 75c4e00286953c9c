#include "core/schedules/step_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/core/support.h"

namespace residuum {
namespace {

using test::error_of;
using test::Json;

/// L = 4, mu = 0.5, d = 100, k = 10.
StepContext known() {
  return {.facts =
              [] {
                Facts facts;
                facts.smoothness = 4;
                facts.strong_convexity = 0.5;
                return facts;
              },
          .dimension = 100,
          .k = 10,
          .iterations = 1600,
          .workers = 4};
}

StepContext unknown() {
  return {
      .facts = [] { return Facts{}; }, .dimension = 100, .k = 10, .iterations = 1600, .workers = 4};
}

double step(const Json& values, std::uint64_t t, double epoch = 0) {
  const Section section("step", values);
  const auto rule = make_step_rule(section, known());
  section.finish();
  return rule->at(t, epoch);
}

std::string message(const Json& values, const StepContext& context) {
  return error_of([&] { make_step_rule(Section("step", values), context); });
}

TEST(StepRule, ScalesWithTheLengthOfTheRunAndTheWorkers) {
  EXPECT_DOUBLE_EQ(step({{"value", "0.8/sqrt(T)"}}, 7), 0.02);
  EXPECT_DOUBLE_EQ(step({{"value", "0.8*sqrt(P/T)"}}, 7), 0.04);
}

TEST(StepRule, IsConstantByDefault) {
  EXPECT_EQ(step({{"value", 0.25}}, 0), 0.25);
  EXPECT_EQ(step({{"rule", "constant"}, {"value", 0.25}}, 1000), 0.25);
}

TEST(StepRule, ReadsMultiplesOfTheObjectivesConstants) {
  EXPECT_EQ(step({{"value", "1/L"}}, 0), 0.25);
  EXPECT_EQ(step({{"value", "0.5/L"}}, 0), 0.125);
  EXPECT_EQ(step({{"value", "8/mu"}}, 0), 16);
}

TEST(StepRule, HasTheTheoremsValueForConstantSteps) {
  EXPECT_EQ(step({{"value", "theory"}}, 0), 0.1 / 16);  // (k/d) / (4 L)
}

TEST(StepRule, HasTheStepOfTheTightTheory) {
  StepContext context = known();
  context.tight = [] {
    return TightFacts{.smoothness = 2, .strong_convexity = 1, .contraction = 0.75};
  };
  // s = 1/2: (2/3) (1/2)/(3/2).
  EXPECT_DOUBLE_EQ(*make_step_rule(Section("step", {{"value", "tight"}}), context)->constant(),
                   2.0 / 9);
  EXPECT_EQ(message({{"value", "tight"}}, known()),
            "'step.value' is \"tight\", which takes an L of every worker's objective, not known "
            "here; give a number");
  EXPECT_NE(message({{"rule", "inv-sqrt"}, {"value", "tight"}}, context), "");
}

TEST(StepRule, FallsWithTheRootOfTime) {
  const Json values{{"rule", "inv-sqrt"}, {"value", 2}};
  EXPECT_EQ(step(values, 0), 2);
  EXPECT_EQ(step(values, 3), 1);
  EXPECT_EQ(step(values, 99), 0.2);
}

TEST(StepRule, FallsWithTimeAfterAShift) {
  const Json values{{"rule", "inv-time"}, {"value", 3}, {"shift", 2}};
  EXPECT_EQ(step(values, 0), 1.5);
  EXPECT_EQ(step(values, 4), 0.5);
}

TEST(StepRule, ReadsMemSgdsShiftAndValue) {
  EXPECT_EQ(step({{"rule", "inv-time"}, {"value", 1}, {"shift", "d/k"}}, 0), 0.1);
  EXPECT_EQ(step({{"rule", "inv-time"}, {"value", 1}, {"shift", "4d/k"}}, 10), 0.02);
  EXPECT_EQ(step({{"rule", "inv-time"}, {"value", 1}}, 30), 0.01);         // 7 d/k = 70
  EXPECT_EQ(step({{"rule", "inv-time"}, {"value", "theory"}}, 30), 0.16);  // 8/mu = 16
}

TEST(StepRule, FallsAtMilestones) {
  const Json values{
      {"rule", "milestones"}, {"value", 1}, {"milestones", {2, 5.5}}, {"factor", 0.5}};
  EXPECT_EQ(step(values, 1000, 1.99), 1);
  EXPECT_EQ(step(values, 0, 2), 0.5);
  EXPECT_EQ(step(values, 0, 5.5), 0.25);

  auto in_iterations = values;
  in_iterations["unit"] = "iterations";
  EXPECT_EQ(step(in_iterations, 1, 9), 1);
  EXPECT_EQ(step(in_iterations, 2, 0), 0.5);
  EXPECT_EQ(step(in_iterations, 6, 0), 0.25);
}

TEST(StepRule, FallsAsACosineAfterItsWarmUp) {
  // nanoGPT's schedule: up to 2 in 100 iterations, then down to 0.2 in 2000.
  const Json values{{"rule", "cosine"},
                    {"value", 2},
                    {"floor", 0.1},
                    {"warmup", 100},
                    {"warmup_from", 0},
                    {"until", 2000}};
  EXPECT_EQ(step(values, 0, 0), 0);
  EXPECT_NEAR(step(values, 50, 0), 1, 1e-15);
  EXPECT_EQ(step(values, 100, 0), 2);
  EXPECT_NEAR(step(values, 1050, 0), 1.1, 1e-15);  // half way
  EXPECT_NEAR(step(values, 2000, 0), 0.2, 1e-15);
  EXPECT_NEAR(step(values, 9999, 0), 0.2, 1e-15) << "it stays there";

  auto in_epochs = values;
  in_epochs["unit"] = "epochs";
  EXPECT_NEAR(step(in_epochs, 0, 1050), 1.1, 1e-15);
}

TEST(StepRule, FallsAsACosineTowardsZeroButIsPositiveToTheLastIteration) {
  // After T = 1600 iterations; (1 + cos x)/2 = sin^2((pi - x)/2) at the last one.
  const Json values{{"rule", "cosine"}, {"value", 2}, {"floor", 0}};
  EXPECT_NEAR(step(values, 800, 0), 1, 1e-15);
  EXPECT_NEAR(step(values, 1599, 0), 2 * std::pow(std::sin(std::numbers::pi / 3200), 2), 1e-15);
  EXPECT_EQ(step(values, 1600, 0), 0);

  Json early = values;
  early["until"] = 1599;
  EXPECT_EQ(message(early, known()),
            "'step.floor' is 0, but the step must be positive in all 1600 iterations, so that "
            "'step.until' must be as many, or more, in iterations");
  early["until"] = 1600;
  early["unit"] = "epochs";
  EXPECT_NE(message(early, known()), "");
  EXPECT_NE(message({{"rule", "cosine"}, {"value", 1}, {"floor", -0.1}}, known()), "");
}

TEST(StepRule, RefusesCosinesThatEndBeforeTheyBegin) {
  EXPECT_NE(message({{"rule", "cosine"}, {"value", 1}, {"warmup", 50}, {"until", 50}}, known()),
            "");
  EXPECT_NE(message({{"rule", "cosine"}, {"value", 1}, {"until", 9}, {"floor", 1.5}}, known()), "");
  EXPECT_NE(message({{"rule", "cosine"}, {"value", 1}, {"unit", "epochs"}}, known()), "");
}

TEST(StepRule, AsksForNoFactsThatItDoesNotNeed) {
  const StepContext context{
      .facts = []() -> Facts { throw std::logic_error("asked"); }, .dimension = 1, .k = 1};
  for (const char* rule : {"constant", "inv-sqrt", "inv-time"}) {
    EXPECT_NO_THROW(make_step_rule(Section("step", {{"rule", rule}, {"value", 1}}), context));
  }
}

TEST(StepRule, SaysWhichConstantIsNotKnown) {
  EXPECT_EQ(message({{"value", "1/L"}}, unknown()),
            "'step.value' refers to L, which is not known for this objective; give a number");
  EXPECT_EQ(message({{"value", "1/mu"}}, unknown()),
            "'step.value' refers to mu, which is not known for this objective; give a number");
  EXPECT_NE(message({{"value", "theory"}}, unknown()), "");
}

TEST(StepRule, RefusesValuesThatAreNoStep) {
  EXPECT_EQ(message({{"value", 0}}, known()), "'step.value' must be positive, got 0");
  EXPECT_NE(message({{"value", -1}}, known()), "");
  EXPECT_NE(message({{"value", "-1/L"}}, known()), "");
  EXPECT_NE(message({{"value", "inf/L"}}, known()), "");
  EXPECT_EQ(
      message({{"value", "1/M"}}, known()),
      "'step.value' must be a number, \"theory\", \"tight\" with a constant step, or a multiple "
      "such as \"1/L\", \"8/mu\", \"0.5/sqrt(T)\" or \"0.5*sqrt(P/T)\"; got \"1/M\"");
  EXPECT_NE(message({{"value", "fast"}}, known()), "");
  EXPECT_EQ(message(Json::object(), known()), "missing key 'step.value'");
  EXPECT_EQ(message({{"rule", "inv-sqrt"}, {"value", "theory"}}, known()),
            "'step.value': this rule has no theoretical value");
}

TEST(StepRule, RefusesShiftsThatLeaveNoStep) {
  const auto with_shift = [](const Json& shift) {
    return message({{"rule", "inv-time"}, {"value", 1}, {"shift", shift}}, known());
  };
  EXPECT_EQ(with_shift(0), "'step.shift' must be positive, got 0");
  EXPECT_EQ(with_shift("d"),
            "'step.shift' must be a number or a multiple of d/k such as \"10d/k\"; got \"d\"");
  EXPECT_NE(with_shift("-1d/k"), "");
  EXPECT_NE(with_shift("infd/k"), "");
}

TEST(StepRule, RefusesMilestonesThatAreNoList) {
  const auto with_milestones = [](const Json& milestones) {
    return message({{"rule", "milestones"}, {"value", 1}, {"milestones", milestones}}, known());
  };
  EXPECT_EQ(with_milestones(3), "'step.milestones' must be a list of numbers");
  EXPECT_NE(with_milestones({1, "two"}), "");
  EXPECT_EQ(with_milestones({2, 1}), "'step.milestones' must be numbers that increase");
  EXPECT_NE(message({{"rule", "milestones"}, {"value", 1}}, known()), "");
  EXPECT_NE(
      message({{"rule", "milestones"}, {"value", 1}, {"milestones", Json::array()}, {"factor", 0}},
              known()),
      "");
}

TEST(StepRule, AnswersAnUnknownRuleWithTheNearest) {
  EXPECT_EQ(message({{"rule", "inv-sqr"}, {"value", 1}}, known()),
            "unknown value 'inv-sqr' of 'step.rule'; did you mean 'inv-sqrt'?");
}

TEST(StepRule, SaysWhetherAStepMayBeLargerThanOneBefore) {
  const auto law_of = [](const Json& values) {
    return make_step_rule(Section("step", values), known())->law();
  };
  EXPECT_FALSE(law_of({{"rule", "constant"}, {"value", 1}}).may_grow);
  EXPECT_FALSE(law_of({{"rule", "inv-sqrt"}, {"value", 1}}).may_grow);
  EXPECT_FALSE(law_of({{"rule", "cosine"}, {"value", 1}, {"unit", "iterations"}}).may_grow);
  const Json milestones{{"rule", "milestones"}, {"value", 1}, {"milestones", {3}}};
  EXPECT_FALSE(law_of(milestones).may_grow);
  Json rising = milestones;
  rising["factor"] = 2;
  EXPECT_TRUE(law_of(rising).may_grow);
  EXPECT_TRUE(law_of({{"rule", "constant"}, {"value", 1}, {"warmup", 5}}).may_grow);
  const StepLaw falling = law_of({{"rule", "inv-time"}, {"value", 1}, {"shift", "10d/k"}});
  EXPECT_FALSE(falling.may_grow);
  EXPECT_EQ(falling.shift, 100);
}

TEST(StepRule, OfATrainingOutsideIsNotConstantAndMayGrow) {
  StepContext context = known();
  context.live = [] { return 0.5; };
  const auto rule =
      make_step_rule(Section("step", Json{{"rule", "constant"}, {"value", "live"}}), context);
  EXPECT_FALSE(rule->constant());
  EXPECT_TRUE(rule->law().may_grow);
}

TEST(StepRule, WarmsUpFromOneOverP) {
  // P = 4: from a quarter of the step to all of it over 8 iterations.
  const Json values{{"value", 1}, {"warmup", 8}, {"unit", "iterations"}};
  EXPECT_EQ(step(values, 0), 0.25);
  EXPECT_EQ(step(values, 4), 0.625);
  EXPECT_EQ(step(values, 8), 1);
  EXPECT_EQ(step(values, 100), 1);
}

TEST(StepRule, WarmsUpInEpochsUnderAnyRule) {
  const Json values{{"rule", "milestones"},
                    {"value", 1},
                    {"milestones", {1.0}},
                    {"factor", 0.5},
                    {"warmup", 2},
                    {"warmup_from", 0}};
  EXPECT_EQ(step(values, 99, 0.5), 0.25);
  EXPECT_EQ(step(values, 99, 1.5), 0.375);
  EXPECT_EQ(step(values, 99, 2), 0.5);
}

TEST(StepRule, RecordsAWarmUpThatIsOff) {
  const Section without("step", Json{{"value", 1}});
  const Section off("step", Json{{"value", 1}, {"warmup", 0}});
  make_step_rule(without, known());
  make_step_rule(off, known());
  EXPECT_EQ(off.resolved(), without.resolved());
  EXPECT_EQ(without.resolved()["warmup"], 0);
}

TEST(StepRule, SaysWhatIsWrongWithAWarmUp) {
  EXPECT_EQ(message({{"value", 1}, {"warmup", -1}}, known()),
            "'step.warmup' must be at least 0, got -1");
  EXPECT_EQ(message({{"value", 1}, {"warmup", 1}, {"warmup_from", 2}}, known()),
            "'step.warmup_from' must be \"1/P\" or a number in [0, 1], got 2");
  auto without_data = known();
  without_data.has_epochs = false;
  EXPECT_EQ(message({{"value", 1}, {"warmup", 1}}, without_data),
            "'step.unit' is \"epochs\", but this objective has no data set; use \"iterations\"");
}

}  // namespace
}  // namespace residuum
