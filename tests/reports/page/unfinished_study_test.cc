// The report of a study of which some runs have not come to an end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "reports/page/report.h"
#include "reports/tables/files.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::change_status;
using ::testing::HasSubstr;
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

}  // namespace
}  // namespace residuum::reports
