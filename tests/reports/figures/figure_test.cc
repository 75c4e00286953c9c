#include "reports/figures/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <set>
#include <utility>

#include "reports/analysis/groups.h"
#include "reports/analysis/series.h"
#include "reports/figures/draw.h"
#include "reports/figures/drawn_text.h"
#include "reports/figures/gnuplot_script.h"
#include "reports/figures/pgfplots.h"
#include "reports/figures/report_figures.h"
#include "reports/page/figure_writer.h"
#include "reports/results/files.h"
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

TEST(Figure, NumbersAreWrittenAsTheyAreAndGapsAsNan) {
  EXPECT_EQ(figure_csv(small_figure()),
            "curve,x,median,lower,upper,n\n"
            "0,0,2,1,3,2\n"
            "0,1,0.5,0.5,0.5,2\n"
            "1,0,4,4,4,1\n"
            "1,1,nan,,,1\n");
}

TEST(Figure, NamesStandInATableOfTheirOwn) {
  EXPECT_EQ(curves_csv(small_figure()),
            "curve,label,colour,dash,marker,is_bound\n"
            "0,\"a, b\",#0072B2,,circle,0\n"
            "1,c,#D55E00,10 4,square,0\n");
}

TEST(Figure, ScriptIsAsExpected) {
  EXPECT_EQ(figure_gp(small_figure()),
            R"gp(# Draws loss.svg and loss.pdf from loss.csv: run `gnuplot loss.gp` in this folder.
set encoding utf8
set terminal svg size 720,378 dynamic enhanced font 'sans-serif,14' background '#ffffff'
set output 'loss.svg'
pdf = 0
set datafile separator comma
set samples 2
set border 3 linewidth 0.7
set tics nomirror out scale 0.6
set grid y linecolor rgb '#d0d0d0' dashtype 1 linewidth 0.4
set key below left Left reverse samplen 3 spacing 1.1 maxcols 6 noenhanced
set xlabel 'iteration' offset 0,0.6 noenhanced
set ylabel 'f(w)' noenhanced
set origin 0,0.0476
set size 1,0.9524
set label 1 'median, IQR over 2 seeds' at screen 0.012,0.0262 left noenhanced font ',11' textcolor rgb '#606060'
set format x '%g'
set logscale y
set format y '10^{%T}'
low = 0.1
high = 10
set yrange [low:high]
clip(y) = y < low ? low : (y > high ? high : y)
shown_x(x) = x
shown_y(y) = y > 0 ? y : NaN
plot 'loss.csv' skip 1 every ::0::1 using (shown_x($2)):(clip($4)):(clip($5)) with filledcurves fillcolor rgb '#0072B2' fillstyle transparent solid 0.18 noborder notitle, \
     'loss.csv' skip 1 every ::0::1 using (shown_x($2)):(shown_y($3)) with linespoints pointtype 7 pointsize 0.6 pointinterval 1 linecolor rgb '#0072B2' dashtype 1 linewidth 1.8 title 'a, b', \
     'loss.csv' skip 1 every ::2::3 using (shown_x($2)):(shown_y($3)) with linespoints pointtype 5 pointsize 0.6 pointinterval 1 linecolor rgb '#D55E00' dashtype (10,4) linewidth 1.8 title 'c', \
     1 with lines linecolor rgb '#808080' dashtype (1,3) linewidth 1.2 title 'bound'
if (strstrt(GPVAL_TERMINALS, 'pdfcairo') > 0) {
  set terminal pdfcairo size 7in,3.675in enhanced font 'sans-serif,7.33' fontscale 0.75
  set output 'loss.pdf'
  pdf = 1
  replot
}
)gp");
}

