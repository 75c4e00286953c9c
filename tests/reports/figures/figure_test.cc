#include "reports/figures/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "reports/figures/gnuplot.h"
#include "reports/figures/report_figures.h"
#include "reports/numbers/groups.h"
#include "reports/numbers/series.h"
#include "reports/page/html.h"
#include "reports/tables/files.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

FigureSpec small_figure() {
  FigureSpec spec;
  spec.name = "loss";
  spec.x_label = "iteration";
  spec.y_label = "f(w)";
  spec.y_scale = Scale::log;
  spec.reference = Reference{.y = 1, .label = "bound"};
  spec.curves = {{.label = "a, b",
                  .style = 0,
                  .points = {{.x = 0, .middle = 2, .lower = 1, .upper = 3, .n = 2},
                             {.x = 1, .middle = 0.5, .lower = 0.5, .upper = 0.5, .n = 2}}},
                 {.label = "c",
                  .style = 1,
                  .points = {{.x = 0, .middle = 4, .lower = 4, .upper = 4, .n = 1},
                             {.x = 1, .middle = {}, .lower = {}, .upper = {}, .n = 1}}}};
  return spec;
}

TEST(Figure, NumbersAreWrittenAsTheyAre) {
  EXPECT_EQ(figure_csv(small_figure()),
            "curve,x,median,lower,upper,n,label\n"
            "0,0,2,1,3,2,\"a, b\"\n"
            "0,1,0.5,0.5,0.5,2,\"a, b\"\n"
            "1,0,4,4,4,1,c\n"
            "1,1,,,,1,c\n");
}

TEST(Figure, ScriptIsAsExpected) {
  EXPECT_EQ(
      figure_gp(small_figure()),
      "# Draws loss.svg from loss.csv: run `gnuplot loss.gp` in this folder.\n"
      "set encoding utf8\n"
      "set terminal svg size 720,360 dynamic enhanced font 'sans-serif,14'\n"
      "set output 'loss.svg'\n"
      "set datafile separator comma\n"
      "set samples 2\n"
      "set border 3 linewidth 0.7\n"
      "set tics nomirror out scale 0.6\n"
      "set grid y linecolor rgb '#a0a0a0' linewidth 0.4\n"
      "set key below left Left reverse samplen 3 spacing 1.1 noenhanced\n"
      "set xlabel 'iteration' offset 0,0.6 noenhanced\n"
      "set ylabel 'f(w)' noenhanced\n"
      "set format x '%g'\n"
      "set logscale y\n"
      "set format y '10^{%T}'\n"
      "low = 0.1\n"
      "high = 10\n"
      "set yrange [low:high]\n"
      "clip(y) = y < low ? low : (y > high ? high : y)\n"
      "plot 'loss.csv' skip 1 every ::0::1 using 2:(clip($4)):(clip($5)) with filledcurves "
      "fillcolor rgb '#0072B2' fillstyle transparent solid 0.18 noborder notitle, \\\n"
      "     'loss.csv' skip 1 every ::0::1 using 2:3 with lines linecolor rgb '#0072B2' dashtype 1 "
      "linewidth 1.8 title 'a, b', \\\n"
      "     'loss.csv' skip 1 every ::2::3 using 2:3 with lines linecolor rgb '#D55E00' dashtype "
      "(10,4) linewidth 1.8 title 'c', \\\n"
      "     1 with lines linecolor rgb '#808080' dashtype (2,2) linewidth 1.2 title 'bound'\n");
}

TEST(Figure, TextCannotLeaveItsQuotes) {
  EXPECT_EQ(gnuplot_text("it's"), "'it''s'");
  EXPECT_EQ(gnuplot_text("a\nsystem('x')\t\xc2\x9b"),
            "'a?system(''x'')?"
            "?'");
}

TEST(Figure, AxisIsLogarithmicOnlyWhenNothingIsBelowZero) {
  const auto curve = [](double a, double b) {
    return std::vector<Curve>{
        {.label = "",
         .style = 0,
         .points = {{.x = 0, .middle = a, .lower = {}, .upper = {}, .n = 1},
                    {.x = 1, .middle = b, .lower = {}, .upper = {}, .n = 1}}}};
  };

  EXPECT_EQ(scale_for(curve(1, 100), 10), Scale::log);
  EXPECT_EQ(scale_for(curve(1, 9), 10), Scale::linear);
  EXPECT_EQ(scale_for(curve(-1, 100), 1), Scale::linear);
  EXPECT_EQ(scale_for(curve(0, 100), 0.5), Scale::log);
  EXPECT_EQ(scale_for({}, 10), Scale::linear);
}

