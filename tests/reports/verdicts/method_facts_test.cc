// These tests read what a theorem must know of a run from its config.json and status.json.

#include <gtest/gtest.h>

#include "reports/verdicts/evidence.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

Run run_with(const Json& config, const Json& status) {
  Run run;
  run.id = "r";
  run.state = "finished";
  run.config = Json{{"config", config}};
  run.status = status;
  return run;
}

TEST(MethodFacts, HaveTheSynchronyOfTheProtocolsLaw) {
  const auto synchrony = [](const Json& laws) {
    return method_facts(run_with({}, {{"laws", laws}})).synchrony;
  };
  EXPECT_EQ(synchrony({{"protocol", {{"synchrony", "late"}}}}), Synchrony::late);
  EXPECT_EQ(synchrony({{"protocol", {{"synchrony", "periodic"}}}}), Synchrony::periodic);
  EXPECT_EQ(synchrony(Json::object()), Synchrony::lockstep);
}

MethodFacts facts_of(const Json& protocol) {
  return method_facts(run_with({}, {{"laws", {{"protocol", protocol}}}}));
}

TEST(MethodFacts, HaveTheLimitsOfTheProtocolsLaw) {
  const MethodFacts limited =
      facts_of({{"synchrony", "late"}, {"staleness", 15}, {"contributions", 1}});
  EXPECT_EQ(limited.staleness, 15);
  EXPECT_EQ(limited.contributions, 1);
  const MethodFacts free =
      facts_of({{"synchrony", "late"}, {"staleness", nullptr}, {"contributions", nullptr}});
  EXPECT_EQ(facts_of({{"synchrony", "neighbours"}, {"spectral_gap", 0.25}}).spectral_gap, 0.25);
  EXPECT_FALSE(free.spectral_gap);
  EXPECT_FALSE(free.staleness);
  EXPECT_FALSE(free.contributions);
}

TEST(MethodFacts, KnowWhetherAVersionIsTheMeanOfItsGradients) {
  EXPECT_TRUE(facts_of({{"synchrony", "late"}}).contributions_weigh_alike);
  EXPECT_FALSE(facts_of({{"synchrony", "late"}, {"contributions_weigh_alike", false}})
                   .contributions_weigh_alike);
}

TEST(MethodFacts, KnowHowManyWorkersMakeAVersion) {
  EXPECT_EQ(facts_of({{"synchrony", "lockstep"}, {"participants", 3}}).participants, 3);
  EXPECT_FALSE(facts_of({{"synchrony", "lockstep"}}).participants);
}

TEST(MethodFacts, TakeWorkersForAlikeOnlyWhereTheObjectiveSaysSo) {
  const auto alike = [](const Json& objective) {
    return method_facts(run_with({{"objective", objective}}, {})).workers_are_alike;
  };
  EXPECT_TRUE(alike({{"kind", "quadratic"}, {"heterogeneity", 0}}));
  EXPECT_FALSE(alike({{"kind", "quadratic"}, {"heterogeneity", 0.5}}));
  EXPECT_FALSE(alike({{"kind", "quadratic"}}));  // 0.5 is the default
  EXPECT_FALSE(alike({{"kind", "logistic"}}));
}

// Full gradients of one model repeat themselves, but what is late may be drawn.
TEST(MethodFacts, TakeNoLateRunForDeterministic) {
  const auto deterministic = [](const char* synchrony) {
    return method_facts(run_with({{"workers", {{"batch", "full"}}}},
                                 {{"facts", {{"starts_from_seed", false}}},
                                  {"laws",
                                   {{"sparsifier", {{"deterministic", true}}},
                                    {"protocol", {{"synchrony", synchrony}}}}}}))
        .deterministic;
  };
  EXPECT_TRUE(deterministic("lockstep"));
  EXPECT_FALSE(deterministic("late"));
}

