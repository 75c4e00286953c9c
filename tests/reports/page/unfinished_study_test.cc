// The report of a study of which some runs have not come to an end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "reports/page/report.h"
#include "reports/results/files.h"
#include "reports/terminal/verdict_lines.h"
#include "reports/terminal/watch.h"
#include "reports/verdicts/verdict.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::change_status;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::SyntheticMethod;
using testing::SyntheticStudy;

/// This is 2024-05-01T10:00:00Z.
const std::filesystem::file_time_type kWritten =
    std::chrono::file_clock::from_sys(std::chrono::sys_seconds(std::chrono::seconds(1714557600)));

/// Writes the plan of a study with two methods and two seeds, as the program does before its runs.
void write_plan(const std::filesystem::path& folder) {
  Json study = read_json(folder / "study.resolved.json");
  study["plan"] = Json::array();
  for (const char* aggregator : {"gtopk-tree", "allgather"}) {
    for (const int seed : {1, 2}) {
      study["plan"].push_back({{"seed", seed},
                               {"varying",
                                {{"aggregator.kind", aggregator},
                                 {"feedback.putback", "captured"},
                                 {"sparsifier.density", 0.01}}}});
    }
  }
  write_json_atomically(folder / "study.resolved.json", study);
}

class UnfinishedStudy : public ::testing::Test {
 protected:
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(UnfinishedStudy, HasAReportThatCountsTheRunsOfEarlierVersions) {
  SyntheticStudy study;
  study.seeds = 3;
  study.write(path());
  const auto says = [&](const std::string& sentence) {
    const auto problems = write_report(summarise(path())).problems;
    return std::count(problems.begin(), problems.end(), sentence);
  };
  const auto keep_first = [&](std::size_t runs) {
    Json resolved = read_json(path() / "study.resolved.json");
    resolved["runs"].erase(resolved["runs"].begin() + static_cast<std::ptrdiff_t>(runs),
                           resolved["runs"].end());
    write_json_atomically(path() / "study.resolved.json", resolved);
  };
  std::filesystem::create_directories(path() / "runs" / "no run");
  EXPECT_EQ(says("1 run of an earlier version of the study lies in runs/ and is in no table"), 0);

  keep_first(2);
  EXPECT_EQ(says("1 run of an earlier version of the study lies in runs/ and is in no table"), 1);

  keep_first(1);
  EXPECT_EQ(says("2 runs of an earlier version of the study lie in runs/ and are in no table"), 1);
}

TEST_F(UnfinishedStudy, HasAReportThatSaysWhatIsMissing) {
  SyntheticStudy study;
  study.seeds = 2;
  study.methods = {SyntheticMethod{}, SyntheticMethod{.aggregator = "allgather"}};
  study.write(path());
  const auto set_state = [&](std::size_t method, int seed, const char* state) {
    change_status(path(), SyntheticStudy::run_id(method, seed), [&](Json& status) {
      status["state"] = state;
    });
  };
  set_state(0, 2, "interrupted");
  set_state(1, 1, "running");
  std::filesystem::remove_all(path() / "runs" / SyntheticStudy::run_id(1, 2));
  for (const auto& file :
       std::filesystem::directory_iterator(path() / "runs" / SyntheticStudy::run_id(1, 1))) {
    std::filesystem::last_write_time(file, kWritten);
  }

  const Report report = write_report(summarise(path()));

  const std::string sentence =
      "This study is not finished: of 4 runs 3 have no result: 1 interrupted "
      "(m0-s2-000000000002); 1 missing (m1-s2-0000000003ea); 1 running (m1-s1-0000000003e9, "
      "nothing "
      "written since 2024-05-01T10:00:00Z). "
      "Nothing is known yet of allgather, captured, rho=0.01. residuum run goes on with it.";
  const std::string html = read_file(report.file);
  EXPECT_THAT(html, HasSubstr(sentence));
  EXPECT_THAT(report.problems, ::testing::Contains(sentence)) << "in the terminal, too";
}

TEST_F(UnfinishedStudy, NamesAMethodOfWhichNoRunHasBegunAndCountsSeedsThatHaveNot) {
  SyntheticStudy study;
  study.seeds = 2;
  study.methods = {SyntheticMethod{}, SyntheticMethod{.aggregator = "allgather"}};
  study.write(path());
  write_plan(path());
  for (const auto& [method, seed] : {std::pair(0, 2), std::pair(1, 1), std::pair(1, 2)}) {
    std::filesystem::remove_all(path() / "runs" /
                                SyntheticStudy::run_id(std::size_t(method), seed));
  }

  const Summary summary = summarise(path());
  EXPECT_THAT(unfinished_sentence(summary),
              HasSubstr("Nothing is known yet of allgather, captured, rho=0.01. residuum run"));
  ASSERT_EQ(summary.groups.size(), 1U);
  EXPECT_EQ(summary.groups[0].misses(), "1 of 2 not finished");
  const std::string html = read_file(write_report(summary).file);
  EXPECT_THAT(html, HasSubstr("2 methods (1 not begun), 4 runs, 1 finished, 3 missing"));
  StudyWatch watch({path()});
  watch.look(0);
  EXPECT_THAT(watch.table(100), ContainsRegex("allgather, captured, rho=0.01 +2 +missing"));
}

TEST_F(UnfinishedStudy, OfWhichNothingIsMeasuredYetDoesNotSayThatNothingWill) {
  SyntheticStudy study;
  study.seeds = 1;
  study.write(path());
  const auto run = path() / "runs" / SyntheticStudy::run_id(0, 1);
  std::filesystem::remove(run / "iterations.csv");
  change_status(path(), SyntheticStudy::run_id(0, 1), [](Json& status) {
    status = {{"state", "running"}};
  });
  const auto set_probe = [&](const char* name) {
    Json config = read_json(run / "config.json");
    config["config"]["probes"]["names"] = {name};
    write_json_atomically(run / "config.json", with_print(config));
  };

  set_probe("delta");
  EXPECT_EQ(answer(summarise(path())), "The gTop-k assumption has not been measured yet.");
  set_probe("traffic");
  EXPECT_EQ(answer(summarise(path())), "The gTop-k assumption was not measured in this study.");
}

TEST_F(UnfinishedStudy, SaysOfHowManyMethodsItsAnswerIs) {
  SyntheticStudy study;
  study.seeds = 2;
  study.methods = {SyntheticMethod{}, SyntheticMethod{.aggregator = "allgather"}};
  study.write(path());
  write_plan(path());
  for (const int seed : {1, 2}) {
    std::filesystem::remove_all(path() / "runs" / SyntheticStudy::run_id(1, seed));
  }

  EXPECT_THAT(
      findings(summarise(path()))[1],
      HasSubstr("held in every measured iteration of the one method with a measured δ, of 2 "
                "in the study; largest"));

  study.methods[0].delta_peak = 1.25;
  study.write_run(path(), 0, 1);
  EXPECT_THAT(
      findings(summarise(path()))[1],
      HasSubstr("iterations of the one method with a measured δ, of 2 in the study; largest"));
}

TEST_F(UnfinishedStudy, IsNoneWhereARunHasDiverged) {
  SyntheticStudy study;
  study.write(path());
  change_status(
      path(), SyntheticStudy::run_id(0, 2), [](Json& status) { status["state"] = "diverged"; });

  const Report report = write_report(summarise(path()));

  EXPECT_TRUE(report.problems.empty());
  EXPECT_THAT(read_file(report.file), HasSubstr("Of 3 runs, 1 diverged (m0-s2-000000000002)."));
}

/// Lets the first `count` of three seeds of both methods diverge.
void let_diverge(const std::filesystem::path& path, int count) {
  SyntheticStudy study;
  study.methods = {SyntheticMethod{}, SyntheticMethod{.aggregator = "allgather"}};
  study.write(path);
  for (int seed = 1; seed <= count; ++seed) {
    for (const std::size_t method : {0, 1}) {
      change_status(path, SyntheticStudy::run_id(method, seed), [](Json& status) {
        status["state"] = "diverged";
      });
    }
  }
}

TEST_F(UnfinishedStudy, ThatHasDivergedAltogetherSaysSoBeforeAnyAssumptionHolds) {
  let_diverge(path(), 3);
  const Summary summary = summarise(path());

  EXPECT_THAT(answer(summary),
              StartsWith("All 6 runs diverged. No assumption holds of runs that diverged; until"));
  EXPECT_THAT(verdict_lines(summary, 2),
              HasSubstr("gtopk-tree, captured, rho=0.01 (3 of 3 diverged)"));
  const std::string html = read_file(write_report(summary).file);
  EXPECT_THAT(html, HasSubstr("<p class=\"answer\">All 6 runs diverged. "));
  const auto table = html.find("id=\"verdict-table\"");
  ASSERT_NE(table, std::string::npos);
  EXPECT_THAT(html.substr(table, html.find("</table>", table) - table),
              HasSubstr("rho=0.01<small class=\"fail\">3 of 3 diverged</small>"));
}

TEST_F(UnfinishedStudy, OfWhichRunsDivergedCountsThemFirst) {
  let_diverge(path(), 1);
  EXPECT_THAT(answer(summarise(path())),
              StartsWith("2 of 6 runs diverged. The gTop-k assumption δ ≤ 1 held"));

  change_status(
      path(), SyntheticStudy::run_id(1, 2), [](Json& status) { status["state"] = "diverged"; });
  change_status(
      path(), SyntheticStudy::run_id(1, 3), [](Json& status) { status["state"] = "diverged"; });
  EXPECT_THAT(answer(summarise(path())),
              StartsWith("4 of 6 runs diverged, among them all of 1 method. The"));
}

}  // namespace
}  // namespace residuum::reports