class DrawnFigures : public ::testing::Test {
 protected:
  void SetUp() override {
    if (run_gnuplot(folder_.path(), "/dev/null").find("not installed") != std::string::npos) {
      GTEST_SKIP() << "gnuplot is not installed";
    }
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

TEST_F(DrawnFigures, AreTheSameBytesEveryTime) {
  const DrawnFigure first = draw(small_figure(), path());
  const DrawnFigure second = draw(small_figure(), path());

  EXPECT_EQ(first.problem, "");
  EXPECT_THAT(first.svg, HasSubstr("<text>a, b</text>"));
  EXPECT_EQ(first.svg, second.svg);
}

TEST_F(DrawnFigures, RunNothingThatANameSays) {
  FigureSpec spec = small_figure();
  const auto trap = path() / "sprung";
  spec.curves[0].label = "`touch sprung` '.system('touch sprung').' \\n \"";
  spec.curves[1].label = "<script>alert(1)</script>\n!touch sprung\n";
  spec.y_label = "@x ${HOME} $(touch sprung)";

  const DrawnFigure figure = draw(spec, path());

  EXPECT_EQ(figure.problem, "");
  EXPECT_FALSE(std::filesystem::exists(trap));
  EXPECT_THAT(figure.svg, Not(HasSubstr("<script")));
  EXPECT_THAT(figure.svg, HasSubstr("&lt;script"));
}

TEST_F(DrawnFigures, AreDrawnWhateverTheNumbers) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const Scale scale : {Scale::linear, Scale::log}) {
    for (const double odd : {kInf, kNan, -1.0, 0.0, 1e308, 5e-324}) {
      FigureSpec spec = small_figure();
      spec.y_scale = scale;
      spec.curves[0].points[1].middle = odd;
      spec.curves[0].points[1].lower = odd;
      spec.curves[0].points[1].upper = odd;

      EXPECT_EQ(draw(spec, path()).problem, "") << odd;
    }
  }
}

TEST_F(DrawnFigures, ThatFailLeaveTheNumbersAndTheScript) {
  std::filesystem::create_directories(path() / "loss.svg" / "in the way");

  const DrawnFigure figure = draw(small_figure(), path());

  EXPECT_THAT(figure.problem, HasSubstr("gnuplot failed; run 'gnuplot loss.gp'"));
  EXPECT_EQ(figure.svg, "");
  EXPECT_TRUE(std::filesystem::exists(path() / "loss.csv"));
  EXPECT_TRUE(std::filesystem::exists(path() / "loss.gp"));
}

TEST_F(DrawnFigures, InAPageTakeThePagesColourAndKeepTheirIdsApart) {
  const DrawnFigure figure = draw(small_figure(), path());

  const std::string svg =
      inline_svg(figure.svg, {.prefix = "loss", .description = "a \"description\""});

  EXPECT_THAT(svg, ::testing::StartsWith("<svg role=\"img\" aria-label=\"a &quot;description"));
  EXPECT_THAT(svg, Not(HasSubstr("black")));
  EXPECT_THAT(svg, HasSubstr("id='loss-gpDot'"));
  EXPECT_THAT(svg, Not(HasSubstr("id='gp")));
}

TEST(Gnuplot, ThatIsNotThereIsNamedWithItsPackage) {
  const TemporaryFolder folder;
  const std::string before = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  ::setenv("PATH", folder.path().c_str(), 1);      // NOLINT(concurrency-mt-unsafe)
  const DrawnFigure figure = draw(small_figure(), folder.path());
  ::setenv("PATH", before.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)

  EXPECT_THAT(figure.problem, HasSubstr("install the Debian package gnuplot-nox"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "loss.gp"));
}

TEST(Series, IsThinnedToTheSamePlacesForEquallyLongRuns) {
  ThinnedSeries series;
  for (std::uint64_t t = 0; t < 100000; ++t) {
    series.add({.iteration = t, .value = 1, .totals = {}});
  }

  EXPECT_LE(series.samples().size(), 2 * ThinnedSeries::kKept);
  EXPECT_GT(series.samples().size(), ThinnedSeries::kKept / 2);
  for (std::size_t i = 0; i < series.samples().size(); ++i) {
    ASSERT_EQ(series.samples()[i].iteration, i * series.stride());
  }
}

TEST(Series, HasTheMedianOverTheSeedsAndTheBytesSentBefore) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 3;
  study.write(folder.path());
  const ResultFolder results = read_result_folder(folder.path());

  const auto series =
      read_series(results, group_runs(results).front(), {Column::step_size, Column::xi});

  ASSERT_EQ(series[0].by_iteration.size(), 3U);
  EXPECT_EQ(series[0].by_iteration[2].x, 2);
  EXPECT_EQ(*series[0].by_iteration[2].middle, 0.05);
  EXPECT_EQ(series[0].by_iteration[2].n, 3U);
  const auto& by_bytes = series[0].against(Column::total_uplink_bytes);
  ASSERT_EQ(by_bytes.size(), 3U);
  EXPECT_EQ(by_bytes[0].x, 0);  // before the first iteration nothing was sent
  EXPECT_EQ(by_bytes[1].x, 10000);
  EXPECT_EQ(by_bytes[2].x, 20000);
  EXPECT_TRUE(series[0].against(Column::virtual_s).empty()) << "there is no clock";
  EXPECT_TRUE(series[1].by_iteration.empty());  // never measured
}

