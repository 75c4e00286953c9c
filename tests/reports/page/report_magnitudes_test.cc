// The histograms of the accumulators in the report, against tables written by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/error.h"
#include "reports/page/report.h"
#include "reports/page/sections.h"
#include "reports/results/files.h"
#include "reports/summaries/collect.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using testing::SyntheticMethod;
using testing::SyntheticStudy;

class MagnitudeReport : public ::testing::Test {
 protected:
  MagnitudeReport() {
    SyntheticStudy study;
    study.seeds = 2;
    study.iterations = 4;
    study.methods = {SyntheticMethod{}, SyntheticMethod{.aggregator = "allgather"}};
    study.write(folder_.path());
  }

  /// Writes the table of the second method.
  void write_magnitudes(int seed, const std::vector<std::string>& rows) const {
    const std::string id = SyntheticStudy::run_id(1, seed);
    std::string text = detail_header(kMagnitudesTable);
    for (const auto& row : rows) {
      text += id + ',' + row + '\n';
    }
    write_file_atomically(folder_.path() / "runs" / id / "magnitudes.csv", text);
  }
  std::vector<ReportFigure> figures(IntervalKind kind = IntervalKind::quartiles) const {
    return plan_magnitude_figures(summarise(folder_.path()), kind);
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(MagnitudeReport, DrawsTheFirstAndTheLastHistogram) {
  write_magnitudes(1, {"0,-2,0.5", "0,-1,0.25", "2,-1,0.5", "2,0,0.5"});
  write_magnitudes(2, {"0,-2,0.25", "2,-1,0.75", "2,1,0.25"});

  const auto drawn = figures();

  ASSERT_EQ(drawn.size(), 2U);
  EXPECT_EQ(drawn[0].spec.name, "magnitudes-first");
  EXPECT_THAT(drawn[0].title, HasSubstr("iteration 0"));
  EXPECT_THAT(drawn[1].title, HasSubstr("iteration 2"));
  ASSERT_EQ(drawn[1].spec.curves.size(), 1U) << "the other method has no table";
  EXPECT_EQ(drawn[1].spec.curves[0].style, 1U) << "as in all other figures";
  // Between 2^e and 2^(e+1), at sqrt(2) 2^e: shares (0.5, 0.75), (0.5, 0), (0, 0.25).
  const auto& points = drawn[1].spec.curves[0].points;
  ASSERT_EQ(points.size(), 3U);
  const std::vector<double> medians{0.625, 0.25, 0.125};
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_DOUBLE_EQ(points[i].x, std::sqrt(2) * std::pow(2.0, static_cast<double>(i) - 1));
    EXPECT_DOUBLE_EQ(*points[i].middle, medians[i]);
    EXPECT_EQ(points[i].n, 2U);
  }
  EXPECT_DOUBLE_EQ(*points[0].lower, 0.5625);
}

TEST_F(MagnitudeReport, IsInThePageAndAmongTheCollectedTables) {
  write_magnitudes(1, {"0,-2,0.5"});
  write_magnitudes(2, {"0,-2,0.25"});

  const std::string page = read_file(write_report(collect(path())).file);

  EXPECT_THAT(page, HasSubstr("data-figure=\"magnitudes\""));
  EXPECT_THAT(read_file(path() / "magnitudes.csv"), HasSubstr("run_id,iteration,exponent,share\n"));
  EXPECT_THAT(read_file(path() / "datapackage.json"), HasSubstr("magnitudes.csv"));
}

TEST_F(MagnitudeReport, HasNoFigureWhereNothingWasCounted) {
  EXPECT_TRUE(figures().empty());
  write_magnitudes(1, {});
  EXPECT_TRUE(figures().empty());
}

TEST_F(MagnitudeReport, RefusesATableThatCannotBeOfTheRun) {
  const auto complaint = [&] {
    try {
      (void)figures();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return std::string(error.what());
    }
    return std::string("no complaint");
  };
  write_magnitudes(1, {"0,128,0.5"});
  EXPECT_THAT(complaint(), HasSubstr("'128' is no exponent of a magnitude"));
  write_magnitudes(1, {"0,nan,0.5"});
  EXPECT_THAT(complaint(), HasSubstr("'nan' is no exponent of a magnitude"));
  write_magnitudes(1, {});
  write_file_atomically(
      path() / "runs" / SyntheticStudy::run_id(1, 2) / "magnitudes.csv",
      detail_header(kMagnitudesTable) + SyntheticStudy::run_id(1, 1) + ",0,1,1\n");
  EXPECT_THAT(complaint(), HasSubstr("the record is of another run"));
}

}  // namespace
}  // namespace residuum::reports