TEST(MethodFacts, AreWhatTheStudyAndTheStatusSay) {
  const MethodFacts facts = method_facts(run_with(
      {{"objective", {{"kind", "logistic"}}},
       {"workers", {{"count", 8}, {"batch", 32}, {"sampling", "shuffle"}, {"partition", "iid"}}},
       {"sparsifier", {{"kind", "top-k"}}},
       {"aggregator", {{"kind", "gtopk-tree"}}},
       {"feedback", {{"kind", "ef14"}, {"units", "gradient"}}},
       {"protocol", {{"kind", "bsp"}}},
       {"step", {{"rule", "inv-time"}, {"value", 8}, {"shift", "10d/k"}, {"momentum", 0.9}}}},
      {{"dimension", 200},
       {"k", 20},
       {"conserves", false},
       {"laws",
        {{"sparsifier", {{"contraction", 0.1}, {"keeps_largest", true}}},
         {"feedback", {{"units", "gradient"}}}}},
       {"facts",
        {{"smoothness", 2},
         {"convex", true},
         {"strong_convexity", 0.1},
         {"minimum", 0.3},
         {"initial_distance_sq", 7}}}}));
  EXPECT_EQ(facts.sparsifier, "top-k");
  EXPECT_EQ(facts.aggregator, "gtopk-tree");
  EXPECT_TRUE(facts.in_gradient_units);
  EXPECT_FALSE(facts.applies_whole_messages);
  EXPECT_TRUE(facts.keeps_largest);
  EXPECT_EQ(facts.contraction, 0.1);
  EXPECT_EQ(facts.sampling, "shuffle");
  EXPECT_EQ(facts.step_rule, "inv-time");
  EXPECT_EQ(facts.momentum, 0.9);
  EXPECT_EQ(facts.workers, 8);
  EXPECT_EQ(facts.dimension, 200);
  EXPECT_EQ(facts.k, 20);
  EXPECT_EQ(facts.step_shift, 100);
  EXPECT_FALSE(facts.conserves);
  EXPECT_FALSE(facts.full_gradients);
  EXPECT_EQ(facts.convex, true);
  EXPECT_EQ(facts.smoothness->value, 2);
  EXPECT_EQ(facts.minimum->value, 0.3);
  EXPECT_EQ(facts.initial_distance_sq->value, 7);
  EXPECT_FALSE(facts.noise_variance);
}

TEST(MethodFacts, DoNotGuessWhatIsNotSaid) {
  const MethodFacts facts = method_facts(run_with(Json::object(), Json::object()));
  EXPECT_FALSE(facts.smoothness);
  EXPECT_FALSE(facts.minimum);
  EXPECT_FALSE(facts.lower_bound);
  EXPECT_FALSE(facts.convex);
  EXPECT_FALSE(facts.k);
  EXPECT_FALSE(facts.deterministic);
}

TEST(MethodFacts, KnowFullGradientsAndWhenNothingIsRandom) {
  const Json config{{"workers", {{"batch", "full"}, {"partition", "dirichlet:0.5"}}}};
  Json status{{"facts", {{"starts_from_seed", false}}},
              {"laws", {{"sparsifier", {{"deterministic", true}}}}}};
  MethodFacts facts = method_facts(run_with(config, status));
  EXPECT_TRUE(facts.full_gradients);
  EXPECT_TRUE(facts.deterministic);
  EXPECT_EQ(facts.noise_variance->value, 0);
  status["laws"]["sparsifier"]["deterministic"] = false;
  EXPECT_FALSE(method_facts(run_with(config, status)).deterministic);
}

