// Drawings in the width of a paper are looked at as pages: every word of them is on the page, and
// no word lies on another.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <string>
#include <tuple>
#include <vector>

#include "reports/figures/draw.h"
#include "reports/figures/paper_figure.h"
#include "reports/figures/paper_layout.h"
#include "tests/reports/latex_page.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A label of 40 letters; every other one has no blank.
std::string label_of(std::size_t i) {
  return i % 2 == 0 ? fmt::format("abcdefghijabcdefghijabcdefghijabcdefghi{}", i)
                    : fmt::format("sparsified descent with error feedback {}", i);
}

/// Returns a figure of `methods` methods with labels.
FigureSpec figure_of(std::size_t methods, Scale scale) {
  FigureSpec spec;
  const bool is_log = scale == Scale::log;
  spec.name = "loss";
  spec.x_label = is_log ? "bytes sent by all workers and servers" : "iteration";
  spec.y_label = is_log ? "‖∇f(w)‖², f(w) − f* and δ ≤ 1" : "f(w) − f*";
  spec.x_scale = spec.y_scale = scale;
  for (std::size_t i = 0; i < methods; ++i) {
    Curve curve{.label = label_of(i), .style = i, .points = {}};
    EXPECT_EQ(curve.label.size(), 40U);
    for (int t = 1; t <= 60; ++t) {
      const double y = static_cast<double>(i + 1) * std::exp(-0.1 * t);
      curve.points.push_back({.x = is_log ? 1000 * std::pow(1.3, t) : 20.0 * t,
                              .middle = y,
                              .lower = 0.9 * y,
                              .upper = 1.1 * y,
                              .n = 3});
    }
    spec.curves.push_back(std::move(curve));
  }
  return spec;
}

struct Word {
  double left, top, right, bottom;
  std::string text;
};

struct Page {
  double width = 0;
  double height = 0;
  std::vector<Word> words;
};

/// Reads what pdftotext says of where the words of a page are, in points.
Page page_of(const std::filesystem::path& pdf) {
  const auto file = pdf.parent_path() / "words.html";
  EXPECT_TRUE(testing::succeeds("pdftotext -bbox " + pdf.string() + " " + file.string()));
  const std::string html = read_file(file);
  Page page;
  std::smatch size;
  EXPECT_TRUE(std::regex_search(html, size, std::regex("<page width=\"(.*?)\" height=\"(.*?)\"")));
  page.width = std::stod(size[1]);
  page.height = std::stod(size[2]);
  const std::regex word(
      "<word xMin=\"(.*?)\" yMin=\"(.*?)\" xMax=\"(.*?)\" yMax=\"(.*?)\">(.*?)</word>");
  for (std::sregex_iterator at(html.begin(), html.end(), word), end; at != end; ++at) {
    page.words.push_back({std::stod((*at)[1]),
                          std::stod((*at)[2]),
                          std::stod((*at)[3]),
                          std::stod((*at)[4]),
                          (*at)[5]});
  }
  return page;
}

/// Words are on the page, and their middles, where the letters are, do not touch each other.
void expect_tidy(const Page& page, const std::string& what) {
  constexpr double kInk = 0.25;  // of a word's box is above and below its letters
  constexpr double kBox = 0.5;   // point: pdftotext has the box of the font, not of the letter
  EXPECT_GT(page.words.size(), 5U) << what;
  for (std::size_t i = 0; i < page.words.size(); ++i) {
    const Word& one = page.words[i];
    EXPECT_GE(one.left, -kBox) << what << ": " << one.text;
    EXPECT_GE(one.top, -kBox) << what << ": " << one.text;
    EXPECT_LE(one.right, page.width + kBox) << what << ": " << one.text;
    EXPECT_LE(one.bottom, page.height + kBox) << what << ": " << one.text;
    for (std::size_t k = 0; k < i; ++k) {
      const Word& other = page.words[k];
      const double margin = kInk * std::min(one.bottom - one.top, other.bottom - other.top);
      const bool is_apart = one.left >= other.right - 0.1 || other.left >= one.right - 0.1 ||
                            one.top + margin >= other.bottom - margin ||
                            other.top + margin >= one.bottom - margin;
      EXPECT_TRUE(is_apart) << what << ": '" << one.text << "' lies on '" << other.text << "'";
    }
  }
}

using Case = std::tuple<std::size_t, double, Scale>;  // methods, width in mm (0: the least), axes

class PaperPage : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!testing::succeeds("pdftotext -v")) {
      GTEST_SKIP() << "pdftotext is not installed (poppler-utils)";
    }
    const auto [methods, width, scale] = GetParam();
    spec_ = figure_of(methods, scale);
    const double least = least_paper_width(spec_, 8);
    EXPECT_LT(least, 48);
    spec_.paper = PaperSize{.width_mm = width > 0 ? width : least, .font_pt = 8};
    what_ = fmt::format("{} methods, {} mm", methods, spec_.paper->width_mm);
  }
  /// Returns the letters of a page, without blanks between them.
  static std::string all_letters(const Page& page) {
    std::string text;
    for (const auto& word : page.words) {
      text += word.text;
    }
    return text;
  }

  FigureSpec spec_;
  std::string what_;
};

TEST_P(PaperPage, OfGnuplotHoldsEveryWord) {
  const testing::TemporaryFolder folder;
  if (run_gnuplot(folder.path(), "/dev/null").find("not installed") != std::string::npos) {
    GTEST_SKIP() << "gnuplot is not installed";
  }
  write_paper_figure(spec_, folder.path() / "fig.pdf");
  const Page page = page_of(folder.path() / "fig.pdf");

  EXPECT_NEAR(page.width, spec_.paper->width_mm * 72 / 25.4, 1);
  expect_tidy(page, what_);
  EXPECT_THAT(all_letters(page), HasSubstr("hi0")) << "the end of the first label";
}

TEST_P(PaperPage, OfLatexHoldsEveryWord) {
  if (!testing::succeeds("pdflatex --version") ||
      !testing::has_latex_packages("pgfplots.sty geometry.sty")) {
    GTEST_SKIP() << "LaTeX with pgfplots is not installed (texlive-pictures, "
                    "texlive-latex-recommended)";
  }
  const testing::LatexPage page;
  write_paper_figure(spec_, page.path() / "fig.tex");
  // The page is as wide as the figure.
  const std::string preamble = fmt::format(
      "\\usepackage[paperwidth={:.4g}mm,paperheight=200mm,margin=0mm]{{geometry}}\n"
      "\\parindent0pt\\pagestyle{{empty}}\n{}",
      spec_.paper->width_mm,
      testing::kPgfplotsPreamble);
  ASSERT_EQ(page.compile(preamble, "fig.tex"), "");

  EXPECT_THAT(read_file(page.path() / "page.log"), Not(HasSubstr("Overfull"))) << what_;
  expect_tidy(page_of(page.path() / "page.pdf"), what_);
}

INSTANTIATE_TEST_SUITE_P(Sizes,
                         PaperPage,
                         ::testing::Combine(::testing::Values<std::size_t>(2, 5, 9),
                                            ::testing::Values(84.0, 48.0, 0.0),
                                            ::testing::Values(Scale::linear, Scale::log)));

}  // namespace
}  // namespace residuum::reports
