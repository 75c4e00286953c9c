// Verdicts on the assumptions: in the program's last table, as JSON, and by its exit code.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// Sixteen workers whose minima lie far apart: the largest entries of their accumulators cancel, and
// delta pooled over the run is 1.0065 with seeds that differ by 0.0001.
const std::string kApart = R"(schema = 1
name = "apart"
seeds = 3
[objective]
kind = "quadratic"
heterogeneity = 5
curvature_ratio = 1
[workers]
count = 16
[sparsifier]
kind = "top-k"
k = 2
[aggregator]
kind = "gtopk-tree"
[step]
value = 0.2
[budget]
iterations = 100
[probes]
every = 1
)";

const std::string kEf21 = R"(schema = 1
name = "ef21"
seeds = 2
[objective]
kind = "logistic"
rows = 200
features = 20
[workers]
count = 4
batch = "full"
[sparsifier]
kind = "top-k"
k = 2
[aggregator]
kind = "allgather"
[feedback]
kind = "ef21"
[step]
value = "0.03/L"
[budget]
iterations = 60
[probes]
every = 1
)";

const std::string kErrorControl = R"(schema = 1
name = "control"
seeds = 2
[objective]
kind = "quadratic"
dimension = 40
[workers]
count = 4
[sparsifier]
kind = "hard-threshold"
threshold = 1.0
[aggregator]
kind = "allgather"
[feedback]
kind = "econtrol"
error_weight = 0.05
[step]
value = "0.1/L"
[budget]
iterations = 100
[probes]
every = 1
)";

const std::string kReference = R"(schema = 1
name = "reference"
seeds = 4
[objective]
kind = "quadratic"
precision = "float64"
[workers]
count = 16
[sparsifier]
kind = "top-k"
k = 20
[aggregator]
kind = "gtopk-tree"
[step]
value = 0.02
[budget]
iterations = 1500
[probes]
every = 1
names = ["delta"]
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  text.replace(text.find(what), what.size(), with);
  return text;
}

