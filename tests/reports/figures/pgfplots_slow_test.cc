// pdfLaTeX compiles the LaTeX form of figures, whatever their names and numbers are.

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "reports/figures/heat_map.h"
#include "reports/figures/pgfplots.h"
#include "reports/results/files.h"
#include "tests/reports/latex_page.h"

namespace residuum::reports {
namespace {

using testing::kHostileLatexName;

FigureSpec figure_named(const std::string& name) {
  FigureSpec spec;
  spec.name = "loss";
  spec.x_label = "iteration";
  spec.y_label = "‖∇f(w)‖², f(w) − f* and δ ≤ 1";
  spec.reference = Reference{.y = 1, .label = name};
  for (std::size_t i = 0; i < 9; ++i) {
    Curve curve{.label = name, .style = i, .points = {}, .is_bound = i == 8};
    for (int x = 0; x < 20; ++x) {
      const double y = 0.1 * static_cast<double>(i + 1) / (1 + x);
      curve.points.push_back(
          {.x = static_cast<double>(x), .middle = y, .lower = y / 2, .upper = 2 * y, .n = 3});
    }
    spec.curves.push_back(std::move(curve));
  }
  return spec;
}

class CompiledPgfplots : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::has_latex_packages("pgfplots.sty")) {
      GTEST_SKIP() << "pgfplots is not installed (texlive-pictures, texlive-latex-recommended)";
    }
  }

  /// Returns the log of pdfLaTeX where it fails, else nothing.
  std::string compile(const FigureSpec& spec) const {
    write_file_atomically(page_.path() / "loss.csv", figure_csv(spec));
    write_file_atomically(page_.path() / "loss.tex", figure_tex(spec));
    return page_.compile(testing::kPgfplotsPreamble, "loss.tex");
  }
  std::string compile(const HeatMap& map) const {
    write_file_atomically(page_.path() / (map.name + ".csv"), heat_map_csv(map));
    write_file_atomically(page_.path() / (map.name + ".axes.csv"), heat_map_axes_csv(map));
    write_file_atomically(page_.path() / (map.name + ".tex"), heat_map_tex(map));
    return page_.compile(testing::kPgfplotsPreamble, map.name + ".tex");
  }

 private:
  testing::LatexPage page_;
};

TEST_F(CompiledPgfplots, OfOrdinaryFiguresOnBothScales) {
  FigureSpec spec = figure_named("gtopk-tree, top-k, rho=0.01");
  EXPECT_EQ(compile(spec), "");

  spec.x_scale = Scale::log;
  spec.y_scale = Scale::log;
  EXPECT_EQ(compile(spec), "");
}

TEST_F(CompiledPgfplots, OfHostileNames) {
  EXPECT_EQ(compile(figure_named(kHostileLatexName)), "");
  EXPECT_EQ(compile(figure_named(std::string(300, '{'))), "");
  EXPECT_EQ(compile(figure_named("")), "");
}

TEST_F(CompiledPgfplots, OfNumbersThatAreNone) {
  for (const Scale scale : {Scale::linear, Scale::log}) {
    FigureSpec spec = figure_named("odd");
    spec.y_scale = scale;
    auto& points = spec.curves[0].points;
    points[1].middle = std::nullopt;
    points[2].middle = -1;
    points[3].lower = 0;
    points[4].middle = std::numeric_limits<double>::infinity();
    points[5].upper = 1e300;
    points[6].lower = 5e-324;

    EXPECT_EQ(compile(spec), "");
  }
}

TEST_F(CompiledPgfplots, OfHeatMapsWithGapsAndHostileNames) {
  for (const std::string& name : {std::string("gtopk-tree"), kHostileLatexName, std::string()}) {
    const HeatMap map{.name = "loss",
                      .title = name,
                      .row_key = name,
                      .column_key = name,
                      .rows = {name, "2"},
                      .columns = {"0.1", name, "[1ex]"},
                      .cells = {1, 10, 300, std::nullopt, 5, 7}};
    EXPECT_EQ(compile(map), "");
  }
}

TEST_F(CompiledPgfplots, OfHeatMapsOfOneNumber) {
  const HeatMap map{.name = "loss",
                    .title = "δ",
                    .row_key = "P",
                    .column_key = "k",
                    .rows = {"1", "2"},
                    .columns = {"1", "2"},
                    .cells = {-3, -3, -3, -3}};
  EXPECT_EQ(compile(map), "");
}

}  // namespace
}  // namespace residuum::reports