TEST(Figure, PgfplotsIsAsExpected) {
  EXPECT_EQ(figure_tex(small_figure()),
            R"tex(% Draws loss.csv. The document needs \usepackage{pgfplots},
% \usepgfplotslibrary{fillbetween} and \pgfplotsset{compat=1.16}, and loss.csv beside this file:
% \input{folder/loss.tex} finds it.
% median, IQR over 2 seeds
\begingroup%
\def\residuumfolder{}%
\ifdefined\CurrentFilePath\ifx\CurrentFilePath\empty\else
  \edef\residuumfolder{\CurrentFilePath/}\fi\fi%
\let\residuumsmall\footnotesize%
\definecolor{residuum0}{HTML}{0072B2}%
\definecolor{residuum1}{HTML}{D55E00}%
\begin{minipage}[b]{\linewidth}\parindent0pt\raggedright
\begin{tikzpicture}[font=\normalfont]
\begin{axis}[
  scale only axis, width={\linewidth-6.2em}, height={0.62*(\linewidth-4em)},
  xlabel={iteration}, ylabel={$f(w)$},
  xmode=linear, ymode=log, ymin=0.1, ymax=10,
  unbounded coords=jump, filter discard warning=false, axis lines=left, ymajorgrids,
  major grid style={line width=0.2pt, black!14}, clip mode=individual,
  label style={font=\normalfont, align=center, inner sep=1pt},
  tick label style={font=\normalfont, inner sep=2pt},
  xlabel style={text width={\linewidth-6.2em+1em}}, ylabel style={text width={0.62*(\linewidth-4em)+1em}},
]
\addplot[draw=none, forget plot, no marks, name path=lower0,
  restrict y to domain*=-2.30259:2.30259]
  table[col sep=comma, x=x, y=lower, restrict expr to domain={\thisrow{curve}}{0:0}] {"\residuumfolder loss.csv"};
\addplot[draw=none, forget plot, no marks, name path=upper0,
  restrict y to domain*=-2.30259:2.30259]
  table[col sep=comma, x=x, y=upper, restrict expr to domain={\thisrow{curve}}{0:0}] {"\residuumfolder loss.csv"};
\addplot[residuum0, draw=none, fill=residuum0, fill opacity=0.18, forget plot]
  fill between[of=lower0 and upper0];
\addplot[residuum0, line width=0.9pt, solid, mark=*, mark size=1.3pt, mark repeat=1, mark options={solid}]
  table[col sep=comma, x=x, y=median, restrict expr to domain={\thisrow{curve}}{0:0}] {"\residuumfolder loss.csv"};
\addplot[residuum1, line width=0.9pt, dash pattern=on 6pt off 2.4pt, mark=square*, mark size=1.3pt, mark repeat=1, mark options={solid}]
  table[col sep=comma, x=x, y=median, restrict expr to domain={\thisrow{curve}}{1:1}] {"\residuumfolder loss.csv"};
\addplot[gray, line width=0.6pt, line cap=round, dash pattern=on 0pt off 2.4pt, no marks] coordinates {(0,1) (1,1)};
\end{axis}
\end{tikzpicture}\par
\vskip0.4em\raggedright\emergencystretch0pt%
\def\residuumentry#1#2{\parbox[t]{\dimexpr\linewidth/3\relax}{\raggedright\hyphenpenalty10000
  \hangindent2.7em\hangafter1\leavevmode\hbox to2.7em{\tikz[baseline=-0.55ex]\draw[#1]
  plot coordinates {(0,0) (1.1em,0) (2.2em,0)};\hfil}#2\strut}\allowbreak}%
\noindent\residuumentry{residuum0, line width=0.9pt, solid, mark=*, mark size=1.3pt, mark repeat=2, mark phase=2, mark options={solid}}{a, b}%
\residuumentry{residuum1, line width=0.9pt, dash pattern=on 6pt off 2.4pt, mark=square*, mark size=1.3pt, mark repeat=2, mark phase=2, mark options={solid}}{c}%
\residuumentry{gray, line width=0.6pt, line cap=round, dash pattern=on 0pt off 2.4pt}{bound}%
\par
\end{minipage}%
\endgroup
)tex");
}

TEST(Figure, BoundsAreThinGreyAndDashed) {
  for (std::size_t i = 0; i < 9; ++i) {
    const LineStyle style = style_of({.label = "", .style = i, .points = {}, .is_bound = true});

    EXPECT_EQ(style.colour, "#808080");
    EXPECT_LT(style.width, line_style(i).width);
    EXPECT_FALSE(style.dash.empty());
    EXPECT_EQ(style.marker, "");
  }
}

TEST(Figure, StylesOfFiftySixMethodsDifferWithoutTheDash) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < 56; ++i) {
    const LineStyle style = line_style(i);
    EXPECT_TRUE(seen.emplace(style.colour, style.marker).second) << i;
  }
}

