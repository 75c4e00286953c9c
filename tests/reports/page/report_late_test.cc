// The report's section on late gradients, against numbers that are known by hand.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "reports/page/report.h"
#include "reports/page/sections.h"
#include "reports/results/files.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

/// Four versions of two gradients by two workers, one every 2.5 virtual seconds.
void make_late_version(Row& row, int seed) {
  const bool is_last = row.iteration() == 3;
  const auto versions = static_cast<double>(row.iteration() + 1);
  row.set(Column::version, versions);
  row.set(Column::contributions, 2);
  row.set(Column::total_contributions, 2 * versions);
  row.set(Column::staleness_mean, is_last ? 1.5 : 0.5);
  row.set(Column::staleness_max, is_last ? 3 : 1);
  row.set(Column::virtual_s, 2.5 * versions);
  row.set(Column::downlink_bytes, 100);
  row.set(Column::control_bytes, 30);
  row.set(Column::quota_wait_s, 0.5);
  row.set(Column::staleness_wait_s, 1);
  row.set(Column::pull_wait_s, 0.25);
  row.set(Column::idle_s, seed);
  row.set(Column::weight_skew, is_last ? 1.25 : 1.5);
}

class LateReport : public ::testing::Test {
 protected:
  LateReport() {
    study.seeds = 2;
    study.iterations = 4;
    study.methods = {
        SyntheticMethod{},
        SyntheticMethod{.aggregator = "<b>late", .workers = 2, .change = make_late_version}};
  }
  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path file_of(int seed, const std::string& name) const {
    return path() / "runs" / SyntheticStudy::run_id(1, seed) / name;
  }
  void write_staleness(int seed, const std::string& rows) const {
    std::string text = detail_header(kStalenessTable);
    for (std::size_t begin = 0; begin < rows.size();) {
      const std::size_t end = rows.find('\n', begin) + 1;
      text += SyntheticStudy::run_id(1, seed) + ',' + rows.substr(begin, end - begin);
      begin = end;
    }
    write_file_atomically(file_of(seed, "staleness.csv"), text);
  }
  std::string complaint() const {
    try {
      (void)plan_staleness_figures(summarise(path()), IntervalKind::student);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "no complaint";
  }

  SyntheticStudy study;  // NOLINT(misc-non-private-member-variables-in-classes): each test fills it

 private:
  TemporaryFolder folder_;
};

std::string number_cells(const std::vector<std::string>& texts) {
  std::string cells;
  for (const auto& text : texts) {
    cells += fmt::format("<td class=\"n\">{}</td>", text);
  }
  return cells;
}

TEST_F(LateReport, HasATableOfTheMethodsThatCountTheirGradients) {
  study.write(path());

  const std::string html = late_table(summarise(path()));

  // The staleness is (3 x 2 x 0.5 + 2 x 1.5) / 8. Workers idle 4 s and 8 s of 2 x 10 s.
  EXPECT_THAT(html,
              HasSubstr("&lt;b&gt;late, captured, rho=0.01, P=2</th>" + number_cells({"4",
                                                                                      "8",
                                                                                      "2",
                                                                                      "0.75",
                                                                                      "3",
                                                                                      "10",
                                                                                      "30.0 %",
                                                                                      "0.2",
                                                                                      "0.4",
                                                                                      "0.1",
                                                                                      "5 kB",
                                                                                      "50 B",
                                                                                      "15 B",
                                                                                      "1.25"})));
  EXPECT_THAT(html, Not(HasSubstr("gtopk-tree"))) << "its gradients are not late";
  const std::string page = read_file(write_report(summarise(path())).file);
  EXPECT_THAT(page, HasSubstr("<h3>Late gradients</h3>\n" + html));
}

TEST_F(LateReport, LeavesOutSumsOverIterationsThatWereNotMeasured) {
  study.write(path());
  for (const int seed : {1, 2}) {
    std::string rows = read_file(file_of(seed, "iterations.csv"));
    const std::size_t second = rows.find('\n', rows.find('\n') + 1) + 1;  // that of t = 1
    write_file_atomically(file_of(seed, "iterations.csv"),
                          rows.erase(second, rows.find('\n', second) + 1 - second));
  }

  const std::string html = late_table(summarise(path()));

  EXPECT_THAT(
      html,
      HasSubstr(
          "</th>" +
          number_cells(
              {"4", "8", "2", "–", "–", "10", "–", "–", "–", "–", "5 kB", "–", "–", "1.25"})));
  EXPECT_THAT(html, HasSubstr("only where every iteration was measured"));
}

TEST_F(LateReport, IsNotThereInLockstep) {
  study.methods.pop_back();
  study.write(path());

  EXPECT_EQ(late_table(summarise(path())), "");
  EXPECT_TRUE(plan_staleness_figures(summarise(path()), IntervalKind::student).empty());
  EXPECT_THAT(read_file(write_report(summarise(path())).file), Not(HasSubstr("Late gradients")));
}

// Student's t of one degree of freedom is 12.7062 at 97.5 %; half the difference of 0.51 and 0.50
// is the standard error of their mean.
TEST_F(LateReport, DrawsTheStalenessOfTheLastIteration) {
  study.write(path());
  write_staleness(1, "2,0,7\n3,0,50\n3,2,50\n");
  write_staleness(2, "2,1,7\n3,0,51\n3,2,49\n");

  const auto figures = plan_staleness_figures(summarise(path()), IntervalKind::student);

  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0].title, "Staleness");
  EXPECT_EQ(figures[0].spec.name, "staleness");
  ASSERT_EQ(figures[0].spec.curves.size(), 1U);
  const Curve& curve = figures[0].spec.curves[0];
  EXPECT_EQ(curve.style, 1U) << "as in all other figures";
  ASSERT_EQ(curve.points.size(), 4U);
  const std::vector<double> shares{0.505, 0, 0.495, 0};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    EXPECT_EQ(curve.points[i].x, static_cast<double>(i));
    EXPECT_EQ(curve.points[i].n, 2U);
    EXPECT_NEAR(curve.points[i].middle.value(), shares[i], 1e-15);
    if (shares[i] == 0) {
      EXPECT_FALSE(curve.points[i].lower) << "the seeds are the same";
      continue;
    }
    const double half = 12.7062 * 0.005;
    EXPECT_NEAR(curve.points[i].lower.value(), shares[i] - half, 1e-6);
    EXPECT_NEAR(curve.points[i].upper.value(), shares[i] + half, 1e-6);
  }
  EXPECT_THAT(read_file(write_report(summarise(path())).file),
              HasSubstr("<a href=\"figures/staleness.csv\">numbers</a>"));
}

