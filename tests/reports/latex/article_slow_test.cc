// A paper of two columns takes in what the program writes, from folders of its own, and nothing
// sticks out of a column.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "reports/figures/paper_figure.h"
#include "reports/page/figure_choice.h"
#include "reports/page/report.h"
#include "reports/summaries/collect.h"
#include "tests/reports/latex_page.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::SyntheticMethod;
using testing::SyntheticStudy;

// Columns of 3.25 in, as those of icml2024.sty.
constexpr const char* kPreamble = R"tex(\documentclass[twocolumn]{article}
\setlength{\textwidth}{6.75in}\setlength{\columnsep}{0.25in}\setlength{\oddsidemargin}{-0.1in}
\usepackage{booktabs}\usepackage{tabularx}\usepackage{siunitx}
\usepackage{pgfplots}\usepgfplotslibrary{fillbetween}\pgfplotsset{compat=1.16}
\begin{document}
\section{What we measured}
We train the same model with each method, and hold what it sends against what it reaches.
Table~\ref{tab:results} has the ends of all runs; the figures have the way to them. Every number is
the median of three seeds, which all methods have in common.
)tex";

std::string figure_environment(const std::string& file) {
  return "\\begin{figure}\\centering\\input{" + file + "}\\caption{Our words.}\\end{figure}\n";
}

/// A label of 40 letters; every other one has no blank.
std::string label_of(int i) {
  return i % 2 == 0 ? fmt::format("abcdefghijabcdefghijabcdefghijabcdefghi{}", i)
                    : fmt::format("sparsified descent with error feedback {}", i);
}

class ArticleOfTwoColumns : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::succeeds("pdflatex --version") ||
        !testing::has_latex_packages("booktabs.sty siunitx.sty tabularx.sty pgfplots.sty")) {
      GTEST_SKIP() << "LaTeX with pgfplots and siunitx is not installed (texlive-pictures, "
                      "texlive-science, texlive-latex-recommended)";
    }
    SyntheticStudy study;
    study.methods = {SyntheticMethod{.aggregator = "gtopk-tree"},
                     SyntheticMethod{.aggregator = "gtopk-tree", .putback = "published"},
                     SyntheticMethod{.aggregator = "a_sparsifier.of-ones-own", .density = 0.1},
                     SyntheticMethod{.aggregator = "allgather", .density = 0.001}};
    study.write(path() / "study");
  }

  const std::filesystem::path& path() const { return folder_.path(); }

  void write_figure(const std::string& quantity, const std::optional<std::string>& by) const {
    auto figure = plan_chosen_figure(read_result_folder(path() / "study"),
                                     {.quantity = quantity, .by = by, .methods = {}});
    figure.spec.paper = paper_formats().front().size;
    std::filesystem::create_directories(path() / "our own");
    write_paper_figure(std::move(figure.spec), path() / "our own" / (quantity + ".tex"));
  }

  /// Returns pdfLaTeX's log of an article with this body; a failure is the test's.
  std::string compile(const std::string& body) const {
    write_file_atomically(path() / "article.tex", kPreamble + body + "\\end{document}\n");
    EXPECT_TRUE(testing::succeeds(
        "cd " + path().string() +
        " && pdflatex -no-shell-escape -interaction=nonstopmode -halt-on-error article.tex"));
    return read_file(path() / "article.log");
  }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(ArticleOfTwoColumns, HoldsFiguresAndTablesInItsColumns) {
  collect(path() / "study");
  write_report(summarise(path() / "study"),
               IntervalKind::quartiles,
               {.budgets = {1e5, 2e5}, .columns = {}, .digits = {}, .wide = {}});
  write_figure("loss-gap", "bytes");
  write_figure("delta", {});

  std::string log =
      compile(figure_environment("our own/loss-gap.tex") + figure_environment("our own/delta.tex") +
              figure_environment("study/figures/contraction.tex") +
              "\\input{study/tables/results.tex}\n\\input{study/tables/at-bytes.tex}\n"
              "\\input{study/tables/results.caption.tex}\n");
  EXPECT_THAT(log, Not(HasSubstr("Overfull")));

  log = compile(
      "\\input{study/tables/equal-iterations.tex}\n\\input{study/tables/equal-bytes.tex}\n"
      "\\input{study/tables/time-to-target-bytes.tex}\n");
  EXPECT_THAT(log, Not(HasSubstr("Overfull")));
}

TEST_F(ArticleOfTwoColumns, HoldsHeatMapsInItsColumns) {
  HeatMap map{.name = "map",
              .title = "δ",
              .row_key = "workers.count",
              .column_key = "feedback.putback",
              .rows = {"4", "1024"},
              .columns = {"captured", "published", "everything"},
              .cells = {0.123, 10.5, 100, 1000, 0.0123, 777}};
  map.paper = paper_formats().front().size;
  write_paper_figure(map, path() / "wide.tex");
  map.paper->width_mm = least_map_width(map, map.paper->font_pt);
  write_paper_figure(map, path() / "narrow.tex");

  const std::string log = compile(
      figure_environment("wide.tex") +
      fmt::format("\\noindent\\hbox to {}mm{{\\input{{narrow.tex}}}}\n", map.paper->width_mm));
  EXPECT_THAT(log, Not(HasSubstr("Overfull")));
}

TEST_F(ArticleOfTwoColumns, HoldsTablesOfManyMethodsWithLongLabels) {
  for (const int methods : {5, 9}) {
    SyntheticStudy study;
    study.methods.clear();
    for (int i = 0; i < methods; ++i) {
      study.methods.push_back({.aggregator = label_of(i), .density = 0.001 * (i + 1)});
    }
    study.methods.back().change = [](Row& row, int /*seed*/) {  // it reaches no target
      row.set(Column::loss, 0.7);
      row.set(Column::loss_gap, 0.38);
    };
    const auto folder = path() / fmt::format("of-{}", methods);
    study.write(folder);
    collect(folder);
    write_report(summarise(folder),
                 IntervalKind::quartiles,
                 {.budgets = {1e4, 2e4}, .columns = {}, .digits = {}, .wide = {}});
    std::string body;
    std::size_t tables = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "tables")) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".tex") && !name.ends_with(".caption.tex")) {
        body += fmt::format("\\input{{of-{}/tables/{}}}\n\\clearpage\n", methods, name);
        ++tables;
      }
    }
    EXPECT_GE(tables, 5U);
    const std::string log = compile(body);
    EXPECT_THAT(log, Not(HasSubstr("Overfull"))) << methods;
    EXPECT_THAT(log, Not(HasSubstr("Float too large"))) << methods;
  }
}

TEST_F(ArticleOfTwoColumns, HoldsWideTablesOverBoth) {
  collect(path() / "study");
  write_report(summarise(path() / "study"),
               IntervalKind::student,
               {.budgets = {}, .columns = {}, .digits = 3, .wide = {"results"}});

  EXPECT_THAT(compile("\\input{study/tables/results.tex}\n"), Not(HasSubstr("Overfull")));
}

}  // namespace
}  // namespace residuum::reports
