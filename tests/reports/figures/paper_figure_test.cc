// A figure in the size of a paper, in a file of its own.

#include "reports/figures/paper_figure.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "core/error.h"
#include "reports/figures/draw.h"
#include "reports/figures/gnuplot_script.h"
#include "reports/figures/paper_layout.h"
#include "reports/figures/pgfplots.h"
#include "reports/results/files.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::TemporaryFolder;

FigureSpec paper_figure(double width_mm = 82.5, double font_pt = 8) {
  FigureSpec spec;
  spec.name = "loss";
  spec.x_label = "iteration";
  spec.y_label = "f(w) − f*";
  spec.curves = {{.label = "a",
                  .style = 0,
                  .points = {{.x = 0, .middle = 1, .lower = 1, .upper = 1.2, .n = 3},
                             {.x = 100, .middle = 2, .lower = 1.9, .upper = 2, .n = 3}}}};
  spec.paper = PaperSize{.width_mm = width_mm, .font_pt = font_pt};
  return spec;
}

/// A bound at one height over x = 0, 1, ... 100.
Curve bound_at(double y) {
  Curve curve{.label = "bound", .style = 0, .points = {}, .is_bound = true};
  for (int x = 0; x <= 100; ++x) {
    curve.points.push_back(
        {.x = static_cast<double>(x), .middle = y, .lower = {}, .upper = {}, .n = 1});
  }
  return curve;
}

std::string message_for(const std::filesystem::path& file) {
  try {
    write_paper_figure(paper_figure(), file);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// 82.5 mm are 311.8 pixels of 1/96 inch and 3.248 inches; 8 points are 10.67 pixels.
TEST(PaperFigure, HasTheWidthAndTheLettersThatWereAskedFor) {
  const std::string script = figure_gp(paper_figure());

  EXPECT_THAT(script, HasSubstr("set terminal svg size 312,"));
  EXPECT_THAT(script, HasSubstr("font 'sans-serif,10.67'"));
  EXPECT_THAT(script, HasSubstr("set terminal pdfcairo size 3.248in,"));
  EXPECT_THAT(script, HasSubstr("font 'sans-serif,8' fontscale 0.75"));
  EXPECT_THAT(script, Not(HasSubstr("over 3 seeds"))) << "the caption says what the band is";
  const std::string tex = figure_tex(paper_figure());
  EXPECT_THAT(tex, HasSubstr("\\begin{minipage}[b]{82.5mm}"));
  EXPECT_THAT(tex, HasSubstr("\\fontsize{8}{9.6}"));
}

TEST(PaperFigure, FormatsHaveDifferentNamesAndWidthsThatCanBeRead) {
  for (const auto& format : paper_formats()) {
    EXPECT_GE(format.size.width_mm, kLeastFigureWidth) << format.name;
    EXPECT_LE(format.size.width_mm, 160) << "beamer's page";
    EXPECT_GE(format.size.font_pt, 6) << format.name;
  }
}

TEST(PaperFigure, LegendsOfLongLabelsAreSmallerAndThenBroken) {
  FigureSpec spec = paper_figure();
  spec.curves[0].label = std::string(40, 'x');
  EXPECT_THAT(figure_gp(spec), HasSubstr("'" + std::string(40, 'x') + "'"));
  spec.curves[0].label = std::string(60, 'x');
  EXPECT_THAT(figure_gp(spec), HasSubstr("noenhanced font ',8'\n")) << "0.75 of 10.67 pixels";
  EXPECT_THAT(figure_gp(spec), Not(HasSubstr(std::string(60, 'x')))) << "it has two lines";
  EXPECT_THAT(figure_gp(spec), Not(HasSubstr("…")));
  EXPECT_THAT(figure_tex(spec), HasSubstr("\\fontsize{6}{7.2}"));
}

TEST(PaperFigure, IsRefusedBelowTheWidthThatItsLabelsNeed) {
  const TemporaryFolder folder;
  FigureSpec spec = paper_figure(26);
  spec.curves[0].label = "sparsified descent with error feedback";
  try {
    write_paper_figure(spec, folder.path() / "fig.tex");
    FAIL() << "it was written";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("26 mm are too narrow"));
    EXPECT_THAT(error.what(), HasSubstr(fmt::format("need {:.0f} mm", least_paper_width(spec, 8))));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  spec.paper->width_mm = least_paper_width(spec, 8);
  write_paper_figure(spec, folder.path() / "fig.tex");
  EXPECT_LT(least_paper_width(spec, 5), spec.paper->width_mm) << "smaller letters need less";
}

TEST(PaperFigure, BoundsHaveAMarkAtTheirCurveAndInTheLegend) {
  FigureSpec spec = paper_figure();
  spec.curves.push_back(bound_at(1.5));
  spec.curves.push_back(bound_at(1.5));

  const auto marks = bound_marks(spec);

  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0].text, "(a)");
  EXPECT_EQ(marks[1].text, "(b)");
  EXPECT_EQ(marks[0].x, 94) << "of an axis from 0 to 100";
  EXPECT_EQ(marks[1].x, 83) << "bounds that coincide have marks side by side";
  EXPECT_EQ(marks[0].y, 1.5);
  EXPECT_EQ(legend_label(spec, 0), "a");
  EXPECT_EQ(legend_label(spec, 2), "(b) bound");
  EXPECT_THAT(figure_gp(spec), HasSubstr("set label 3 '(b)' at 83,1.5 center"));
  EXPECT_THAT(figure_tex(spec), HasSubstr("at (axis cs:83,1.5) {(b)};"));
}