class Verdicts : public testing::Test {
 protected:
  Finished run(const std::string& study, const std::vector<std::string>& options = {}) const {
    std::vector<std::string> arguments{"run", folder_.write("s.toml", study).string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return residuum_program(arguments, folder_.path());
  }
  /// `facts` of the only run of this study with one seed.
  nlohmann::json facts_of_run(const std::string& study) const {
    const Finished finished = run(study, {"--set", "seeds=1"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    const auto runs = folder_.path() / "results" / "ef21" / "runs";
    const auto only = std::filesystem::directory_iterator(runs)->path();
    return nlohmann::json::parse(read_text(only / "status.json"))["facts"];
  }
  const std::filesystem::path& path() const { return folder_.path(); }
  nlohmann::json read_json(const std::string& file) const {
    return nlohmann::json::parse(read_text(path() / "results" / file));
  }
  void write(const std::string& file, const std::string& content) const {
    folder_.write(file, content);
  }
  nlohmann::json result(const std::string& file) const {
    return nlohmann::json::parse(read_text(folder_.path() / "results" / file));
  }

  /// Returns the theorem `name` of the only method of the study "ef21".
  nlohmann::json theorem(const std::string& name) const {
    const auto group = result("ef21/summary.json")["groups"][0];
    for (const auto& one : group["theorems"]) {
      if (one["name"] == name) {
        return one;
      }
    }
    ADD_FAILURE() << name << " is not in summary.json";
    return {};
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Verdicts, StandInATableOfTheirOwn) {
  const Finished finished = run(kApart);

  EXPECT_EQ(finished.code, 0) << "without --strict: " << finished.err;
  EXPECT_THAT(finished.out, ContainsRegex("in every iteration / on average +delta .*contraction"));
  EXPECT_THAT(finished.out, ContainsRegex("certificate +slack"));
  EXPECT_THAT(finished.out, ContainsRegex(" theorems\n"));
  EXPECT_THAT(finished.out, ContainsRegex("gtopk-tree +fails >?[0-9]+ % / fails"));
}

TEST_F(Verdicts, ThatFailAreNamedAndFourWithStrict) {
  const Finished finished = run(kApart, {"--strict"});

  EXPECT_EQ(finished.code, 4);
  EXPECT_THAT(finished.err, HasSubstr("gtopk-tree: assumption 'delta' fails on average: 1."));

  const Finished again = run(kApart, {"--strict"});
  EXPECT_EQ(again.code, 4) << "also where all runs were done before";
}

// Sixteen workers, 10 % density: delta rises above 1 after a start far below it, and a cadence that
// looks at the start more often must not make that hold.
TEST_F(Verdicts, OfSampledRowsDoNotContradictThoseOfAllRows) {
  const auto delta = [&](const std::string& cadence) {
    const Finished finished = run(replaced(kReference, "every = 1", cadence));
    EXPECT_EQ(finished.code, 0) << finished.err;
    return result("reference/summary.json")["groups"][0]["assumptions"]["delta"];
  };
  const auto all = delta("every = 1");
  EXPECT_EQ(all["average"]["verdict"], "fails") << all.dump(1);
  EXPECT_EQ(all["every"]["verdict"], "fails");
  const auto rows = delta("every = { geometric = 1.1 }");
  EXPECT_LT(rows["average"]["rows"], rows["average"]["iterations"]);
  EXPECT_THAT(rows["average"]["verdict"].get<std::string>(), testing::AnyOf("fails", "undecided"))
      << rows.dump(1);
  EXPECT_EQ(rows["every"]["verdict"], "fails") << "a single iteration above is enough";
}

TEST_F(Verdicts, ExplainATheoremByName) {
  ASSERT_EQ(run(kEf21).code, 0);
  const Finished named = residuum_program({"report", "results/ef21", "--theorem", "ef21"}, path());
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_THAT(named.out, HasSubstr("full gradients: met (gradients are full)"));
  const Finished unknown =
      residuum_program({"report", "results/ef21", "--theorem", "ef22"}, path());
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err, "error: unknown theorem 'ef22'; did you mean 'ef21'?\n");
  const Finished nameless = residuum_program({"report", "results/ef21", "--theorem", ""}, path());
  EXPECT_EQ(nameless.code, 2) << "an empty name is none";
}

TEST_F(Verdicts, AreInTheJsonOfARun) {
  const Finished finished = run(kApart, {"--json"});

  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto methods = nlohmann::json::parse(finished.out);
  ASSERT_EQ(methods.size(), 1U);
  EXPECT_EQ(methods[0]["assumptions"]["delta"]["verdict"], "fails");
  EXPECT_EQ(methods[0]["assumptions"]["delta"]["interval"].size(), 2U);
  const auto group = result("apart/summary.json")["groups"][0];
  EXPECT_EQ(methods[0]["assumptions"]["delta"]["value"], group["assumptions"]["delta"]["value"]);
}

TEST_F(Verdicts, DoNotFailAStrictStudyWhereAllHold) {
  // From iteration 55 on the gap of EF21 no longer contracts in every iteration.
  const Finished finished = run(kEf21, {"--strict", "--set", "budget.iterations=45"});

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, Not(HasSubstr("fails")));
}

// Rows (2, 0) | (0, 1), (0, 3). L_1 = 2/3 (4/4 + 1/2) = 1, L_2 = 4/3 (10/8 + 1/2) = 7/3.
TEST_F(Verdicts, OfEf21KnowTheSmoothnessOfItsWorkers) {
  write("three.svm", "+1 1:2\n-1 2:1\n+1 2:3\n");
  std::string study = replaced(
      kEf21, "rows = 200\nfeatures = 20", "data = \"./three.svm\"\nscale = \"none\"\nl2 = 0.5");
  study = replaced(study, "count = 4", "count = 2\npartition = \"contiguous\"");

  const auto facts = facts_of_run(study);
  EXPECT_NEAR(facts["worker_smoothness"].get<double>(), std::sqrt((1 + 49.0 / 9) / 2), 1e-12);
  EXPECT_NEAR(facts["worker_smoothness_mean"].get<double>(), 5.0 / 3, 1e-12);
}

// The sum of what estimates have missed passes the threshold, which is no violation, and it leaves
// more of itself than a random selection of an accumulator would.
TEST_F(Verdicts, OfErrorControlRaiseNoFalseAlarm) {
  EXPECT_EQ(run(kErrorControl).code, 0);
  EXPECT_FALSE(
      read_json("control/summary.json")["groups"][0]["checks"].contains("threshold-bound"));
  std::filesystem::remove_all(path() / "results");
  std::string of_top_k = replaced(kErrorControl, "hard-threshold", "top-k");
  of_top_k = replaced(of_top_k, "threshold = 1.0", "k = 4");
  EXPECT_EQ(run(of_top_k).code, 0);
  EXPECT_EQ(
      read_json(
          "control/summary.json")["groups"][0]["assumptions"]["worker-contraction"]["verdict"],
      "not measured");
}

TEST_F(Verdicts, OfOtherMethodsDoNotPayForThat) {
  EXPECT_FALSE(facts_of_run(replaced(kEf21, "kind = \"ef21\"", "kind = \"ef14\""))
                   .contains("worker_smoothness"));
}

TEST_F(Verdicts, OfEf21AreThoseOfItsTheorems) {
  ASSERT_EQ(run(kEf21).code, 0);

  for (const char* name : {"ef21", "ef21-arithmetic-mean", "3pc"}) {
    EXPECT_EQ(theorem(name)["verdict"], "holds") << theorem(name).dump(1);
  }
  EXPECT_EQ(theorem("ef21-sgdm")["verdict"], "not applicable");
}

TEST_F(Verdicts, OfEf21SgdmAreThoseOfItsTheoremAndNotOfEf21) {
  std::string study = replaced(kEf21, "batch = \"full\"", "batch = 8");
  study = replaced(study, "every = 1", "every = 1\nevaluate = 1\nnoise_every = 1");
  study = replaced(study, "0.03/L", "0.01/L");
  ASSERT_EQ(run(replaced(study, "kind = \"ef21\"", "kind = \"ef21-sgdm\"\naveraging = 0.5")).code,
            0);

  EXPECT_EQ(theorem("ef21-sgdm")["verdict"], "holds") << theorem("ef21-sgdm").dump(1);
  EXPECT_EQ(theorem("ef21")["verdict"], "not applicable");
  EXPECT_EQ(theorem("certificate")["verdict"], "not applicable");
  EXPECT_EQ(theorem("certificate-any-rule")["verdict"], "holds");
}

TEST_F(Verdicts, OfRunsWithMomentumAndDecayAreThoseOfTheCertificateByAnyRule) {
  std::string study = replaced(kEf21, "kind = \"ef21\"", "kind = \"ef14\"");
  study = replaced(study, "every = 1", "every = 1\nevaluate = 1");
  study = replaced(study, "value = ", "momentum = 0.5\nweight_decay = 0.1\nvalue = ");
  ASSERT_EQ(run(study).code, 0);

  EXPECT_EQ(theorem("certificate")["verdict"], "not applicable");
  const auto any = theorem("certificate-any-rule");
  EXPECT_EQ(any["verdict"], "holds") << any.dump(1);
  EXPECT_EQ(any["left"], "Σ η ‖∇f(w) + λw‖² / Σ η");
}

/// Full gradients of one quadratic bowl at step 1/L: both sides of the bound are the same number.
const std::string kEquality = R"(schema = 1
name = "equality"
seeds = 1
[objective]
kind = "quadratic"
dimension = 3
noise_variance = 0
curvature_ratio = 1
[workers]
count = 4
[step]
value = "1/L"
[budget]
iterations = 20
[probes]
evaluate = 1
)";

TEST_F(Verdicts, OfABoundThatIsMetWithEqualityIsThatItHolds) {
  const TemporaryFolder folder;
  folder.write("s.toml", kEquality);
  for (const char* precision : {"float32", "float64"}) {
    const Finished run = residuum_program({"run",
                                           "s.toml",
                                           "--out",
                                           precision,
                                           "--set",
                                           std::string("objective.precision=") + precision},
                                          folder.path());
    ASSERT_EQ(run.code, 0) << run.err;
    const auto summary =
        nlohmann::json::parse(read_text(folder.path() / precision / "summary.json"));
    std::size_t met = 0;
    for (const auto& theorem : summary["groups"][0]["theorems"]) {
      EXPECT_NE(theorem["verdict"], "fails") << theorem["name"] << ", " << precision;
      met += theorem["verdict"] == "holds" ? 1 : 0;
    }
    EXPECT_GT(met, 0U);
  }
}

/// Random selections of 2 of 20 entries, scaled: a message is ten times its accumulator there.
const std::string kScaled = R"(schema = 1
name = "scaled"
seeds = 8
[objective]
kind = "quadratic"
dimension = 20
[workers]
count = 4
[sparsifier]
kind = "rand-k"
k = 2
scaled = true
[aggregator]
kind = "allgather"
[feedback]
decay = 0.9
[step]
value = 0.05
[budget]
iterations = 100
)";

