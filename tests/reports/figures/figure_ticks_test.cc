// Ticks of figures whose points are at few places.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "reports/figures/figure.h"
#include "reports/figures/gnuplot_script.h"
#include "reports/figures/pgfplots.h"

namespace residuum::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Returns a figure whose two curves have a point at each of these places.
FigureSpec figure_at(const std::vector<double>& places, Scale scale = Scale::log) {
  FigureSpec spec;
  spec.name = "ends";
  spec.x_scale = scale;
  for (const char* label : {"a", "b"}) {
    Curve curve;
    curve.label = label;
    for (const double place : places) {
      Point point;
      point.x = place;
      point.middle = 1;
      curve.points.push_back(point);
    }
    spec.curves.push_back(curve);
  }
  return spec;
}

TEST(FigureTicks, AreOneWhereAllPointsAre) {
  const FigureSpec linear = figure_at({0}, Scale::linear);
  EXPECT_THAT(figure_gp(linear), HasSubstr("set xrange [-0.5:0.5]\nset xtics ('0' 0)\n"));
  EXPECT_THAT(figure_tex(linear), HasSubstr("xmin=-0.5, xmax=0.5, xtick={0}, xticklabels={0},\n"));
  EXPECT_THAT(figure_gp(figure_at({64})), HasSubstr("set xrange [32:128]\nset xtics ('64' 64)\n"));
}

TEST(FigureTicks, AreAtTheFewPlacesOfASweep) {
  FigureSpec spec = figure_at({4, 8, 16, 32});
  EXPECT_THAT(tick_places(spec), ElementsAre(4, 8, 16, 32));
  // The axis is longer than from 4 to 32 by 4 % of it at either end: 8 ^ 0.04 = 1.0867348625260582.
  const AxisRange range = x_range_around(spec, {4, 8, 16, 32});
  EXPECT_DOUBLE_EQ(range.low, 4 / 1.0867348625260582);
  EXPECT_DOUBLE_EQ(range.high, 32 * 1.0867348625260582);
  EXPECT_THAT(figure_gp(spec), HasSubstr("set xtics ('4' 4, '8' 8, '16' 16, '32' 32)\n"));
  EXPECT_THAT(figure_tex(spec), HasSubstr("xtick={4,8,16,32}, xticklabels={4,8,16,32},\n"));

  spec.curves[1].is_bound = true;  // it is drawn between measured places and beyond
  for (int x = 1; x <= 64; ++x) {
    Point point = spec.curves[1].points[0];
    point.x = x;
    spec.curves[1].points.push_back(point);
  }
  EXPECT_THAT(tick_places(spec), ElementsAre(4, 8, 16, 32));
  EXPECT_EQ(x_range(spec).high, 64);
}

TEST(FigureTicks, AreNotAtPlacesThatCrowdNorOnALinearAxis) {
  EXPECT_THAT(tick_places(figure_at({1, 30, 31, 1000})), IsEmpty());
  EXPECT_THAT(tick_places(figure_at({1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024})), IsEmpty());
  EXPECT_THAT(tick_places(figure_at({4, 8}, Scale::linear)), IsEmpty());
  EXPECT_THAT(tick_places(figure_at({0, 4, 8})), ElementsAre(4, 8));  // 0 has no logarithm
}

}  // namespace
}  // namespace residuum::reports