TEST(MethodFacts, AreTheLawsThatTheRunWroteAndNotItsNames) {
  const Json config{{"sparsifier", {{"kind", "somebody's own"}}},
                    {"aggregator", {{"kind", "another"}}},
                    {"feedback", {{"kind", "a third"}}}};
  const Json status{{"dimension", 100},
                    {"k", 10},
                    {"conserves", true},
                    {"laws",
                     {{"sparsifier",
                       {{"contraction", 0.1},
                        {"exact", true},
                        {"deterministic", false},
                        {"shares_support", true},
                        {"threshold", 0.25},
                        {"threshold_follows_step", true}}},
                      {"aggregator", {{"applies_whole_messages", true}}},
                      {"feedback", {{"memory", "estimate"}, {"units", "gradient"}}}}},
                    {"facts",
                     {{"convex", false},
                      {"lower_bound", -2},
                      {"starts_from_seed", false},
                      {"gradient_bias", "dropout"},
                      {"samples", 5000},
                      {"evaluated_samples", 5000},
                      {"power_samples", 1024}}}};
  const MethodFacts facts = method_facts(run_with(config, status));
  EXPECT_EQ(facts.contraction, 0.1);
  EXPECT_TRUE(facts.contraction_is_exact);
  EXPECT_TRUE(facts.selects_at_random);
  EXPECT_TRUE(facts.shares_support);
  EXPECT_FALSE(facts.keeps_largest);
  EXPECT_EQ(facts.threshold, 0.25);
  EXPECT_TRUE(facts.threshold_follows_step);
  EXPECT_TRUE(facts.applies_whole_messages);
  EXPECT_EQ(facts.memory, Memory::estimate);
  EXPECT_TRUE(facts.in_gradient_units);
  EXPECT_EQ(facts.convex, false);
  EXPECT_EQ(facts.lower_bound->value, -2);
  EXPECT_EQ(facts.gradient_bias, "dropout");
  EXPECT_TRUE(facts.differences_are_of_f);
  EXPECT_FALSE(facts.curvature_is_of_f);
}

TEST(MethodFacts, KnowWhatMomentumBeforeTheExchangeMakesOfDecay) {
  const Json config{{"feedback", {{"kind", "dgc"}, {"momentum", 0.75}}},
                    {"step", {{"weight_decay", 0.5}}}};
  Json laws{{"feedback", {{"memory", "velocity"}, {"gain", 4}}}};
  const MethodFacts before = method_facts(run_with(config, {{"laws", laws}}));
  EXPECT_EQ(before.momentum, 0.75);
  EXPECT_EQ(before.weight_decay, 0.5);
  EXPECT_EQ(before.effective_decay, 0.125);
  laws = {{"feedback", {{"memory", "estimate"}, {"averaging", 0.1}, {"gain", 1}}}};
  const MethodFacts average = method_facts(run_with(config, {{"laws", laws}}));
  EXPECT_EQ(average.effective_decay, 0.5);
  EXPECT_EQ(average.averaging, 0.1);
  EXPECT_TRUE(average.has_momentum());
}

TEST(MethodFacts, HaveBothMeansOfTheWorkersSmoothness) {
  const Json status{{"facts", {{"worker_smoothness", 2.5}, {"worker_smoothness_mean", 2}}}};
  const MethodFacts facts = method_facts(run_with(Json::object(), status));
  EXPECT_EQ(facts.worker_smoothness->value, 2.5);
  EXPECT_EQ(facts.mean_worker_smoothness->value, 2);
}

TEST(MethodFacts, KnowMilestonesThatRaiseTheStep) {
  const auto may_grow = [](const Json& step) {
    return method_facts(run_with({{"step", step}}, Json::object())).steps_may_grow;
  };
  EXPECT_FALSE(may_grow({{"rule", "milestones"}, {"factor", 0.1}}));
  EXPECT_TRUE(may_grow({{"rule", "milestones"}, {"factor", 2}}));
  EXPECT_FALSE(may_grow({{"rule", "inv-sqrt"}}));
  EXPECT_TRUE(may_grow({{"rule", "constant"}, {"warmup", 5}}));
  EXPECT_TRUE(may_grow({{"rule", "one-cycle"}}));
}

}  // namespace
}  // namespace residuum::reports
