// Heat maps as files, against texts that were written by hand.

#include "reports/figures/heat_map.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/error.h"
#include "reports/figures/draw.h"
#include "reports/figures/paper_figure.h"
#include "reports/page/report.h"
#include "reports/results/files.h"
#include "reports/summaries/collect.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::SyntheticMethod;
using testing::SyntheticStudy;

HeatMap two_by_three() {
  return {.name = "phase-delta",
          .title = "δ, median",
          .row_key = "workers.count",
          .column_key = "feedback.putback",
          .rows = {"4", "8"},
          .columns = {"a,b", "50 %", "c"},
          .cells = {1, 10, 100, 1000, std::nullopt, std::numeric_limits<double>::infinity()}};
}

TEST(HeatMap, HasItsNumbersAndTheirShades) {
  EXPECT_EQ(heat_map_csv(two_by_three()),
            "row,column,value,shade\n0,0,1,0\n0,1,10,1\n0,2,100,2\n1,0,1000,3\n1,1,nan,nan\n"
            "1,2,nan,nan\n");
  EXPECT_EQ(heat_map_axes_csv(two_by_three()),
            "axis,place,key,value\nrow,0,workers.count,4\nrow,1,workers.count,8\n"
            "column,0,feedback.putback,\"a,b\"\ncolumn,1,feedback.putback,50 %\n"
            "column,2,feedback.putback,c\n");
}

TEST(HeatMap, IsShadedByTheLogarithmOnlyWhereNumbersDifferMoreThanTwentyfold) {
  HeatMap map = two_by_three();
  EXPECT_TRUE(map.is_log());
  map.cells = {1, 20, 1, 1, 1, 1};
  EXPECT_FALSE(map.is_log());
  map.cells = {0, 1000, 1, 1, 1, 1};
  EXPECT_FALSE(map.is_log()) << "zero has no logarithm";
  EXPECT_THAT(heat_map_csv(map), HasSubstr("0,1,1000,1000\n"));
}

TEST(HeatMap, IsAPictureOfPgfplots) {
  const std::string tex = heat_map_tex(two_by_three());
  EXPECT_THAT(
      tex,
      StartsWith(
          R"(% Draws phase-delta.csv. The document needs \usepackage{pgfplots} and \pgfplotsset{compat=1.16},
% and phase-delta.csv beside this file.
\begingroup%
\def\residuumfolder{}%
\ifdefined\CurrentFilePath\ifx\CurrentFilePath\empty\else
  \edef\residuumfolder{\CurrentFilePath/}\fi\fi%
\let\residuumfont\normalfont\let\residuumsmall\footnotesize%
\begin{minipage}[b]{\linewidth}\parindent0pt\raggedright
\begin{tikzpicture}[font=\residuumfont]
)"));
  EXPECT_THAT(tex, HasSubstr("xlabel={feedback.putback}, ylabel={workers.count},"));
  EXPECT_THAT(tex, HasSubstr("xticklabels={{a,b},{50 \\%},{c}}"));
  EXPECT_THAT(tex, HasSubstr("point meta min=0, point meta max=3,"));
  EXPECT_THAT(tex, ::testing::Not(HasSubstr("title"))) << "it is for the caption";
  EXPECT_THAT(tex, HasSubstr("text=white] at (axis cs:1,0) {10};\n"));
  EXPECT_THAT(tex, HasSubstr("text=black] at (axis cs:0,1) {1000};\n"));
  EXPECT_THAT(tex, ::testing::Not(HasSubstr("(axis cs:1,1)"))) << "that cell has no number";
}

TEST(HeatMap, IsAPictureOfGnuplot) {
  const testing::TemporaryFolder folder;

  const DrawnFigure drawn = draw(two_by_three(), folder.path());

  if (drawn.problem.find("not installed") != std::string::npos) {
    GTEST_SKIP() << drawn.problem;
  }
  EXPECT_EQ(drawn.problem, "");
  // The colours of viridis for 1 and 1000, the least and the largest; their logarithms are even.
  for (const char* text : {"rgb( 68,   1,  84)",
                           "rgb(253, 231,  37)",
                           ">a,b<",
                           ">50 %<",
                           ">100<",
                           ">1000<",
                           ">δ, median<",
                           ">logarithm to the base 10<"}) {
    EXPECT_THAT(drawn.svg, HasSubstr(text));
  }
  EXPECT_THAT(drawn.svg, ::testing::Not(HasSubstr("nan"))) << "cells without a number are empty";
  EXPECT_EQ(read_file(folder.path() / "phase-delta.gp"), heat_map_gp(two_by_three()));
  EXPECT_EQ(drawn.has_pdf, std::filesystem::exists(folder.path() / "phase-delta.pdf"));
}

// gnuplot 5.4 reads no text such as "1e-05" as a number, and has no scale of colours from a number
// to the same one.
TEST(HeatMap, IsDrawnWhateverItsNumbers) {
  const testing::TemporaryFolder folder;
  for (const double value : {1e-5, 1e30, 1e200, -4e-300, 8.9e15, 0.0}) {
    for (const double other : {value, value * (1 + 1e-15), 2.0}) {
      HeatMap map = two_by_three();
      map.cells = {value, other, std::nullopt, std::nullopt, std::nullopt, std::nullopt};
      const DrawnFigure drawn = draw(map, folder.path());
      if (drawn.problem.find("not installed") != std::string::npos) {
        GTEST_SKIP() << drawn.problem;
      }
      EXPECT_EQ(drawn.problem, "") << value << " and " << other;
    }
  }
}

TEST(HeatMap, HasTheSizeOfAPaper) {
  HeatMap map = two_by_three();
  map.paper = PaperSize{.width_mm = 3 * 25.4, .font_pt = 9};
  EXPECT_THAT(heat_map_gp(map), HasSubstr("set terminal svg size 288,"));
  EXPECT_THAT(heat_map_gp(map), HasSubstr("set terminal pdfcairo size 3in,"));
  EXPECT_THAT(heat_map_gp(map), HasSubstr("font 'sans-serif,12'"));
  EXPECT_THAT(heat_map_gp(map), HasSubstr("font 'sans-serif,9' fontscale 0.75\n"));
  EXPECT_THAT(heat_map_gp(map), ::testing::Not(HasSubstr("set title"))) << "the caption has it";
  EXPECT_THAT(heat_map_tex(map), HasSubstr("\\begin{minipage}[b]{76.2mm}"));
  EXPECT_THAT(heat_map_tex(map), HasSubstr("\\def\\residuumfont{\\fontsize{9}{10.8}\\selectfont}"));
}

TEST(HeatMap, IsRefusedWhereTheNumbersInItsCellsTouch) {
  const testing::TemporaryFolder folder;
  HeatMap map = two_by_three();
  map.cells = {0.123, 0.234, 0.345, 0.456, 0.567, 0.678};
  const double least = least_map_width(map, 8);
  EXPECT_GT(least, 20);
  EXPECT_LT(least_map_width(map, 5), least);
  map.paper = PaperSize{.width_mm = least - 1, .font_pt = 8};
  try {
    write_paper_figure(map, folder.path() / "map.tex");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr(fmt::format("need {:.0f} mm in letters of 8 pt", least)));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  map.paper->width_mm = least;
  write_paper_figure(map, folder.path() / "map.tex");
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "map.tex"));
}

