// The tables of studies whose runs can be followed by hand.

#include "reports/latex/study_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "reports/page/report.h"
#include "reports/summaries/collect.h"
#include "tests/reports/analysis/straight_runs.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::StraightMethod;

class TablesOfAStudy : public ::testing::Test {
 protected:
  Report report(const std::vector<StraightMethod>& methods,
                IntervalKind kind = IntervalKind::quartiles) const {
    testing::write_straight(path(), methods);
    collect(path());
    return write_report(summarise(path()), kind);
  }
  std::string text(const std::string& name) const { return read_file(path() / "tables" / name); }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(TablesOfAStudy, AreCsvMarkdownAndLatexBesideTheFigures) {
  report({{.aggregator = "a"}, {.aggregator = "b"}});
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path() / "tables")) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());

  EXPECT_THAT(names,
              ElementsAre("equal-bytes.caption.tex",
                          "equal-bytes.csv",
                          "equal-bytes.md",
                          "equal-bytes.tex",
                          "equal-iterations.caption.tex",
                          "equal-iterations.csv",
                          "equal-iterations.md",
                          "equal-iterations.tex",
                          "results.caption.tex",
                          "results.csv",
                          "results.md",
                          "results.tex",
                          "time-to-target-bytes.caption.tex",
                          "time-to-target-bytes.csv",
                          "time-to-target-bytes.md",
                          "time-to-target-bytes.tex",
                          "time-to-target-iterations.caption.tex",
                          "time-to-target-iterations.csv",
                          "time-to-target-iterations.md",
                          "time-to-target-iterations.tex"));
  EXPECT_THAT(read_file(path() / "report.html"),
              HasSubstr("<a href=\"tables/equal-bytes.tex\">LaTeX</a>"));
}

TEST_F(TablesOfAStudy, HaveMedianAndQuartilesOrTheMeanThatWasAskedFor) {
  // The seeds of b begin at 1.01 and 1.02 and end at 0.81 and 0.82; t(0.975, 1) = 12.706205.
  const std::vector<StraightMethod> methods{{.aggregator = "a"}, {.aggregator = "b", .fall = 0.02}};
  report(methods);
  EXPECT_THAT(text("results.md"),
              HasSubstr("Shown: median, in brackets the quartiles, over n = 2 seeds."));
  EXPECT_THAT(text("results.md"), HasSubstr("| b | **0.815** \\[0.812, 0.818\\] |"));

  report(methods, IntervalKind::student);
  EXPECT_THAT(text("results.md"),
              HasSubstr("mean, in brackets the 95 % interval (Student), over n = 2 seeds."));
  EXPECT_THAT(text("results.md"), HasSubstr("| b | **0.82** \\[0.75, 0.88\\] |"));
  EXPECT_THAT(read_file(path() / "figures" / "loss.csv"),
              HasSubstr("\n1,0,1.0150000000000001,0.95146897"));

  EXPECT_THAT(report(methods, IntervalKind::bootstrap).problems,
              Contains("a bootstrap interval needs 6 values: 2 of 2 methods have fewer runs that "
                       "finished, and no interval of what these alone have"));
  EXPECT_THAT(text("results.md"), HasSubstr("| b | 0.815 |")) << "two seeds have no bootstrap";
}

TEST_F(TablesOfAStudy, HaveNoBoldNameWhereTheSeedsDisagree) {
  // b is ahead by 0.001 where its seeds are those of a, and by nothing that is known with others.
  report({{.aggregator = "a"}, {.aggregator = "b", .fall = 0.0101}});
  EXPECT_THAT(text("results.tex"), HasSubstr("\\bfseries"));

  report({{.aggregator = "a"}, {.aggregator = "b", .fall = 0.0101, .seeds = 1}});
  EXPECT_THAT(text("results.tex"), Not(HasSubstr("\\bfseries")));
}

