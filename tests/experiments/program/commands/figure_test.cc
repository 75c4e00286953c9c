// `residuum figure` and the choices of `residuum report`, as a user calls them on a study.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/experiments/support.h"
#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::Not;

class FigureOfAStudy : public TinyStudy {
 protected:
  void SetUp() override { ASSERT_EQ(run(kStudy).code, 0); }
  Finished figure(std::vector<std::string> options) const {
    options.insert(options.begin(), {"figure", "results/tiny"});
    return residuum_program(options, folder_.path());
  }
  Finished report(std::vector<std::string> options) const {
    options.insert(options.begin(), {"report", "results/tiny"});
    return residuum_program(options, folder_.path());
  }
  bool has(const std::string& file) const { return std::filesystem::exists(folder_.path() / file); }
  std::string text(const std::string& file) const { return read_text(folder_.path() / file); }
};

TEST_F(FigureOfAStudy, IsWrittenForLatexWithTheMethodsOfTheChoice) {
  const auto made =
      figure({"loss", "--by", "bytes", "--methods", "published", "--for", "ieee", "-o", "fig.tex"});

  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out, "fig.tex\n");
  EXPECT_THAT(made.err, HasSubstr("for the caption: median, IQR over 2 seeds"));
  EXPECT_THAT(text("fig.tex"), HasSubstr("\\begin{minipage}[b]{88.9mm}"));
  EXPECT_THAT(text("fig.tex"), HasSubstr("}{published}%\n"));
  EXPECT_THAT(text("fig.tex"), Not(HasSubstr("captured")));
  EXPECT_THAT(text("fig.csv"), testing::StartsWith("curve,x,median,lower,upper,n\n0,"));
}

TEST_F(FigureOfAStudy, IsRefusedInOneLineAndLeavesNoFile) {
  const auto refused = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words = options;
    words.insert(words.end(), {"-o", "fig.tex"});
    const auto made = figure(words);
    EXPECT_EQ(made.code, 2) << made.err;
    EXPECT_EQ(std::count(made.err.begin(), made.err.end(), '\n'), 1) << made.err;
    EXPECT_FALSE(has("fig.tex") || has("fig.csv"));
    return made.err;
  };

  EXPECT_THAT(refused({"los"}), HasSubstr("unknown quantity 'los'; did you mean 'loss'?"));
  EXPECT_THAT(refused({"loss", "--methods", "publishes"}), HasSubstr("did you mean 'published'?"));
  EXPECT_THAT(refused({"loss", "--width", "19.9mm"}), HasSubstr("must be from 20 mm"));
  EXPECT_THAT(refused({"loss", "--width", "20mm"}),
              HasSubstr("20 mm are too narrow for this figure: its axes and labels need"));
  EXPECT_THAT(refused({"loss", "--width", "84"}), HasSubstr("a length in mm, cm, in or pt"));
  EXPECT_THAT(refused({"loss", "--width", "nanmm"}), HasSubstr("a length in mm, cm, in or pt"));
  EXPECT_THAT(refused({"loss", "--font-size", "1pt"}), HasSubstr("must be from 4 pt to 40 pt"));
  EXPECT_THAT(refused({"loss", "--for", "imcl"}), HasSubstr("did you mean 'icml'?"));
  EXPECT_THAT(refused({"loss", "--for", "icml", "--width", "84mm"}),
              HasSubstr("leave out --for or --width"));
  EXPECT_THAT(refused({"loss", "--for", "icml", "--font-size", "9pt"}),
              HasSubstr("leave out --for or --font-size"));
  EXPECT_THAT(refused({"loss", "--by", "time"}), HasSubstr("by time"));
  EXPECT_EQ(figure({"loss", "-o", "fig.png"}).code, 2);
  EXPECT_EQ(figure({"loss"}).code, 2) << "a file must be named";
}

// At 40 pt the letters need a wide figure; the end of the range belongs to it.
TEST_F(FigureOfAStudy, HasLettersUpToTheEndsOfTheirRange) {
  EXPECT_EQ(figure({"loss", "--font-size", "40pt", "--width", "600mm", "-o", "a.tex"}).code, 0);
  EXPECT_EQ(figure({"loss", "--font-size", "4pt", "-o", "b.tex"}).code, 0);
  EXPECT_THAT(text("b.tex"), HasSubstr("[b]{77mm}"));
}

