// The report of a study of which some runs have not come to an end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "reports/page/report.h"
#include "reports/tables/files.h"
#include "reports/terminal/verdict_lines.h"
#include "reports/verdicts/verdict.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::change_status;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::SyntheticMethod;
using testing::SyntheticStudy;

class UnfinishedStudy : public ::testing::Test {
 protected:
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  testing::TemporaryFolder folder_;
};

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

  const Report report = write_report(summarise(path()));

  const std::string sentence =
      "This study is not finished: of 4 runs 3 have no result: 1 interrupted "
      "(m0-s2-000000000002); 1 missing (m1-s2-0000000003ea); 1 running (m1-s1-0000000003e9). "
      "Nothing is known yet of allgather, captured, rho=0.01. residuum run goes on with it.";
  const std::string html = read_file(report.file);
  EXPECT_THAT(html, HasSubstr(sentence));
  EXPECT_THAT(report.problems, ::testing::Contains(sentence)) << "in the terminal, too";
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
              StartsWith("All 6 runs diverged. Until then the gTop-k assumption δ ≤ 1 held"));
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