TEST_F(TablesOfAStudy, CountRunsThatDivergedAsInfiniteAndSayHowMany) {
  // b ends at 0.81 to 0.86, ahead of a, which ends at 0.91 to 0.96; two of its seeds diverge.
  testing::write_straight(
      path(), {{.aggregator = "a", .seeds = 6}, {.aggregator = "b", .fall = 0.02, .seeds = 6}});
  for (const int seed : {2, 5}) {
    testing::change_status(
        path(), testing::straight_id(1, seed), [](Json& status) { status["state"] = "diverged"; });
  }
  collect(path());
  write_report(summarise(path()));

  // 0.81, 0.83, 0.84, 0.86 and two misses: the upper quartile lies between 0.86 and a miss.
  EXPECT_THAT(text("results.md"), HasSubstr("Runs that diverged count as infinite"));
  EXPECT_THAT(text("results.md"), HasSubstr("| b | 0.85 \\[0.8325, ∞\\] | – | – | 6 | 2 |\n"));
  EXPECT_THAT(text("results.md"), HasSubstr("over n = 6 seeds"));
  EXPECT_THAT(text("equal-iterations.md"),
              HasSubstr("| b | 0.85 \\[0.8325, ∞\\] | ∞ | 10 | 6 | 2 |\n"));
  for (const char* name : {"results.tex", "equal-iterations.tex", "equal-bytes.tex"}) {
    EXPECT_THAT(text(name), Not(HasSubstr("\\bfseries"))) << name;
  }
  const std::string page = read_file(path() / "report.html");
  EXPECT_THAT(page, HasSubstr(">b<small class=\"fail\">2 of 6 diverged</small>"));
  EXPECT_THAT(page, HasSubstr("<small>n = 6, 2 of them infinite</small>"));
  EXPECT_THAT(page, Not(HasSubstr("<strong>")));

  write_report(summarise(path()), IntervalKind::student);
  EXPECT_THAT(text("results.md"), HasSubstr("| b | ∞ | – |"));
  EXPECT_THAT(read_file(path() / "report.html"),
              HasSubstr("∞<small>n = 6, 2 of them infinite</small><small>∞ behind the best"));
}

TEST_F(TablesOfAStudy, HaveOneBoldNameByBothIntervalsWhereAnotherMethodHasMisses) {
  testing::write_straight(
      path(), {{.aggregator = "a", .fall = 0.02, .seeds = 8}, {.aggregator = "b", .seeds = 8}});
  for (const int seed : {2, 5, 7}) {
    testing::change_status(
        path(), testing::straight_id(1, seed), [](Json& status) { status["state"] = "diverged"; });
  }
  collect(path());

  write_report(summarise(path()), IntervalKind::student);
  EXPECT_THAT(text("results.tex"), HasSubstr("\\bfseries"));
  const Report report = write_report(summarise(path()), IntervalKind::bootstrap);
  EXPECT_THAT(text("results.tex"), HasSubstr("\\bfseries"));
  EXPECT_THAT(text("results.md"),
              HasSubstr("(bootstrap; Student where another method's misses leave fewer than 6 "
                        "values)"));
  EXPECT_THAT(report.problems,
              Contains("a bootstrap interval needs 6 values: 1 of 2 methods has fewer runs that "
                       "finished, and no interval of what these alone have"));
}

TEST_F(TablesOfAStudy, OfTimesToTargetsHaveQuartilesWhateverIsAskedFor) {
  report({{.aggregator = "a", .seeds = 6}, {.aggregator = "b", .fall = 0.02, .seeds = 6}},
         IntervalKind::bootstrap);

  EXPECT_THAT(text("results.md"),
              HasSubstr("mean, in brackets the 95 % interval (bootstrap, BCa)"));
  EXPECT_THAT(text("time-to-target-iterations.md"), HasSubstr("median, in brackets the quartiles"));
}

TEST_F(TablesOfAStudy, HaveNoBoldNameWhereASeedIsNotFinished) {
  testing::write_straight(path(),
                          {{.aggregator = "a"}, {.aggregator = "b", .fall = 0.02, .seeds = 3}});
  testing::change_status(
      path(), testing::straight_id(1, 3), [](Json& status) { status["state"] = "interrupted"; });
  collect(path());
  write_report(summarise(path()));

  EXPECT_THAT(text("results.csv"), HasSubstr(",runs,unfinished\n"));
  EXPECT_THAT(text("results.tex"), Not(HasSubstr("\\bfseries")));
}

