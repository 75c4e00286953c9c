// A study with [tune] has the runs that it may need, and one that is wrong is refused in a line.

#include "experiments/program/study/tune_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/program/study/prepare_all.h"
#include "experiments/program/study/run_config.h"
#include "experiments/program/study/study.h"

namespace residuum {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kTuneHead = R"(schema = 1
name = "s"
seeds = 3
[objective]
kind = "matrix-quadratic"
matrix = [[2.0]]
minimizers = [0.0]
start = [1.0]
[workers]
count = 1
[budget]
iterations = 3
[sweep]
"aggregator.kind" = ["dense", "allgather"]
[tune]
)";

Study tuned(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_study(kTuneHead + text, "s.toml", overrides);
}

std::string tune_error(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    ObjectiveCache objectives({.data_dir = {}, .cache_dir = {}, .workers = 1});
    const Study study = tuned(text, overrides);
    prepare_all(study, objectives);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

const nlohmann::json& step_of(const RunSpec& spec) {
  return spec.sections.at("step").at("value").value;
}

std::vector<double> numbers_of_values(const std::string& value) {
  return tuned("\"step.value\" = " + value + "\n").tune->plan.axes.front().numbers;
}

TEST(TuneSection, HasEveryValueWithTheTuningSeedsAndWithTheStudysOwn) {
  const Study study = tuned("\"step.value\" = [0.3, 0.1]\nseeds = [11, 12]\n");

  ASSERT_TRUE(study.tune);
  ASSERT_EQ(study.runs.size(), 2 * 2 * (2 + 3));
  const RunSpec& tuning = study.runs[study.tune->tuning_run(1, 0, 1)];
  EXPECT_TRUE(tuning.is_tuning);
  EXPECT_EQ(tuning.seed, 12U);
  EXPECT_EQ(step_of(tuning), 0.1) << "values ascend";
  EXPECT_EQ(tuning.varying,
            nlohmann::json({{"aggregator.kind", "allgather"}, {"step.value", 0.1}}));
  const RunSpec& own = study.runs[study.tune->final_run(1, 1, 2)];
  EXPECT_FALSE(own.is_tuning);
  EXPECT_EQ(own.seed, 3U);
  EXPECT_EQ(step_of(own), 0.3);
  EXPECT_EQ(own.varying, nlohmann::json({{"aggregator.kind", "allgather"}}))
      << "a method has one best value, which does not tell it from others";
}

TEST(TuneSection, TakesAGridOfEqualRatios) {
  EXPECT_THAT(numbers_of_values("\"log:1e-3..1:7\""),
              ElementsAre(0.001, 0.00316228, 0.01, 0.0316228, 0.1, 0.316228, 1));
  const auto axis = tuned("\"step.value\" = \"log:0.1..10:3/L\"\n").tune->plan.axes.front();
  EXPECT_THAT(axis.values, ElementsAre("0.1/L", "1/L", "10/L"));
  EXPECT_THAT(axis.numbers, ElementsAre(0.1, 1, 10));
}

TEST(TuneSection, OrdersNumbersAndTextsThatBeginWithOne) {
  EXPECT_THAT(numbers_of_values("[\"1/L\", \"0.5/L\"]"), ElementsAre(0.5, 1));
  EXPECT_THAT(numbers_of_values("[\"1/L\", \"0.5/mu\"]"), ElementsAre());
  EXPECT_THAT(numbers_of_values("[\"theory\", \"1/L\"]"), ElementsAre());
}

TEST(TuneSection, GoesPastTheGridInItsRatio) {
  const auto axis =
      tuned("\"step.value\" = [0.1, 0.2, 0.8]\nextend = true\nextend_by = 2\n").tune->plan.axes[0];
  EXPECT_THAT(axis.numbers, ElementsAre(0.025, 0.05, 0.1, 0.2, 0.8, 3.2, 12.8));
  EXPECT_EQ(axis.first, 2U);
  EXPECT_EQ(axis.last, 4U);
  const auto zero =
      tuned("\"step.momentum\" = [0, 0.4, 0.8]\nextend = true\n").tune->plan.axes.front();
  EXPECT_EQ(zero.first, 0U) << "nothing lies below zero in a ratio";
  EXPECT_EQ(zero.last, 2U);
}

TEST(TuneSection, HasTheDefaultsThatAreListed) {
  const Study study = tuned("\"step.value\" = [0.1, 0.2]\n");
  EXPECT_THAT(study.tune->plan.seeds, ElementsAre(1001, 1002));
  EXPECT_EQ(study.tune->plan.quantity, "loss");
  EXPECT_FALSE(study.tune->plan.extends);
}

TEST(TuneSection, RefusesWhatIsNoTuningInOneLine) {
  const std::string good = "\"step.value\" = [0.1, 0.2]\n";
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"seeds = 2\n", "[tune] at s.toml:15:1 names no key to tune"},
      {"\"step.value\" = []\n", "tuning is among 2 to 1000 values, got 0"},
      {"\"step.value\" = [0.1]\n", "tuning is among 2 to 1000 values, got 1"},
      {"\"step.value\" = [0.1, 0.1]\n", "has the value 0.1 twice"},
      {"\"step.value\" = 0.1\n", "must be a list of values, or \"log:FROM..TO:COUNT\""},
      {"\"step.value\" = \"log:1..0.1:3\"\n", "with 0 < FROM < TO"},
      {"\"step.value\" = \"log:0.1..1\"\n", "must be \"log:FROM..TO:COUNT\""},
      {"\"step.value\" = \"log:1...2:3\"\n", "with 0 < FROM < TO"},
      {"\"aggregator.kind\" = [\"dense\", \"allgather\"]\n",
       "'tune.aggregator.kind' at s.toml:16:1 is also given at s.toml:14:1"},
      {good + "seeds = [3, 4]\n", "seed 3 is one of the study's own 'seeds'"},
      {good + "seeds = [4, 4]\n", "has 4 twice"},
      {good + "seeds = 0\n", "must be how many seeds"},
      {good + "sedes = 2\n", "unknown key 'tune.sedes' at s.toml:17:1; did you mean 'seeds'?"},
      {"\"stp.value\" = [0.1, 0.2]\n", "did you mean 'step'?"},
      {good + "\"step.vlue\" = [0.1, 0.2]\n", "unknown key 'step.vlue' at s.toml:17:1"},
      {good + "quantity = \"los\"\n", "did you mean 'loss'?"},
      {good + "quantity = \"accuracy\"\n", "have no accuracy"},
      {good + "quantity = \"time\"\ntarget = 0.1\n", "take no virtual time"},
      {good + "quantity = \"bytes\"\n", "give 'target'"},
      {good + "target = 0.1\n", "is of quantities that are spent"},
      {good + "extend = true\nextend_by = 0\n", "must lie in 1..1000"},
      {good + "extend = 1\n", "'tune.extend'"},
      {good + "halving = 1\n", "must be 0, or from 2 to 16, got 1"},
      {good + "halving = 2\nextend = true\n", "'extend' asks for more of these; take one"},
      {good + "\"budget.iterations\" = [5, 10]\nhalving = 2\n", "halving shortens the budget"},
      {good + "\"sparsifier.density\" = [0.1, 0.2]\n[[point]]\nsparsifier.kind = "
              "\"top-k\"\naggregator.kind = \"gtopk-tree\"\n",
       "'tune.sparsifier.density' at s.toml:17:1 and 'tune.step.value' at s.toml:16:1: two of the "
       "values make the same run"},
      {good + "[search]\nkey = \"sparsifier.density\"\nratios = [2, 4]\n",
       "'search' at s.toml:17:1: a study with [tune] at s.toml:15:1 makes other runs"},
      {good + "[[point]]\nstep.value = 0.3\n", "is also given at s.toml:18:6"}};
  for (const auto& [text, message] : wrong) {
    const std::string error = tune_error(text);
    EXPECT_THAT(error, HasSubstr(message)) << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
  EXPECT_THAT(tune_error(good, {"step.value=0.3"}),
              HasSubstr("--set step.value: 'tune.step.value' at s.toml:16:1 gives its values"));
  EXPECT_THAT(tune_error(good, {"tune.extend=true"}), HasSubstr("is set in the file alone"));
  EXPECT_THAT(tune_error(good, {"seeds=1002"}), HasSubstr("seed 1001 is one of"));
}

