// pdfLaTeX compiles the LaTeX form of tables, whatever their texts and numbers are.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "reports/latex/table_spec.h"
#include "reports/results/files.h"
#include "tests/reports/latex_page.h"

namespace residuum::reports {
namespace {

using testing::kHostileLatexName;

TableSpec table_named(const std::string& name) {
  TableSpec spec{.name = "results",
                 .caption = name,
                 .interval = name,
                 .columns = {{.key = "method", .title = name},
                             {.key = "loss", .title = name, .is_number = true},
                             {.key = "bytes", .title = "‖∇f‖² of δ", .is_number = true}},
                 .rows = {}};
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double value : {1.0, -3e-12, 0.0, 7e300, infinite, -infinite, std::nan("")}) {
    TableCell cell{.text = {}, .value = value, .interval = Interval{-1, infinite}, .n = 3};
    cell.is_best = true;
    spec.rows.push_back({text_of(name), cell, number_of(std::nullopt)});
  }
  return spec;
}

class CompiledTable : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::has_latex_packages("booktabs.sty siunitx.sty tabularx.sty")) {
      GTEST_SKIP() << "siunitx is not installed (texlive-science, texlive-latex-recommended)";
    }
  }

  const std::filesystem::path& path() const { return page_.path(); }

  /// Returns the log of pdfLaTeX where it fails, else nothing.
  std::string compile(const TableSpec& spec, const std::string& page = "results.tex") const {
    write_file_atomically(page_.path() / "results.tex", table_latex(spec));
    return page_.compile("\\usepackage{booktabs}\n\\usepackage{tabularx}\n\\usepackage{siunitx}\n",
                         page);
  }

 private:
  testing::LatexPage page_;
};

TEST_F(CompiledTable, OfOrdinaryNames) {
  EXPECT_EQ(compile(table_named("gtopk-tree, top-k, rho=0.01")), "");
}

TEST_F(CompiledTable, OfNamesWithAccentsInAnyEncoding) {
  const std::string names = "Łukasz Čapek Ångström ő ı ș ą ę đ ŋ ģ ĳ";
  EXPECT_EQ(compile(table_named(names)), "");
  write_file_atomically(path() / "t1.tex",
                        "\\fontencoding{T1}\\selectfont\n\\input{results.tex}\n");
  EXPECT_EQ(compile(table_named(names), "t1.tex"), "");
}

TEST_F(CompiledTable, OfHostileNames) {
  EXPECT_EQ(compile(table_named(kHostileLatexName)), "");
  EXPECT_EQ(compile(table_named(std::string(300, '{'))), "");
  EXPECT_EQ(compile(table_named("[1ex] begins like an option of the line end")), "");
}

/// Returns the places of words on the only page, from its top in points.
double place_of(const std::string& words, const std::string& word) {
  const auto end = words.find(">" + word + "</word>");
  EXPECT_NE(end, std::string::npos) << word;
  const auto begin = words.rfind("yMin=\"", end) + 6;
  return end == std::string::npos ? 0 : std::stod(words.substr(begin));
}

// Names of three lines: the interval of a method stands a line below its value, and the next
// method below all of the name.
TEST_F(CompiledTable, KeepsAnIntervalWithItsRowWhereNamesAreLong) {
  if (!testing::succeeds("pdftotext -v")) {
    GTEST_SKIP() << "pdftotext is not installed (poppler-utils)";
  }
  TableSpec spec{.name = "results",
                 .caption = "",
                 .interval = "median, IQR",
                 .columns = {{.key = "method", .title = "method"}},
                 .rows = {}};
  for (const char* const key : {"a", "b", "c", "d", "e"}) {
    spec.columns.push_back({.key = key, .title = key, .is_number = true});
  }
  for (int row = 1; row <= 2; ++row) {
    spec.rows.push_back(
        {text_of(row == 1 ? "first name of a method that takes at least threelines"
                          : "second name of a method that takes at least threelines")});
    for (int column = 0; column < 5; ++column) {
      const double value = 100 * row + column;
      spec.rows.back().push_back(
          {.text = {}, .value = value + 0.5, .interval = Interval{value, value + 0.75}, .n = 3});
    }
  }
  ASSERT_EQ(compile(spec), "");
  const std::string page = (path() / "page").string();
  ASSERT_TRUE(testing::succeeds("pdftotext -bbox " + page + ".pdf " + page + ".html"));
  const std::string words = read_file(path() / "page.html");
  const double line = place_of(words, "[100.0,") - place_of(words, "100.5");
  EXPECT_GT(line, 5);
  EXPECT_LT(line, 14);
  EXPECT_GT(place_of(words, "second"), place_of(words, "threelines"));
  EXPECT_NEAR(place_of(words, "second"), place_of(words, "200.5"), 3);
}

TEST_F(CompiledTable, WithoutRows) {
  TableSpec spec = table_named("a");
  spec.rows.clear();
  EXPECT_EQ(compile(spec), "");
}

}  // namespace
}  // namespace residuum::reports
