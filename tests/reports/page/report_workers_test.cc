// Delta against the number of workers is drawn with the statistics that the report is asked for.

#include <gtest/gtest.h>

#include "reports/page/sections.h"
#include "reports/summaries/collect.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::change_status;
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

/// A method with a label of its own, by its density.
SyntheticMethod with_workers(int density, int workers) {
  return {.density = 0.001 * density, .workers = workers};
}

TEST(EndsAgainstWorkers, DifferInStyleWithinAFigureWhereALabelHasNoCurve) {
  const testing::TemporaryFolder folder;
  SyntheticStudy study;
  study.seeds = 1;
  study.methods = {with_workers(1, 2)};  // one number of workers is no curve
  for (int density = 2; density <= 9; ++density) {
    study.methods.push_back(with_workers(density, 4));
    study.methods.push_back(with_workers(density, 2));
  }
  study.write(folder.path());

  const auto figures = plan_end_figures(collect(folder.path()), IntervalKind::quartiles);

  ASSERT_EQ(figures.size(), 2U) << "six curves and two";
  for (const auto& figure : figures) {
    for (std::size_t i = 0; i < figure.spec.curves.size(); ++i) {
      EXPECT_EQ(figure.spec.curves[i].style, i) << figure.spec.curves[i].label;
    }
  }
  EXPECT_EQ(figures[0].spec.curves[0].joined, (std::vector<std::size_t>{2, 1}))
      << "in the order of the workers";
}

// The ends are f = 0.3210 and, where f* is known to be 0.3207, f - f* = 0.0003.
TEST(EndsAgainstWorkers, HaveAnAxisForLossGapsAndAnotherForLosses) {
  const testing::TemporaryFolder folder;
  SyntheticStudy study;
  study.seeds = 1;
  study.methods = {with_workers(1, 2), with_workers(1, 4), with_workers(2, 2), with_workers(2, 4)};
  study.write(folder.path());
  for (const std::size_t method : {2U, 3U}) {
    change_status(folder.path(), SyntheticStudy::run_id(method, 1), [](Json& status) {
      status["final"].erase("loss_gap");
    });
  }

  const auto figures = plan_end_figures(collect(folder.path()), IntervalKind::quartiles);

  ASSERT_EQ(figures.size(), 2U);
  const FigureSpec& gaps = figures[0].spec;
  const FigureSpec& losses = figures[1].spec;
  EXPECT_EQ(gaps.name + " " + losses.name, "end-workers-1 end-workers-2");
  EXPECT_EQ(gaps.y_label, "f − f* at the end");
  EXPECT_TRUE(figures[0].caption.starts_with("f − f* at the last model.")) << figures[0].caption;
  EXPECT_EQ(gaps.y_scale, Scale::log);
  ASSERT_EQ(gaps.curves.size(), 1U);
  EXPECT_NEAR(*gaps.curves[0].points[0].middle, 0.0003, 1e-12);
  EXPECT_EQ(losses.y_label, "f at the end");
  EXPECT_TRUE(figures[1].caption.starts_with("f at the last model.")) << figures[1].caption;
  EXPECT_EQ(losses.y_scale, Scale::linear);
  ASSERT_EQ(losses.curves.size(), 1U);
  EXPECT_NEAR(*losses.curves[0].points[0].middle, 0.3210, 1e-12);
}

}  // namespace
}  // namespace residuum::reports