TEST_F(TablesOfAStudy, HaveDifferencesToTheBestAtEqualBytes) {
  // 1000 bytes: dense has sent 900 before iteration 3 and was evaluated at 2, at 0.94 and 0.95.
  report({{.aggregator = "sparse"}, {.aggregator = "dense", .fall = 0.04, .bytes = 300}});

  EXPECT_THAT(text("equal-bytes.csv"),
              StartsWith("method,loss,loss_low,loss_high,loss_n,behind_best,behind_best_low,"
                         "behind_best_high,behind_best_n,sent_bytes\n"));
  EXPECT_THAT(text("equal-bytes.md"), HasSubstr("f on logistic, a9a after 1 kB, as last"));
  EXPECT_THAT(text("equal-bytes.md"),
              HasSubstr("| sparse | **0.915** \\[0.913, 0.917\\] | – | 1000 |\n"
                        "| dense | 0.935 \\[0.933, 0.938\\] | 0.02 \\[0.02, 0.02\\] | 600 |\n"));
}

TEST_F(TablesOfAStudy, KeepMissesAsInfinite) {
  // Targets fall in steps of 0.02 from 1.01: the fifth is 0.91, the tenth 0.81, the last 0.61.
  report({{.aggregator = "fast", .fall = 0.04}, {.aggregator = "slow", .fall = 0.0115}});

  const std::string table = text("time-to-target-iterations.md");
  EXPECT_THAT(table, HasSubstr("| fast | 0.81 | 2 | 2 | 6 \\[6, 6\\] |"));
  EXPECT_THAT(table, HasSubstr("| slow | 0.91 | 2 | 2 | 10 \\[10, 10\\] |"));
  EXPECT_THAT(table, HasSubstr("| slow | 0.81 | 0 | 2 | ∞ \\[∞, ∞\\] |"));
  EXPECT_THAT(table, HasSubstr("| fast | 0.61 | 1 | 2 | ∞ \\[∞, ∞\\] |"));
  EXPECT_THAT(text("time-to-target-bytes.tex"), HasSubstr("{$\\infty$}"));
  EXPECT_THAT(text("time-to-target-bytes.csv"), HasSubstr(",0,2,inf,inf,inf,2\n"));
}

TEST_F(TablesOfAStudy, DrawTheShareOfTargetsReached) {
  report({{.aggregator = "fast", .fall = 0.04}, {.aggregator = "slow", .fall = 0.0115}});
  const std::string csv = read_file(path() / "figures" / "ecdf-iterations.csv");

  // Forty pairs. At t = 2, fast has passed 0.99 to 0.93 with the first seed (0.93) and to 0.95 with
  // the second (0.94).
  EXPECT_THAT(csv, HasSubstr("curve,x,median,lower,upper,n\n0,2,0,,,2\n0,2,0.1"));
  EXPECT_THAT(csv, HasSubstr("0,10,0.975,,,2\n")) << "all but the last target of the second seed";
  EXPECT_THAT(csv, HasSubstr("1,10,0.25,,,2\n")) << "five targets of both seeds";
  EXPECT_THAT(read_file(path() / "report.html"), HasSubstr("Targets reached by iterations"));
}

TEST_F(TablesOfAStudy, EscapeTheNamesOfUsers) {
  report({{.aggregator = "a|b_{x} % <i>"}, {.aggregator = "b", .fall = 0.02}});

  EXPECT_THAT(text("results.md"), HasSubstr("| a\\|b\\_{x} % &lt;i&gt; |"));
  EXPECT_THAT(text("results.tex"),
              HasSubstr("a\\textbar{}b\\_\\allowbreak{}\\{x\\} \\% \\textless{}i\\textgreater{}"));
  EXPECT_THAT(text("results.csv"), HasSubstr("\na|b_{x} % <i>,"));
}

TEST_F(TablesOfAStudy, OfNoFinishedRunHaveNoNumbers) {
  testing::write_straight(path(), {{.aggregator = "a", .seeds = 1}});
  std::filesystem::remove_all(path() / "runs" / testing::straight_id(0, 1));
  collect(path());
  write_report(summarise(path()));

  EXPECT_FALSE(std::filesystem::exists(path() / "tables" / "results.csv"));
}

}  // namespace
}  // namespace residuum::reports
