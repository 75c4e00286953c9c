// The labels that a study gives its methods, as terminal, tables and reports show them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/program/study/study_points.h"
#include "reports/analysis/groups.h"
#include "reports/results/result_folder.h"
#include "tests/experiments/real_study.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

const std::string kNamedStudy = R"(schema = 1
name = "named"
seeds = 2
[objective]
kind = "quadratic"
dimension = 20
[workers]
count = 4
[sparsifier]
kind = "top-k"
k = 2
[step]
value = 0.1
[budget]
iterations = 20
)";

class MethodLabels : public testing::Test {
 protected:
  Finished run(const std::string& rest) {
    folder_.write("s.toml", kNamedStudy + rest);
    return residuum_program({"run", "s.toml", "--out", "r", "--progress", "lines"}, folder_.path());
  }
  std::string refusal(const std::string& rest) {
    const Finished finished = run(rest);
    EXPECT_EQ(finished.code, 2) << finished.out;
    return finished.err;
  }
  std::string of_results(const char* file) { return read_text(folder_.path() / "r" / file); }

  TemporaryFolder folder_;
};

TEST_F(MethodLabels, OfPointsAreShownEverywhere) {
  const Finished finished =
      run("[[point]]\nlabel = \"SGD\"\n"
          "[[point]]\nlabel = \"gTop-k, tree\"\naggregator.kind = \"gtopk-tree\"\n");

  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(
      finished.out,
      AllOf(HasSubstr("\ngTop-k, tree "), HasSubstr("\nSGD "), Not(HasSubstr("gtopk-tree"))));
  EXPECT_THAT(finished.out + finished.err, HasSubstr("gTop-k, tree seed=1"));
  EXPECT_THAT(of_results("runs.csv"),
              AllOf(HasSubstr(",label\n"), HasSubstr(",\"gTop-k, tree\"\n")));
  EXPECT_THAT(of_results("summary.json"), HasSubstr("\"label\": \"gTop-k, tree\""));
  EXPECT_EQ(residuum_program({"report", "r"}, folder_.path()).code, 0);
  EXPECT_THAT(of_results("report.html"), HasSubstr("gTop-k, tree"));
  const auto watched = residuum_program({"watch", "--once", "r"}, folder_.path());
  EXPECT_THAT(watched.out, HasSubstr("\ngTop-k, tree "));
  const auto table = residuum_program({"table", "r", "final_loss"}, folder_.path());
  EXPECT_THAT(table.out, AllOf(HasSubstr("| gTop-k, tree |"), Not(HasSubstr("aggregator.kind"))));
  const auto epochs = residuum_program({"epochs", "r"}, folder_.path());
  EXPECT_THAT(epochs.out, AllOf(testing::StartsWith("label,method,"), HasSubstr("\nSGD,")));
  EXPECT_EQ(residuum_program({"export", "r", "--join"}, folder_.path()).code, 0);
  EXPECT_THAT(of_results("joined.csv"), AllOf(HasSubstr(",label\n"), HasSubstr(",SGD\n")));
}

TEST_F(MethodLabels, OfSweptValuesStandForThem) {
  const std::string sweep =
      "[sweep]\n\"sparsifier.k\" = [2, 4]\n\"aggregator.kind\" = [\"allgather\", \"gtopk-tree\"]\n";
  const Finished finished = run(sweep +
                                "[labels]\n\"sparsifier.k\" = { \"2\" = \"a tenth\" }\n"
                                "\"aggregator.kind\" = { gtopk-tree = \"gTop-k\" }\n");

  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr("\ngTop-k, a tenth "),
                    HasSubstr("\ngTop-k, k=4 "),
                    HasSubstr("\nallgather, a tenth ")));
}

TEST_F(MethodLabels, MayChangeWithoutAnyRunBeingMadeAnew) {
  const std::string point = "[[point]]\naggregator.kind = \"gtopk-tree\"\n";
  ASSERT_EQ(run(point).code, 0);

  const Finished again = run(point + "label = \"a\"\n");

  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("\na "));
  EXPECT_THAT(again.out + again.err, Not(HasSubstr("seed=1")));
}

