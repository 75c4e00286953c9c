// A study at the step of the tight theory, as a user runs it: verdicts, columns and slack.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

/// The two-dimensional worst case of EF14: A = R(theta) diag(1, 0.01) R(theta)^T at theta =
/// 1.22429406109376, from (cos, sin) of 3.9987943603201006.
constexpr const char* kTightStudy = R"(
schema = 1
name = "tight"
seeds = 1
[objective]
kind = "matrix-quadratic"
matrix = [[0.12418162979163647, 0.31623151157316026], [0.31623151157316026, 0.8858183702083636]]
minimizers = [0.0, 0.0]
start = [-0.6545555767034021, -0.7560138867815039]
precision = "float64"
[workers]
count = 1
[sparsifier]
kind = "top-k"
k = 1
[aggregator]
kind = "allgather"
[step]
value = "tight"
[budget]
iterations = 100
[probes]
times = false
)";

class TightRuns : public testing::Test {
 protected:
  nlohmann::json group(const std::vector<std::string>& settings = {}) const {
    folder_.write("s.toml", kTightStudy);
    std::vector<std::string> arguments{"run", "s.toml", "--out", "r"};
    for (const auto& setting : settings) {
      arguments.insert(arguments.end(), {"--set", setting});
    }
    const Finished finished = residuum_program(arguments, folder_.path());
    EXPECT_EQ(finished.code, 0) << finished.err;
    return nlohmann::json::parse(read_text(folder_.path() / "r" / "summary.json"))["groups"][0];
  }
  static nlohmann::json theorem(const nlohmann::json& group, const std::string& name) {
    const auto& theorems = group["theorems"];
    return *std::find_if(
        theorems.begin(), theorems.end(), [&](const auto& one) { return one["name"] == name; });
  }
  TemporaryFolder folder_;
};

TEST_F(TightRuns, AttainTheRateAndNeverPassIt) {
  const auto found = group();
  const auto tight = theorem(found, "tight-ef14");

  EXPECT_EQ(tight["verdict"], "holds") << tight;
  EXPECT_NEAR(tight["lhs"].get<double>(), 0.9932259733, 5e-9);
  EXPECT_NEAR(tight["rhs"].get<double>(), 0.9932261130402541, 1e-12);
  EXPECT_DOUBLE_EQ(tight["rates"]["slack_of_proof"].get<double>(), 1);
  EXPECT_GT(tight["rates"]["slack_of_problem"].get<double>(), 1);
  EXPECT_EQ(theorem(found, "tight-ef21")["verdict"], "not applicable");
  EXPECT_THAT(read_text(folder_.path() / "r" / "checks.csv"), HasSubstr("tight-contraction"));

  const auto text =
      residuum_program({"report", "r", "--theorem", "tight-ef14"}, folder_.path()).out;
  EXPECT_THAT(text, HasSubstr("slack of the proof 1:"));
}

TEST_F(TightRuns, PlansSayWhereTheirStepLies) {
  folder_.write("s.toml", kTightStudy);
  const auto noted = [&](const std::string& step) {
    return residuum_program({"plan", "s.toml", "--set", "step.value=" + step}, folder_.path()).err;
  };
  // eta* = 2/1.01 (1 - s)/(1 + s) with s^2 = 1/2.
  EXPECT_THAT(noted("0.33974827"), HasSubstr("is 1 of η* = 0.3397, at which V falls by 0.993226"));
  EXPECT_THAT(noted("0.1"), HasSubstr("the step 0.1 is 0.294 of η* = 0.3397"));
  EXPECT_EQ(residuum_program({"plan", "s.toml", "--set", "step.momentum=0.5"}, folder_.path())
                .err.find("η*"),
            std::string::npos);
  EXPECT_EQ(residuum_program({"plan", "s.toml", "--format", "json"}, folder_.path()).err, "");
}

TEST_F(TightRuns, PlansNameTheMethodsOfANote) {
  folder_.write("s.toml", kTightStudy);
  const auto noted = [&](const std::string& sweep) {
    folder_.write("s.toml", std::string(kTightStudy) + sweep);
    return residuum_program({"plan", "s.toml"}, folder_.path()).err;
  };
  EXPECT_THAT(noted(""), HasSubstr("allgather: the step "));
  // A merge has no rate; the two memories share theirs.
  const auto both = noted(
      "[sweep]\n\"aggregator.kind\" = [\"allgather\", \"gtopk-exact\"]\n"
      "\"feedback.kind\" = [\"ef14\", \"ef21\"]\n"
      "[labels]\n\"feedback.kind\" = {ef21 = \"EF21\"}\n");
  EXPECT_THAT(both, HasSubstr("allgather, ef14; allgather, EF21: the step "));
  EXPECT_EQ(both.find("gtopk"), std::string::npos) << both;
}

TEST_F(TightRuns, JudgeEstimatesByTheirOwnTheorem) {
  const auto found = group({"feedback.kind=ef21"});
  EXPECT_EQ(theorem(found, "tight-ef21")["verdict"], "holds") << theorem(found, "tight-ef21");
  EXPECT_EQ(theorem(found, "tight-ef14")["verdict"], "not applicable");
}

TEST_F(TightRuns, SayNothingOfMinimisersOfTheirOwn) {
  const auto found = group({"workers.count=2", "objective.minimizers=[[1.0, 0.0], [0.0, 1.0]]"});
  const auto tight = theorem(found, "tight-ef14");
  EXPECT_EQ(tight["verdict"], "not applicable");
  EXPECT_THAT(tight["reason"].get<std::string>(), HasSubstr("minimisers of their own"));
}

TEST_F(TightRuns, PartTheSlackOfTheBoundOfEf21) {
  // At a step that its bound allows, kappa = 100 and s = sqrt(1/2).
  const auto found =
      group({"feedback.kind=ef21", "step.value=0.2", "probes.evaluate=1", "budget.iterations=50"});
  const auto rates = theorem(found, "ef21-pl")["rates"];
  EXPECT_NEAR(rates["bound"].get<double>(), 1 - 0.2 * 0.01, 1e-12);
  EXPECT_NEAR(rates["tight"].get<double>(), 0.9932261130402541, 1e-12);
  // ln 0.99322611 / ln 0.998.
  EXPECT_NEAR(rates["slack_of_proof"].get<double>(), 3.39507, 1e-5);
  EXPECT_GT(rates["slack_of_problem"].get<double>(), 1);
}

TEST_F(TightRuns, NeedAShareThatMessagesKeep) {
  std::string study = kTightStudy;
  const std::string selection = "kind = \"top-k\"\nk = 1";
  study.replace(
      study.find(selection), selection.size(), "kind = \"hard-threshold\"\nthreshold = 0.1");
  folder_.write("s.toml", study);
  const Finished finished = residuum_program({"run", "s.toml", "--out", "r"}, folder_.path());
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("is \"tight\", which takes a share of the accumulator"));
}

}  // namespace
}  // namespace residuum
