// pdfLaTeX compiles the LaTeX form of tables, whatever their texts and numbers are.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "reports/tables/files.h"
#include "reports/typeset/table_spec.h"
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

  /// Returns the log of pdfLaTeX where it fails, else nothing.
  std::string compile(const TableSpec& spec) const {
    write_file_atomically(page_.path() / "results.tex", table_latex(spec));
    return page_.compile("\\usepackage{booktabs}\n\\usepackage{tabularx}\n\\usepackage{siunitx}\n",
                         "results.tex");
  }

 private:
  testing::LatexPage page_;
};

TEST_F(CompiledTable, OfOrdinaryNames) {
  EXPECT_EQ(compile(table_named("gtopk-tree, top-k, rho=0.01")), "");
}

TEST_F(CompiledTable, OfHostileNames) {
  EXPECT_EQ(compile(table_named(kHostileLatexName)), "");
  EXPECT_EQ(compile(table_named(std::string(300, '{'))), "");
  EXPECT_EQ(compile(table_named("[1ex] begins like an option of the line end")), "");
}

TEST_F(CompiledTable, WithoutRows) {
  TableSpec spec = table_named("a");
  spec.rows.clear();
  EXPECT_EQ(compile(spec), "");
}

}  // namespace
}  // namespace residuum::reports