TEST(HeatMap, HasTheNamesOfKeysOnItsAxes) {
  HeatMap map = two_by_three();
  map.row_title = "ρ";
  EXPECT_THAT(heat_map_tex(map), HasSubstr("ylabel={$\\rho$}"));
  EXPECT_THAT(heat_map_gp(map), HasSubstr("set ylabel 'ρ'"));
  EXPECT_THAT(heat_map_axes_csv(map), HasSubstr("row,0,workers.count,4\n")) << "keys for programs";
}

TEST(HeatMap, OfASweptStudyLiesBesideItsFigures) {
  const testing::TemporaryFolder folder;
  SyntheticStudy study;
  study.methods.clear();
  for (const char* putback : {"captured", "published"}) {
    for (const double density : {0.01, 0.1, 0.5}) {
      const double peak = 0.9 + density;
      study.methods.push_back({.putback = putback, .density = density, .delta_peak = peak});
    }
  }
  study.write(folder.path());

  const Report report = write_report(collect(folder.path()));

  const auto figures = folder.path() / "figures";
  for (const char* name : {"phase-delta", "phase-contraction", "phase-loss-gap"}) {
    const std::string csv = read_file(figures / (std::string(name) + ".csv"));
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 7) << name;
    EXPECT_THAT(read_file(figures / (std::string(name) + ".axes.csv")),
                HasSubstr("row,1,feedback.putback,published\n"));
    for (const char* ending : {".axes.csv", ".gp", ".tex", ".svg", ".pdf"}) {
      const std::string file = std::string(name) + ending;
      const bool is_drawing = ending[1] == 's' || ending[1] == 'p';
      if (is_drawing && !report.problems.empty()) {
        continue;  // no gnuplot
      }
      EXPECT_TRUE(std::filesystem::exists(figures / file)) << file;
      EXPECT_THAT(read_file(report.file), HasSubstr("href=\"figures/" + file));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(figures / "phase-loss.csv")) << "the gap is known";
}

}  // namespace
}  // namespace residuum::reports