TEST(Figure, NoteSaysWhatTheBandsAreAndCountsTheGaps) {
  FigureSpec spec = small_figure();
  EXPECT_EQ(note_under(spec), "median, IQR over 2 seeds");

  spec.curves[0].points[1].middle = 0;
  EXPECT_EQ(note_under(spec),
            "median, IQR over 2 seeds; 1 value ≤ 0 left out of a logarithmic axis");

  spec.curves[1].points[0].middle = -3;
  spec.curves[1].points[0].n = 5;
  EXPECT_EQ(note_under(spec),
            "median, IQR over 2 to 5 seeds; 2 values ≤ 0 left out of a logarithmic axis");

  spec.y_scale = Scale::linear;
  EXPECT_EQ(note_under(spec), "median, IQR over 2 to 5 seeds");

  spec = small_figure();
  spec.curves[0].points[0].n = 8;  // and 2 at its end
  EXPECT_EQ(band_text(spec), "median, IQR over 2 to 8 seeds");
}

TEST(Figure, NoteSaysHowManyValuesAreCutOffAboveTheAxis) {
  FigureSpec spec = small_figure();
  spec.reference.reset();
  spec.curves[1].points.push_back({.x = 2, .middle = 3e20, .lower = {}, .upper = {}, .n = 1});
  EXPECT_EQ(y_range(spec).high, 1e7);
  EXPECT_EQ(note_under(spec), "median, IQR over 2 seeds; 1 value above 1e+07 cut off");
  spec.curves[1].points.push_back({.x = 3, .middle = 4e20, .lower = {}, .upper = {}, .n = 1});
  EXPECT_THAT(figure_gp(spec), HasSubstr("; 2 values above 1e+07 cut off'"));
}

TEST(Figure, AnIndexOfOneSignStandsBelowTheLine) {
  EXPECT_EQ(gnuplot_drawn("f(z_0) − f(z_T)").argument, "'f(z_{0}) − f(z_{T})'");
  EXPECT_EQ(gnuplot_drawn("f(z_0) − f(z_T)").mode, "enhanced");
  EXPECT_EQ(gnuplot_drawn("X_T, a_method {x}^2 @ & ~ \\").argument,
            "'X_{T}, a\\_method \\{x\\}\\^2 \\@ \\& \\~ \\\\'");
  EXPECT_EQ(gnuplot_drawn("a_method").argument, "'a_method'");
  EXPECT_EQ(gnuplot_drawn("a_method").mode, "noenhanced");
  FigureSpec spec = small_figure();
  spec.y_label = spec.curves[0].label = "f(z_T)";
  EXPECT_THAT(figure_gp(spec), HasSubstr("set ylabel 'f(z_{T})' enhanced\n"));
  EXPECT_THAT(figure_gp(spec), HasSubstr(" title 'f(z_{T})' enhanced"));
  spec.paper = PaperSize{};
  EXPECT_THAT(figure_gp(spec), HasSubstr(" 'f(z_{T})' at screen "));
}

