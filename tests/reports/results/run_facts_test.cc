// The record of a run comes back from status.json as it was written, and claims nothing that the
// file does not say.

#include "reports/results/run_facts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "reports/results/result_folder.h"

namespace residuum::reports {
namespace {

/// Sets a field to a value that no field has by default.
void change(bool& value) { value = !value; }
void change(int& value) { value += 3; }
void change(std::uint64_t& value) { value += 3; }
void change(std::optional<std::uint64_t>& value) { value = 7; }
void change(std::optional<bool>& value) { value = false; }
void change(double& value) { value += 2.5; }
void change(std::optional<double>& value) { value = 0.25; }
void change(std::optional<Known>& value) { value = Known{.value = 0.5, .origin = {}}; }
void change(std::string& value) { value = "otherwise"; }
void change(Memory& value) { value = Memory::control; }
void change(Synchrony& value) { value = Synchrony::late; }

void expect_equal(const std::optional<Known>& a, const std::optional<Known>& b) {
  EXPECT_EQ(a->value, b->value);
}
template <class Value>
void expect_equal(const Value& a, const Value& b) {
  EXPECT_EQ(a, b);
}

void expect_not_claimed(const FactField& field, bool value) {
  EXPECT_EQ(value, field.both == Both::reservation);
}
template <class Value>
void expect_not_claimed(const FactField& /*field*/, const std::optional<Value>& value) {
  EXPECT_FALSE(value.has_value());
}
template <class Value>
void expect_not_claimed(const FactField& /*field*/, const Value& /*always there*/) {}

bool may_be_absent(const std::string& /*text*/) { return true; }
template <class Value>
bool may_be_absent(const std::optional<Value>& /*constant*/) {
  return true;
}
template <class Value>
bool may_be_absent(const Value& /*always there*/) {
  return false;
}

RunFacts changed() {
  RunFacts facts;
  facts.quantiser.emplace();
  visit_fact_fields([&](const FactField&, auto place) { change(*place(facts)); });
  facts.k = 2;                   // from 1 to d
  facts.gradients.full = false;  // else there is no noise
  return facts;
}

TEST(RunFacts, ComeBackFieldByField) {
  const RunFacts facts = changed();
  Json status;
  write_run_facts(facts, status);
  const RunFacts read = read_run_facts({}, Json::parse(status.dump()));
  ASSERT_TRUE(read.quantiser);
  visit_fact_fields([&](const FactField& field, auto place) {
    SCOPED_TRACE(std::string(field.path));
    expect_equal(*place(read), *place(facts));
  });
  EXPECT_EQ(read.objective.smoothness->origin, "exact: of the objective");
}

TEST(RunFacts, AreNotWrittenWhereTheyAreAbsent) {
  Json status;
  write_run_facts({}, status);
  EXPECT_FALSE(status["facts"].contains("smoothness"));
  EXPECT_FALSE(status["facts"].contains("gradient_bias"));
  EXPECT_FALSE(status.contains("k"));
  EXPECT_FALSE(status["laws"].contains("quantiser"));
  EXPECT_EQ(status["laws"]["aggregator"]["applies_whole_messages"], true);
}

TEST(RunFacts, ThatAreNotSaidAreNotClaimed) {
  for (const Json& status : {Json::object(), Json{{"laws", 3}, {"facts", "none"}}}) {
    const RunFacts facts = read_run_facts({}, status);
    EXPECT_FALSE(facts.quantiser);
    visit_fact_fields([&](const FactField& field, auto place) {
      SCOPED_TRACE(std::string(field.path));
      if (const auto* fact = place(facts)) {
        expect_not_claimed(field, *fact);
      }
    });
  }
}

TEST(RunFacts, OfAFinishedRunAreAllThere) {
  Json whole;
  write_run_facts(changed(), whole);
  EXPECT_EQ(damaged_fact(whole), "");
  const RunFacts facts = changed();
  visit_fact_fields([&](const FactField& field, auto place) {
    SCOPED_TRACE(std::string(field.path));
    Json* value = &whole;
    std::string path(field.path);
    for (auto dot = path.find('.'); dot != std::string::npos; dot = path.find('.')) {
      value = &(*value)[path.substr(0, dot)];
      path = path.substr(dot + 1);
    }
    value = &(*value)[path];
    const Json before = *value;
    *value = Json::array({1});  // which no field is
    EXPECT_EQ(damaged_fact(whole), field.path);
    *value = Json();
    EXPECT_EQ(damaged_fact(whole), may_be_absent(*place(facts)) ? "" : field.path);
    *value = before;
  });
  EXPECT_EQ(damaged_fact(Json::object()), "dimension");
  whole["laws"]["feedback"]["memory"] = "a word of nobody";
  EXPECT_EQ(damaged_fact(whole), "laws.feedback.memory");
  whole["laws"]["feedback"]["memory"] = "residual";
  whole["laws"]["aggregator"].erase("weighs_messages");
  EXPECT_EQ(damaged_fact(whole), "laws.aggregator.weighs_messages");
}

TEST(RunFacts, OfForeignFilesKeepTheirBounds) {
  const auto k_of = [](double k) { return read_run_facts({}, {{"dimension", 100}, {"k", k}}).k; };
  EXPECT_EQ(k_of(100), 100);
  EXPECT_FALSE(k_of(101));
  EXPECT_FALSE(k_of(0));
  const RunFacts facts = read_run_facts(
      {{"workers", {{"count", -4}}}},
      {{"dimension", -7}, {"facts", {{"minimum", "nan"}, {"smoothness", true}, {"convex", 1}}}});
  EXPECT_EQ(facts.workers, 1);
  EXPECT_EQ(facts.dimension, 1);
  EXPECT_FALSE(facts.objective.minimum);
  EXPECT_FALSE(facts.objective.smoothness);
  EXPECT_FALSE(facts.objective.convex);
}

TEST(RunFacts, OfForeignFilesHaveNoCountsThatAreNone) {
  const auto law_of = [](const Json& protocol) {
    return read_run_facts({}, {{"laws", {{"protocol", protocol}}}}).protocol;
  };
  EXPECT_EQ(law_of({{"staleness", 3}, {"local_steps", 2}}).staleness, 3U);
  EXPECT_EQ(law_of({{"staleness", 3}, {"local_steps", 2}}).local_steps, 2U);
  for (const Json& none : {Json(-3), Json(2.5), Json("3"), Json(true)}) {
    EXPECT_FALSE(law_of({{"staleness", none}}).staleness) << none;
    EXPECT_EQ(law_of({{"local_steps", none}}).local_steps, 1U) << none;
  }
}

TEST(RunFacts, HaveTheNamesOfTheStudy) {
  const RunFacts facts = read_run_facts({{"sparsifier", {{"kind", "somebody's own"}}},
                                         {"quantiser", {{"kind", "qsgd"}}},
                                         {"aggregator", {{"kind", "another"}}},
                                         {"step", {{"rule", "cosine"}, {"warmup", 5}}},
                                         {"workers", {{"count", 8}, {"sampling", "shuffle"}}}},
                                        {{"laws", {{"sparsifier", {{"claimed", true}}}}}});
  EXPECT_EQ(facts.names.sparsifier, "somebody's own with values by qsgd, as claimed by the study");
  EXPECT_EQ(facts.names.aggregator, "another");
  EXPECT_EQ(facts.names.feedback, "ef14");
  EXPECT_EQ(facts.names.step_rule, "cosine with warm-up");
  EXPECT_EQ(facts.names.sampling, "shuffle");
  EXPECT_EQ(facts.workers, 8);
}

TEST(RunFacts, OfFullGradientsHaveNoNoise) {
  const RunFacts facts = read_run_facts(
      {}, {{"laws", {{"gradients", {{"full", true}}}}}, {"facts", {{"noise_variance", 3}}}});
  EXPECT_EQ(facts.objective.noise_variance->value, 0);
  EXPECT_EQ(facts.objective.noise_variance->origin, "exact: full gradients");
}

}  // namespace
}  // namespace residuum::reports
