// What a study calls its methods is what the terminal, tables and reports show.

#include "experiments/program/study/method_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::AllOf;
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

TEST_F(MethodLabels, OfAMethodWithoutAKindThatOthersVaryNameItsDefault) {
  const Finished finished =
      run("[[point]]\nbudget.iterations = 10\n[[point]]\nprotocol.kind = \"local\"\n"
          "protocol.period = 2\n");

  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("\nbsp, budget.iterations=10 "));
}

TEST_F(MethodLabels, ThatAreNoneAreRefusedWithTheirPlace) {
  const std::string point = "[[point]]\naggregator.kind = \"gtopk-tree\"\n";
  EXPECT_THAT(refusal(point + "label = 3\n"),
              HasSubstr("'label' at s.toml:18:1 must be a text of 1 to 40 characters"));
  EXPECT_THAT(refusal(point + "label = \"\"\n"), HasSubstr("1 to 40 characters"));
  EXPECT_THAT(refusal(point + "label = \"a\\nb\"\n"), HasSubstr("1 to 40 characters"));
  EXPECT_THAT(refusal(point + "label = \"" + std::string(41, 'x') + "\"\n"),
              HasSubstr("1 to 40 characters"));
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
  EXPECT_THAT(refusal("[labels]\n\"nothing.k\" = { \"2\" = \"two\" }\n"), HasSubstr("unknown key"));
}

}  // namespace
}  // namespace residuum
