// pdfLaTeX compiles the LaTeX form of tables, whatever their texts and numbers are.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "reports/tables/files.h"
#include "reports/typeset/latex_table.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

constexpr const char* kTablePage =
    "\\documentclass{article}\n\\usepackage{booktabs}\n\\usepackage{siunitx}\n"
    "\\begin{document}\n\\input{results.tex}\n\\end{document}\n";

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
    // NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): fixed programs, one thread
    if (std::system("kpsewhich booktabs.sty siunitx.sty >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "siunitx is not installed (texlive-science, texlive-latex-recommended)";
    }
  }

  /// Returns the log of pdfLaTeX where it fails, else nothing.
  std::string compile(const TableSpec& spec) const {
    write_file_atomically(folder_.path() / "results.tex", table_latex(spec));
    write_file_atomically(folder_.path() / "page.tex", kTablePage);
    const std::string command =
        "cd " + folder_.path().string() +
        " && pdflatex -no-shell-escape -interaction=nonstopmode -halt-on-error page.tex "
        ">/dev/null 2>&1";
    // NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe)
    return std::system(command.c_str()) == 0 ? "" : read_file(folder_.path() / "page.log");
  }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(CompiledTable, OfOrdinaryNames) {
  EXPECT_EQ(compile(table_named("gtopk-tree, top-k, rho=0.01")), "");
}

TEST_F(CompiledTable, OfHostileNames) {
  std::string everything =
      "\\input{/etc/passwd} % _ # & ~ ^ $ { } [ ] \" ' ` < > | \n\t </script> , ; ";
  everything += "é ü ß 中文 Ж 🙂 \\end{document}";
  EXPECT_EQ(compile(table_named(everything)), "");
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