TEST_F(LateReport, HasNoShareBelowNothingOrAboveAll) {
  study.write(path());
  write_staleness(1, "3,0,3\n3,1,1\n");
  write_staleness(2, "3,0,1\n3,1,1\n");

  const auto figures = plan_staleness_figures(summarise(path()), IntervalKind::student);

  const Point& first = figures.at(0).spec.curves.at(0).points.at(0);
  EXPECT_EQ(first.middle, 0.625);
  EXPECT_EQ(first.lower, 0.0);
  EXPECT_EQ(first.upper, 1.0);
}

TEST_F(LateReport, DrawsTheStalenessByMedianAndQuartilesWhereTheReportHasThem) {
  study.write(path());
  write_staleness(1, "3,0,50\n3,2,50\n");
  write_staleness(2, "3,0,60\n3,2,40\n");

  const auto figures = plan_staleness_figures(summarise(path()), IntervalKind::quartiles);

  EXPECT_EQ(figures.at(0).spec.band, "median, IQR");
  const Point& first = figures.at(0).spec.curves.at(0).points.at(0);
  EXPECT_NEAR(*first.middle, 0.55, 1e-15);
  EXPECT_NEAR(*first.lower, 0.525, 1e-15);
  EXPECT_NEAR(*first.upper, 0.575, 1e-15);
}

TEST_F(LateReport, RefusesATableThatCannotBeOfTheRun) {
  study.write(path());
  write_staleness(1, "3,4096,1\n");
  EXPECT_THAT(complaint(), HasSubstr("no staleness is above 4095, but this one is 4096"));

  write_staleness(2, "3,0,1\n");
  std::filesystem::rename(file_of(2, "staleness.csv"), file_of(1, "staleness.csv"));
  EXPECT_THAT(complaint(), HasSubstr("the record is of another run"));
}

TEST_F(LateReport, DrawsRareStalenessOnALogarithmicAxis) {
  study.write(path());
  write_staleness(1, "3,0,99\n3,1,1\n");
  EXPECT_EQ(plan_staleness_figures(summarise(path()), IntervalKind::student).at(0).spec.y_scale,
            Scale::linear);

  write_staleness(1, "3,0,101\n3,1,1\n");
  EXPECT_EQ(plan_staleness_figures(summarise(path()), IntervalKind::student).at(0).spec.y_scale,
            Scale::log);
}

}  // namespace
}  // namespace residuum::reports