TEST_F(MethodLabels, OfTheStudysOwnSettingsAreAskedForInThePlan) {
  const auto plan = [&](const std::string& rest) {
    folder_.write("s.toml", kNamedStudy + rest);
    return residuum_program({"plan", "s.toml"}, folder_.path());
  };
  const std::string point = "[[point]]\naggregator.kind = \"gtopk-tree\"\n";
  const std::string note = "the study's own settings are a run too, beside its [[point]]s";
  EXPECT_THAT(plan(point).out, HasSubstr(note));
  EXPECT_THAT(plan(point + "[[point]]\nlabel = \"plain\"\n").out, Not(HasSubstr(note)));
  EXPECT_THAT(plan("").out, Not(HasSubstr(note)));
  EXPECT_THAT(plan(point + "[sweep]\nsparsifier.k = [2, 4]\n").out, Not(HasSubstr(note)));

  const Finished same = plan("[[point]]\nsparsifier.k = 2\n");
  EXPECT_EQ(same.code, 2);
  EXPECT_THAT(same.err, HasSubstr("two runs of the study are the same"));
  EXPECT_THAT(same.err, HasSubstr("the study's own settings are a run beside its [[point]]s"));
}

TEST_F(MethodLabels, OfAMethodWithoutAKindThatOthersVaryNameItsDefault) {
  const Finished finished =
      run("[[point]]\nbudget.iterations = 10\n[[point]]\nprotocol.kind = \"local\"\n"
          "protocol.period = 2\n");

  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("\nbsp, iterations=10 "));
}

// Every method has a label in runs.csv, and of every key that others vary the value that it has.
// Without compression a put-back changes nothing, and two methods that differ in it alone are told
// apart by it. With a quantiser, or a momentum in the memory, the feedback counts.
TEST_F(MethodLabels, LeaveOutFeedbackWhereItPutsNothingBack) {
  const std::string dense = "[[point]]\nsparsifier.kind = \"none\"\n";
  const std::string rest =
      "[[point]]\naggregator.kind = \"gtopk-tree\"\nfeedback.putback = \"published\"\n" + dense +
      dense + "feedback.kind = \"dgc\"\nfeedback.momentum = 0.5\n" + dense +
      "feedback.kind = \"none\"\nquantiser.kind = \"qsgd\"\nquantiser.bits = 4\n";
  const auto labels_of = [&](const std::string& points) {
    std::filesystem::remove_all(folder_.path() / "r");
    const Finished finished = run("[aggregator]\nkind = \"allgather\"\n" + points);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return reports::method_labels(reports::read_result_folder(folder_.path() / "r"));
  };
  auto labels = labels_of(rest);
  EXPECT_EQ(labels[4], "allgather, none");
  EXPECT_THAT(labels[6], HasSubstr("dgc"));
  EXPECT_THAT(labels[8], AllOf(HasSubstr("none, none"), HasSubstr("qsgd")));

  labels = labels_of(rest + dense + "feedback.putback = \"published\"\n");
  EXPECT_EQ(labels[4], "allgather, none, ef14");
  EXPECT_EQ(labels[10], "allgather, none, ef14, published");
  EXPECT_THAT(labels, Each(Not(HasSubstr("["))));
}

TEST_F(MethodLabels, AreAColumnBesideEveryValueThatARunHas) {
  const Finished finished =
      run("[[point]]\nouter.kind = \"nesterov\"\n[[point]]\nsparsifier.kind = \"none\"\n"
          "[[point]]\nsparsifier.k = 4\n");
  ASSERT_EQ(finished.code, 0) << finished.err;

  const std::string runs = of_results("runs.csv");
  EXPECT_EQ(column(runs, "p_outer_kind"),
            (std::vector<std::string>{
                "plain", "plain", "nesterov", "nesterov", "plain", "plain", "plain", "plain"}));
  EXPECT_EQ(column(runs, "p_sparsifier_k"),
            (std::vector<std::string>{"2", "2", "2", "2", "", "", "4", "4"}));
  EXPECT_THAT(column(runs, "label"), testing::Each(Not("")));
  EXPECT_THAT(finished.out, HasSubstr("\ntop-k, k=2, nesterov "));
}

TEST_F(MethodLabels, AreInThePlanAndInTheMessageOnEqualRuns) {
  folder_.write("s.toml", kNamedStudy + "[[point]]\nlabel = \"mine\"\nsparsifier.k = 4\n");
  EXPECT_THAT(residuum_program({"plan", "s.toml"}, folder_.path()).out,
              HasSubstr(" mine: sparsifier.k=4\n"));
  folder_.write("s.toml",
                kNamedStudy +
                    "[[point]]\nlabel = \"mine\"\nsparsifier.k = 4\n"
                    "[[point]]\nlabel = \"yours\"\nsparsifier.k = 4\n");
  EXPECT_THAT(residuum_program({"plan", "s.toml"}, folder_.path()).err,
              HasSubstr("the same, 'mine seed=1' and 'yours seed=1' ("));
}