TEST_F(FigureOfAStudy, SaysWhichMethodsItDoesNotDraw) {
  const auto both = figure({"lost-mass", "-o", "both.tex"});
  EXPECT_EQ(both.code, 0) << both.err;
  EXPECT_THAT(both.err,
              HasSubstr("note: not drawn, with no value of 'lost-mass' on these axes: captured\n"));
  EXPECT_THAT(figure({"lost-mass", "--methods", "published", "-o", "a.tex"}).err,
              Not(HasSubstr("not drawn")));
  const auto none = figure({"lost-mass", "--methods", "captured", "-o", "none.tex"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("none of the chosen methods has 'lost-mass'"));
  EXPECT_FALSE(has("none.tex"));
}

// Four workers give a gradient each in an iteration: the model of iteration 1 is made of four.
TEST_F(FigureOfAStudy, CountsTheGradientsOfRunsInLockstep) {
  ASSERT_EQ(figure({"loss", "--by", "gradients", "-o", "by_gradients.tex"}).code, 0);
  EXPECT_THAT(text("by_gradients.tex"), HasSubstr("xlabel={gradients"));
  EXPECT_THAT(text("by_gradients.csv"), HasSubstr("\n0,4,"));
}

TEST_F(FigureOfAStudy, HasLengthsInAnyUnit) {
  ASSERT_EQ(figure({"loss", "--width", "3.25in", "--font-size", "9pt", "-o", "a.tex"}).code, 0);
  EXPECT_THAT(text("a.tex"), HasSubstr("[b]{82.55mm}"));
  EXPECT_THAT(text("a.tex"), HasSubstr("\\fontsize{9}{10.8}"));
}

TEST_F(FigureOfAStudy, TablesHaveTheChosenColumnsDigitsAndBudgets) {
  const auto made = report({"--at",
                            "1kB,2kB",
                            "--columns",
                            "final_loss,at_2000_bytes",
                            "--digits",
                            "2",
                            "--wide",
                            "results"});

  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(text("results/tiny/tables/results.tex"), HasSubstr("\\begin{table*}"));
  EXPECT_THAT(text("results/tiny/tables/results.md"), HasSubstr("| method | final f |\n"));
  EXPECT_THAT(text("results/tiny/tables/results.csv"), HasSubstr("sent_bytes"));
  EXPECT_THAT(text("results/tiny/tables/at-bytes.md"), HasSubstr("| method | 2 kB |\n"));
  EXPECT_THAT(text("results/tiny/tables/at-bytes.csv"), HasSubstr("method,at_1000_bytes,"));
  EXPECT_THAT(text("results/tiny/tables/at-bytes.caption.tex"), HasSubstr("between the two"));
}

TEST_F(FigureOfAStudy, TablesThatCannotBeMadeAreRefusedInOneLine) {
  ASSERT_EQ(report({}).code, 0);
  const std::string before = text("results/tiny/tables/results.tex");
  const auto refused = [&](const std::vector<std::string>& options) {
    const auto made = report(options);
    EXPECT_EQ(made.code, 2) << made.err;
    EXPECT_EQ(text("results/tiny/tables/results.tex"), before);
    return made.err;
  };

  EXPECT_THAT(refused({"--at", "5GB"}), HasSubstr("the most that a run has sent is"));
  EXPECT_THAT(refused({"--at", "2XB"}), HasSubstr("such as 500kB, 2MB or 1.5GB"));
  EXPECT_THAT(refused({"--at", "0MB"}), HasSubstr("bytes above zero"));
  EXPECT_THAT(refused({"--at", "2MB,,3MB"}), HasSubstr("--at: '2MB,,3MB' has an empty value"));
  EXPECT_THAT(refused({"--columns", ""}), HasSubstr("--columns: '' has an empty value"));
  EXPECT_THAT(refused({"--columns", "final_los"}), HasSubstr("did you mean 'final_loss'?"));
  EXPECT_THAT(refused({"--wide", "result"}), HasSubstr("did you mean 'results'?"));
  EXPECT_EQ(report({"--digits", "0"}).code, 2);
}

}  // namespace
}  // namespace residuum