TEST(PaperFigure, ALegendHasTheWholeFormulaOfABoundOrNone) {
  FigureSpec spec = paper_figure();
  spec.curves.push_back(bound_at(1.5));
  spec.curves.back().label = "some-theorem: 2Δ/Ση";
  EXPECT_EQ(legend_label(spec, 1), "(a) some-theorem: 2Δ/Ση");
  EXPECT_EQ(legend_label(spec, 1, 20), "(a) some-theorem");
  spec.curves.back().label += std::string(80, 'x');
  EXPECT_EQ(legend_label(spec, 1), "(a) some-theorem");
  spec.paper.reset();
  EXPECT_THAT(figure_gp(spec), HasSubstr("title '(a) some-theorem'"));
}

TEST(PaperFigure, BoundsThatLieOffTheAxesHaveNoMark) {
  FigureSpec spec = paper_figure();
  spec.y_scale = Scale::log;
  spec.curves.push_back(bound_at(0));

  EXPECT_TRUE(bound_marks(spec).empty());
}

TEST(PaperFigure, CurvesWithoutAPointOnTheAxesAreNotInTheLegend) {
  FigureSpec spec = paper_figure();
  spec.y_scale = Scale::log;
  for (auto& point : spec.curves[0].points) {
    point.middle = point.lower = point.upper = 0;
  }

  EXPECT_THAT(figure_tex(spec), Not(HasSubstr("\\residuumentry{residuum0, ")));
  EXPECT_THAT(figure_tex(spec), Not(HasSubstr("\\addplot")));
  EXPECT_EQ(layout_paper(spec).legend.entries.size(), spec.curves.size() - 1);
  spec.paper.reset();
  EXPECT_THAT(figure_gp(spec), Not(HasSubstr("title 'a'")));
}

// The pattern is that of style_of's dashes: lengths of line and gap.
TEST(PaperFigure, TheReferenceIsDottedInEveryFormat) {
  FigureSpec spec = paper_figure();
  spec.reference = Reference{.y = 1, .label = "one"};

  ASSERT_EQ(reference_style().dash, (std::vector<int>{1, 3}));
  EXPECT_THAT(figure_gp(spec), HasSubstr("1 with lines linecolor rgb '#808080' dashtype (1,3)"));
  EXPECT_THAT(figure_tex(spec),
              HasSubstr("line cap=round, dash pattern=on 0pt off 2.4pt, no marks] coordinates"));
}

// Dashes of 12 and 3 units of 0.6 pt on a line of 0.9 pt: 7.2 less the caps, and dots of no length.
TEST(PaperFigure, DotsAreToldFromDashesInLatex) {
  FigureSpec spec;
  spec.name = "styles";
  for (std::size_t style : {2U, 3U}) {
    spec.curves.push_back(
        {.label = "a", .style = style, .points = {Point{1, 1, {}, {}, 1}, Point{2, 2, {}, {}, 1}}});
  }
  const std::string tex = figure_tex(spec);
  EXPECT_THAT(tex, HasSubstr("line cap=round, dash pattern=on 0pt off 3.6pt"));
  EXPECT_THAT(tex, HasSubstr("line cap=round, dash pattern=on 6.3pt off 3.15pt on 0pt off 3.15pt"));
}

TEST(PaperFigure, IsWrittenForLatexWithItsNumbersBesideIt) {
  const TemporaryFolder folder;
  write_paper_figure(paper_figure(), folder.path() / "fig-1.tex");

  EXPECT_THAT(read_file(folder.path() / "fig-1.tex"),
              HasSubstr("{\"\\residuumfolder fig-1.csv\"}"));
  EXPECT_EQ(read_file(folder.path() / "fig-1.csv"), figure_csv(paper_figure()));

  write_paper_figure(paper_figure(30), folder.path() / "fig-1.tex");  // takes its own place
  EXPECT_THAT(read_file(folder.path() / "fig-1.tex"), HasSubstr("30mm"));
}

TEST(PaperFigure, TakesNoPlaceThatIsNotItsOwn) {
  const TemporaryFolder folder;
  const auto at = [&](const char* name) { return folder.path() / name; };
  write_file_atomically(at("data.csv"), "my,own\n1,2\n");
  std::filesystem::create_directories(at("folder.svg"));

  EXPECT_THAT(message_for(at("data.tex")), HasSubstr("which is no figure's; name another"));
  EXPECT_THAT(message_for(at("folder.svg")), HasSubstr("is no plain file"));
  EXPECT_THAT(message_for(at("fig.png")), HasSubstr("must end in .pdf, .svg or .tex"));
  EXPECT_EQ(message_for(at("lab_delta.tex")), "");
  EXPECT_THAT(message_for(at("a b.tex")), HasSubstr("TeX needs a name of letters"));
  EXPECT_THAT(message_for(at("none") / "fig.tex"), HasSubstr("there is no folder"));
  EXPECT_EQ(read_file(at("data.csv")), "my,own\n1,2\n");
  EXPECT_FALSE(std::filesystem::exists(at("data.tex")));
}

TEST(PaperFigure, IsDrawnInMillimetres) {
  const TemporaryFolder folder;
  if (run_gnuplot(folder.path(), "/dev/null").find("not installed") != std::string::npos) {
    GTEST_SKIP() << "gnuplot is not installed";
  }
  write_paper_figure(paper_figure(), folder.path() / "fig.svg");

  EXPECT_THAT(read_file(folder.path() / "fig.svg"), HasSubstr("width=\"82.5mm\" height=\""));
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(files, std::filesystem::directory_iterator()), 1)
      << "scripts and numbers are made elsewhere";
}

}  // namespace
}  // namespace residuum::reports