TEST_F(MethodLabels, ThatAreNoneAreRefusedWithTheirPlace) {
  const std::string point = "[[point]]\naggregator.kind = \"gtopk-tree\"\n";
  EXPECT_THAT(refusal(point + "label = 3\n"),
              HasSubstr("'label' at s.toml:18:1 must be a text of 1 to 40 characters"));
  EXPECT_THAT(refusal(point + "label = \"\"\n"), HasSubstr("1 to 40 characters"));
  EXPECT_THAT(refusal(point + "label = \"a\\nb\"\n"), HasSubstr("1 to 40 characters"));
  EXPECT_THAT(refusal(point + "label = \"" + std::string(41, 'x') + "\"\n"),
              HasSubstr("1 to 40 characters"));
  EXPECT_THAT(refusal(point + "label = \"" + std::string(52, 'x') + "\"\n"),
              HasSubstr("has 52 characters"));
  EXPECT_THAT(refusal(point + "label = \"   \"\n"), HasSubstr("is blank"));
  EXPECT_THAT(refusal(point + "label = \"a\"\n[[point]]\nlabel = \"a\"\n"),
              HasSubstr("two points of s.toml have the label 'a'"));
  const std::string sweep = "[sweep]\n\"sparsifier.k\" = [2, 4]\n";
  EXPECT_THAT(refusal(sweep + "[labels]\n\"sparsifier.k\" = { \"3\" = \"three\" }\n"),
              HasSubstr("no run has the value '3'"));
  EXPECT_THAT(refusal(sweep + "[labels]\n\"step.value\" = { \"0.1\" = \"small\" }\n"),
              HasSubstr("no runs differ in this key"));
  EXPECT_THAT(refusal(sweep + "[labels]\n\"sparsifier.k\" = \"two\"\n"),
              HasSubstr("must name values"));
  EXPECT_THAT(refusal(sweep + "[labels]\n\"sparsifier.k\" = { \"2\" = 2 }\n"),
              HasSubstr("the name of '2' must be a text"));
  const std::string names = "[sweep]\n\"sparsifier.k\" = [2, 3]\n";
  EXPECT_THAT(refusal(names + "[labels]\n\"sparsifier.k\" = { \"2\" = \"a\", \"3\" = \"a\" }\n"),
              HasSubstr("the name of '3' is 'a', and so is that of '2'"));
  EXPECT_THAT(refusal(names + "[labels]\n\"sparsifier.k\" = { \"2\" = \" \" }\n"),
              HasSubstr("the name of '2' is blank"));
  EXPECT_THAT(refusal(names + "[labels]\n\"sparsifier.k\" = { \"2\" = \"" + std::string(41, 'y') +
                      "\" }\n"),
              HasSubstr("the name of '2' has 41 characters"));
  EXPECT_THAT(refusal(names + "[[point]]\nlabel = \"a\"\nsparsifier.k = 4\n[labels]\n"
                              "\"sparsifier.k\" = { \"2\" = \"a\" }\n"),
              HasSubstr("the name of '2' is 'a', and so is the label of a [[point]]"));
  EXPECT_THAT(refusal("[labels]\n\"nothing.k\" = { \"2\" = \"two\" }\n"), HasSubstr("unknown key"));
}

TEST_F(MethodLabels, AreOneNameInPlanProgressTablesAndFigures) {
  const std::string sweep =
      "[sweep]\n\"aggregator.kind\" = [\"gtopk-tree\", \"sparse-reduce-scatter\"]\n"
      "\"sparsifier.k\" = [2, 4]\n\"feedback.kind\" = [\"ef14\", \"none\"]\n"
      "\"step.value\" = [0.05, 0.02]\n";
  const std::string name = "sparse-re…e-scatter, none, k=4, eta=0.02";
  const Finished finished = run(sweep);
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out + finished.err, HasSubstr(": " + name + " seed=2"));
  EXPECT_THAT(of_results("runs.csv"), HasSubstr('"' + name + '"'));
  ASSERT_EQ(residuum_program({"report", "r"}, folder_.path()).code, 0);
  EXPECT_THAT(of_results("tables/results.md"),
              HasSubstr("In names sparse-re…e-scatter is sparse-reduce-scatter."));
  const auto planned = residuum_program({"plan", "s.toml"}, folder_.path());
  EXPECT_THAT(planned.out, HasSubstr(' ' + name + ": "));
  const auto drawn = residuum_program({"figure", "r", "loss-gap", "--methods", name, "-o", "a.tex"},
                                      folder_.path());
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_THAT(drawn.err, HasSubstr("note: in names sparse-re…e-scatter is sparse-reduce-scatter"));
}

}  // namespace
}  // namespace residuum
