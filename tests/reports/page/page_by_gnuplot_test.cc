// A report without a gnuplot that works has its tables, and says so.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "reports/page/report.h"
#include "reports/results/files.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

class PageByGnuplot : public ::testing::Test {
 protected:
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

TEST_F(PageByGnuplot, SaysOnceThatGnuplotIsBroken) {
  SyntheticStudy{}.write(path());
  const std::string before = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  const auto gnuplot = path() / "gnuplot";
  write_file_atomically(gnuplot, "#!/bin/sh\nexit 1\n");
  std::filesystem::permissions(gnuplot, std::filesystem::perms::owner_all);
  ::setenv("PATH", (path().string() + ':' + before).c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  const Report report = write_report(summarise(path()));
  ::setenv("PATH", before.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)

  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_THAT(report.problems[0], HasSubstr("gnuplot failed"));
  EXPECT_THAT(report.problems[0], HasSubstr(" figures are not drawn"));
}

TEST_F(PageByGnuplot, WithoutGnuplotHasTheTablesAndSaysSo) {
  SyntheticStudy{}.write(path());
  const std::string before = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  ::setenv("PATH", path().c_str(), 1);             // NOLINT(concurrency-mt-unsafe)
  const Report report = write_report(summarise(path()));
  ::setenv("PATH", before.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)

  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_THAT(report.problems[0], HasSubstr("gnuplot-nox"));
  EXPECT_THAT(read_file(report.file), HasSubstr("Not drawn: gnuplot is not installed"));
  EXPECT_TRUE(std::filesystem::exists(path() / "figures" / "delta.csv"));
}

}  // namespace
}  // namespace residuum::reports