/// Versions of three gradients each; version t + 1 is made at (t + 1) seed seconds.
void make_late(Row& row, int seed) {
  const auto versions = static_cast<double>(row.iteration() + 1);
  row.set(Column::contributions, 3);
  row.set(Column::total_contributions, 3 * versions);
  row.set(Column::virtual_s, versions * seed);
}

TEST(Series, HasTheGradientsBeforeAndTheTimeOfEveryVersion) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 2;
  study.methods = {SyntheticMethod{.change = make_late}};
  study.write(folder.path());
  const ResultFolder results = read_result_folder(folder.path());

  const auto series = read_series(results, group_runs(results).front(), {Column::step_size});

  const auto& by_gradients = series[0].against(Column::total_contributions);
  ASSERT_EQ(by_gradients.size(), 2U);
  EXPECT_EQ(by_gradients[0].x, 0);
  EXPECT_EQ(by_gradients[1].x, 3);
  const auto& by_time = series[0].against(Column::virtual_s);
  ASSERT_EQ(by_time.size(), 2U);
  EXPECT_EQ(by_time[0].x, 2) << "the median of the seeds 1, 2 and 3";
  EXPECT_EQ(by_time[1].x, 4);
  EXPECT_EQ(by_time[1].n, 3U);
}

std::vector<std::string> names_of(const std::vector<ReportFigure>& figures) {
  std::vector<std::string> names;
  for (const auto& figure : figures) {
    names.push_back(figure.spec.name);
  }
  return names;
}

TEST(PlannedFigures, AreAgainstTimeAndGradientsWhereARunCountsThem) {
  SyntheticStudy study;
  const auto planned = [&study] {
    const TemporaryFolder folder;
    study.write(folder.path());
    const ResultFolder results = read_result_folder(folder.path());
    return plan_figures(results, group_runs(results)).figures;
  };
  study.methods = {SyntheticMethod{}};
  EXPECT_THAT(
      names_of(planned()),
      ::testing::ElementsAre("loss-gap", "loss-gap-bytes", "gradient", "delta", "residual"));

  study.methods.push_back(SyntheticMethod{.density = 0.1, .change = make_late});
  const auto figures = planned();
  EXPECT_THAT(names_of(figures),
              ::testing::ElementsAre("loss-gap",
                                     "loss-gap-bytes",
                                     "loss-gap-time",
                                     "loss-gap-gradients",
                                     "gradient",
                                     "delta",
                                     "residual"));
  EXPECT_EQ(figures[1].spec.curves.size(), 2U);
  EXPECT_EQ(figures[1].spec.x_scale, Scale::log);
  for (const std::size_t i : {2U, 3U}) {
    ASSERT_EQ(figures[i].spec.curves.size(), 1U);
    EXPECT_EQ(figures[i].spec.curves[0].style, 1U) << "a method looks the same in all figures";
    EXPECT_EQ(figures[i].spec.curves[0].points.size(), study.iterations);
    EXPECT_EQ(figures[i].spec.x_scale, Scale::linear);
  }
  EXPECT_EQ(figures[2].spec.x_label, "virtual time, s");
  EXPECT_EQ(figures[3].spec.x_label, "gradients");
}

TEST(Facets, SplitByTheKeyThatNeedsTheFewest) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.seeds = 1;
  study.iterations = 1;
  study.methods.clear();
  for (const double density : {0.001, 0.01, 0.1}) {
    for (const char* aggregator : {"allgather", "gtopk-exact", "gtopk-tree", "gtopk-mask"}) {
      study.methods.push_back(SyntheticMethod{.aggregator = aggregator, .density = density});
    }
  }
  study.write(folder.path());
  const ResultFolder results = read_result_folder(folder.path());

  const auto facets = split_into_facets(results, group_runs(results));

  ASSERT_EQ(facets.size(), 3U);
  EXPECT_EQ(facets[1].title, "sparsifier.density = 0.01");
  EXPECT_EQ(facets[1].groups, (std::vector<std::size_t>{4, 5, 6, 7}));
  EXPECT_EQ(facets[1].styles, facets[2].styles);  // a method looks the same in each
}

}  // namespace
}  // namespace residuum::reports