TEST(TuneSection, RefusesALossGapWhereTheMinimumIsNotKnown) {
  std::string text = kTuneHead;
  text.replace(text.find("\"matrix-quadratic\""), 18, "\"nonconvex-logistic\"");
  text.erase(text.find("matrix = "), text.find("[workers]") - text.find("matrix = "));
  ObjectiveCache objectives({.data_dir = {}, .cache_dir = {}, .workers = 1});
  const Study study =
      parse_study(text + "\"step.value\" = [0.1, 0.2]\nquantity = \"loss-gap\"\n", "s.toml", {});
  try {
    prepare_all(study, objectives);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("the minimum of objective 'nonconvex-logistic' is not known"));
  }
}

TEST(TuneSection, DoesWithoutValuesBeyondTheGridThatCannotBe) {
  ObjectiveCache objectives({.data_dir = {}, .cache_dir = {}, .workers = 1});
  const std::string text =
      "schema = 1\nname = \"s\"\n[objective]\nkind = \"quadratic\"\n[sparsifier]\nkind = "
      "\"top-k\"\n[aggregator]\nkind = \"allgather\"\n[step]\nvalue = 0.1\n[budget]\niterations = "
      "3\n[tune]\n\"sparsifier.density\" = [0.25, 0.5]\nseeds = 1\nextend = true\nextend_by = 2\n";
  const Study study = parse_study(text, "s.toml", {});
  const auto runs = prepare_all(study, objectives);

  // The densities are 0.0625, 0.125, 0.25, 0.5, 1 and 2.
  EXPECT_FALSE(runs[study.tune->tuning_run(0, 4, 0)].is_refused);
  const auto& refused = runs[study.tune->tuning_run(0, 5, 0)];
  EXPECT_TRUE(refused.is_refused);
  EXPECT_EQ(refused.id, "");
  EXPECT_NO_THROW(require_prepared(study, runs));
}

// [tune] is no part of a run's identity: the runs at the best value are those of a plain study.
TEST(TuneSection, LeavesTheIdsOfItsRunsAsTheyAre) {
  ObjectiveCache objectives({.data_dir = {}, .cache_dir = {}, .workers = 1});
  KnownKeys known;
  const Study study = tuned("\"step.value\" = [0.1, 0.3]\n");
  std::string plain = kTuneHead.substr(0, kTuneHead.find("[tune]"));
  plain += "[step]\nvalue = 0.3\n";
  const Study same = parse_study(plain, "s.toml", {});

  EXPECT_EQ(prepare(study.runs[study.tune->final_run(1, 1, 2)], objectives, known).id,
            prepare(same.runs[5], objectives, known).id);
}

}  // namespace
}  // namespace residuum
