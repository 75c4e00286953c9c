// The record of a run comes back from status.json as it was written, and claims nothing that the
// file does not say.

#include "reports/tables/run_facts.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "reports/tables/result_folder.h"

namespace residuum::reports {
namespace {

/// Sets a field to a value that no field has by default.
void change(bool& value) { value = !value; }
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

RunFacts changed() {
  RunFacts facts;
  visit_fact_fields([&](const FactField&, auto member) { change(facts.*member); });
  facts.k = 2;                   // from 1 to d
  facts.full_gradients = false;  // else there is no noise
  return facts;
}

TEST(RunFacts, ComeBackFieldByField) {
  const RunFacts facts = changed();
  Json status;
  write_run_facts(facts, status);
  const RunFacts read = read_run_facts({}, Json::parse(status.dump()));
  visit_fact_fields([&](const FactField& field, auto member) {
    SCOPED_TRACE(std::string(field.path));
    expect_equal(read.*member, facts.*member);
  });
  EXPECT_EQ(read.smoothness->origin, "exact: of the objective");
}

TEST(RunFacts, AreNotWrittenWhereTheyAreAbsent) {
  Json status;
  write_run_facts({}, status);
  EXPECT_FALSE(status["facts"].contains("smoothness"));
  EXPECT_FALSE(status["facts"].contains("gradient_bias"));
  EXPECT_FALSE(status.contains("k"));
  EXPECT_EQ(status["laws"]["aggregator"]["applies_whole_messages"], true);
}

TEST(RunFacts, ThatAreNotSaidAreNotClaimed) {
  for (const Json& status : {Json::object(), Json{{"laws", 3}, {"facts", "none"}}}) {
    const RunFacts facts = read_run_facts({}, status);
    visit_fact_fields([&]<class Value>(const FactField& field, Value RunFacts::*member) {
      SCOPED_TRACE(std::string(field.path));
      if constexpr (std::is_same_v<Value, bool>) {
        EXPECT_EQ(facts.*member, field.both == Both::reservation);
      } else if constexpr (!std::is_same_v<Value, double> && !std::is_same_v<Value, std::string> &&
                           !std::is_enum_v<Value>) {
        EXPECT_FALSE((facts.*member).has_value());
      }
    });
  }
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
  EXPECT_FALSE(facts.minimum);
  EXPECT_FALSE(facts.smoothness);
  EXPECT_FALSE(facts.convex);
}

TEST(RunFacts, HaveTheNamesOfTheStudy) {
  const RunFacts facts = read_run_facts({{"sparsifier", {{"kind", "somebody's own"}}},
                                         {"quantiser", {{"kind", "qsgd"}}},
                                         {"aggregator", {{"kind", "another"}}},
                                         {"step", {{"rule", "cosine"}, {"warmup", 5}}},
                                         {"workers", {{"count", 8}, {"sampling", "shuffle"}}}},
                                        {{"laws", {{"sparsifier", {{"claimed", true}}}}}});
  EXPECT_EQ(facts.sparsifier, "somebody's own with values by qsgd, as claimed by the study");
  EXPECT_EQ(facts.aggregator, "another");
  EXPECT_EQ(facts.feedback, "ef14");
  EXPECT_EQ(facts.step_rule, "cosine with warm-up");
  EXPECT_EQ(facts.sampling, "shuffle");
  EXPECT_EQ(facts.workers, 8);
}

TEST(RunFacts, OfFullGradientsHaveNoNoise) {
  const RunFacts facts = read_run_facts(
      {}, {{"laws", {{"gradients", {{"full", true}}}}}, {"facts", {{"noise_variance", 3}}}});
  EXPECT_EQ(facts.noise_variance->value, 0);
  EXPECT_EQ(facts.noise_variance->origin, "exact: full gradients");
}

}  // namespace
}  // namespace residuum::reports