TEST_F(Verdicts, OnMassTakeTheRoundingOfScaledMessagesForNoLoss) {
  const TemporaryFolder folder;
  folder.write("s.toml", kScaled);
  const Finished run = residuum_program({"run", "s.toml"}, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, Not(HasSubstr("lost-mass-but-for-decay")));
}

/// The law of a selection holds for a residual only if all of a message is applied.
const std::string kCutRandomly = R"(schema = 1
name = "cut"
seeds = 8
[objective]
kind = "quadratic"
dimension = 40
[workers]
count = 8
[sparsifier]
kind = "rand-k"
k = 20
mask = "per-worker"
[aggregator]
kind = "gtopk-exact"
[step]
value = 0.05
[budget]
iterations = 100
)";

TEST_F(Verdicts, AskNoLawOfASelectionWhereMessagesAreCutOrResidualsFade) {
  const TemporaryFolder folder;
  folder.write("s.toml", kCutRandomly);
  const auto verdict = [&](const std::string& name, const std::vector<std::string>& settings) {
    std::vector<std::string> words{"run", "s.toml", "--out", name};
    for (const auto& setting : settings) {
      words.insert(words.end(), {"--set", setting});
    }
    EXPECT_EQ(residuum_program(words, folder.path()).code, 0);
    const auto summary = nlohmann::json::parse(read_text(folder.path() / name / "summary.json"));
    return summary["groups"][0]["assumptions"]["worker-contraction"]["average"];
  };
  // Entries of its message that the merge leaves out stay in the residual: a measured 1.28.
  const auto cut = verdict("cut", {});
  EXPECT_EQ(cut["verdict"], "fails");
  EXPECT_GT(cut["value"], 1.2);
  const auto whole = verdict("whole", {"aggregator.kind=allgather"});
  EXPECT_EQ(whole["verdict"], "holds");
  const auto faded = verdict("faded", {"aggregator.kind=allgather", "feedback.decay=0.5"});
  EXPECT_LT(faded["value"], 0.5);
  EXPECT_THAT(faded.dump(), Not(HasSubstr("by the law")));
}

}  // namespace
}  // namespace residuum