// A character that no font has is drawn as a frame which fills the page.
TEST(Figure, CharactersThatFontsMayLackAreNotInAPdf) {
  EXPECT_EQ(with_known_glyphs("Łukasz ✓ δ² 中文 🚀 –"), "Łukasz ✓ δ² ?? ? –");
  EXPECT_THAT(unknown_glyphs("中文中 🚀 é"), ::testing::ElementsAre("中", "文", "🚀"));
  const std::string in_pdf = "(pdf ? '" + std::string(4, '?') + "' : '中文标签')";
  FigureSpec spec = small_figure();
  spec.curves[0].label = "中文标签";
  const std::string on_page = figure_gp(spec);
  EXPECT_THAT(on_page, HasSubstr(" title " + in_pdf));
  EXPECT_LT(on_page.find("pdf = 0\n"), on_page.find("\nplot "));
  EXPECT_LT(on_page.find("pdf = 1\n"), on_page.find("  replot"));
  spec.paper = PaperSize{};
  const std::string on_paper = figure_gp(spec);
  EXPECT_GT(on_paper.rfind(in_pdf + " at"), on_paper.find("pdf = 1\n"));
}

TEST(Figure, LabelsThatAreVeryLongAreDrawnWithoutTheirMiddle) {
  EXPECT_EQ(drawn_label("gtopk-tree, rho=0.01"), "gtopk-tree, rho=0.01");
  std::string name;
  for (int i = 0; i < 300; ++i) {
    name += "ж";
  }

  const std::string drawn = drawn_label(name + "end");

  EXPECT_TRUE(drawn.ends_with("жend"));
  EXPECT_THAT(drawn, HasSubstr("ж…ж"));
  EXPECT_LT(drawn.size(), 200U);
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
  EXPECT_TRUE(std::filesystem::exists(path() / "loss.tex"));
}

/// Returns what a command writes; nothing when it cannot be run.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");  // NOLINT(cert-env33-c): fixed programs
  std::array<char, 4096> buffer{};
  while (pipe != nullptr && std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
    text += buffer.data();
  }
  if (pipe != nullptr) {
    ::pclose(pipe);
  }
  return text;
}

TEST_F(DrawnFigures, AreAPdfWithTheSameWords) {
  if (output_of("command -v pdftotext").empty()) {
    GTEST_SKIP() << "pdftotext is not installed (poppler-utils)";
  }
  const DrawnFigure figure = draw(small_figure(), path());
  if (!figure.has_pdf) {
    GTEST_SKIP() << "this gnuplot cannot write PDF";
  }

  const std::string text = output_of("pdftotext " + (path() / "loss.pdf").string() + " -");

  for (const char* word : {"a, b", "bound", "iteration", "f(w)", "median, IQR over 2 seeds"}) {
    EXPECT_THAT(text, HasSubstr(word));
  }
}

TEST_F(DrawnFigures, HaveSubscriptsAndNoUnknownCharactersInAPdf) {
  if (output_of("command -v pdftotext").empty()) {
    GTEST_SKIP() << "pdftotext is not installed (poppler-utils)";
  }
  FigureSpec spec = small_figure();
  spec.curves[0].label = "f(z_T) of a_method 中文 🚀";
  for (const bool is_paper : {false, true}) {
    spec.paper = is_paper ? std::optional(PaperSize{}) : std::nullopt;
    const DrawnFigure figure = draw(spec, path());
    EXPECT_EQ(figure.problem, "");
    EXPECT_THAT(figure.svg, HasSubstr("中文"));
    EXPECT_THAT(figure.svg, ::testing::Not(HasSubstr("z_T")));
    if (!figure.has_pdf) {
      GTEST_SKIP() << "this gnuplot cannot write PDF";
    }
    const std::string text = output_of("pdftotext " + (path() / "loss.pdf").string() + " -");
    EXPECT_THAT(text, HasSubstr("of a_method ?? ?"));
  }
}

TEST_F(DrawnFigures, InAPageTakeThePagesColourAndKeepTheirIdsApart) {
  const DrawnFigure figure = draw(small_figure(), path());

  const std::string svg =
      inline_svg(figure.svg, {.prefix = "loss", .description = "a \"description\""});

  EXPECT_THAT(svg, ::testing::StartsWith("<svg role=\"img\" aria-label=\"a &quot;description"));
  EXPECT_THAT(svg, Not(HasSubstr("black")));
  EXPECT_THAT(svg, HasSubstr("id='loss-gpPt4'"));
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

}  // namespace
}  // namespace residuum::reports
