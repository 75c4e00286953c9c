// Delta against the number of workers is drawn with the statistics that the report is asked for.

#include "reports/page/report_workers.h"

#include <gtest/gtest.h>

#include "reports/collection/collect.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::SyntheticMethod;
using testing::SyntheticStudy;

/// delta is the same in all iterations of a seed: 1.22, 1.25 and 1.28.
SyntheticMethod near_five_quarters(int workers) {
  return {.workers = workers, .change = [](Row& row, int seed) {
            row.set(Column::delta, 1.25 + 0.03 * (seed - 2));
            row.set(Column::accumulator_norm_sq, 1);
          }};
}

TEST(DeltaAgainstWorkers, IsDrawnWithTheIntervalOfTheReport) {
  const testing::TemporaryFolder folder;
  SyntheticStudy study;
  study.methods = {near_five_quarters(2), near_five_quarters(4)};
  study.write(folder.path());
  const Summary summary = collect(folder.path());
  const auto curves = delta_against_workers(summary);

  const auto quartiles = plan_workers_figures(curves, IntervalKind::quartiles);
  const auto student = plan_workers_figures(curves, IntervalKind::student);

  EXPECT_EQ(quartiles.at(0).spec.band, "median, IQR");
  const Point& point = quartiles.at(0).spec.curves.at(0).points.at(1);
  EXPECT_EQ(point.x, 4);
  EXPECT_NEAR(*point.middle, 1.25, 1e-12);
  EXPECT_NEAR(*point.lower, 1.235, 1e-12);
  EXPECT_NEAR(*point.upper, 1.265, 1e-12);
  // Student's t of two degrees of freedom is 4.30265, and the standard error 0.03/sqrt(3).
  EXPECT_NEAR(*student.at(0).spec.curves.at(0).points.at(1).upper, 1.25 + 0.0745241, 1e-6);
}

// The seeds of the synthetic study end at f - f* = 0.0003, 0.0004 and 0.0005.
TEST(EndsAgainstWorkers, AreDrawnWhereEverySeedHasOne) {
  const testing::TemporaryFolder folder;
  SyntheticStudy study;
  study.methods = {{.workers = 8}, {.workers = 2}, {.workers = 4}};
  study.write(folder.path());
  Summary summary = collect(folder.path());

  const auto figures = plan_end_figures(summary, IntervalKind::quartiles);
  const auto& points = figures.at(0).spec.curves.at(0).points;

  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].x, 2);
  EXPECT_NEAR(*points[0].middle, 0.0004, 1e-12);
  EXPECT_NEAR(*points[0].lower, 0.00035, 1e-12);
  EXPECT_EQ(points[1].x, 4);
  EXPECT_EQ(points[2].x, 8);
  summary.groups.at(0).group.runs.push_back(0);  // a fourth seed of eight workers has no end
  EXPECT_EQ(plan_end_figures(summary, IntervalKind::quartiles).at(0).spec.curves[0].points.size(),
            2U);
}

}  // namespace
}  // namespace residuum::reports
