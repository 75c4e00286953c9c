// A table as CSV, Markdown and LaTeX.

#include "reports/typeset/table_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "reports/typeset/latex_table.h"
#include "reports/typeset/write_tables.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TableSpec small_table() {
  TableSpec spec{.name = "results",
                 .caption = "A table.",
                 .interval = "median, IQR",
                 .columns = {{.key = "method", .title = "method"},
                             {.key = "loss", .title = "f − f*", .is_number = true},
                             {.key = "bytes", .title = "bytes", .is_number = true}},
                 .rows = {}};
  TableCell best{.text = {}, .value = 0.00025, .interval = Interval{0.0002, 0.0003}, .n = 4};
  best.is_best = true;
  spec.rows.push_back({text_of("a_b, 50 %"), best, number_of(1000)});
  spec.rows.push_back({text_of("dense"),
                       {.text = {}, .value = std::numeric_limits<double>::infinity(), .n = 3},
                       number_of(std::nullopt)});
  return spec;
}

TEST(TableSpec, AsCsvHasTheIntervalAndTheSeedsBesideTheValue) {
  EXPECT_EQ(table_csv(small_table()),
            "method,loss,loss_low,loss_high,loss_n,bytes\n"
            "\"a_b, 50 %\",0.00025,0.0002,0.0003,4,1000\n"
            "dense,inf,,,3,\n");
}

TEST(TableSpec, AsMarkdownHasTheBestBoldAndWhatWasNeverReachedAsInfinite) {
  EXPECT_EQ(table_markdown(small_table()),
            "A table. Shown with brackets: median, IQR, over n = 3 to 4 seeds.\n\n"
            "| method | f − f\\* | bytes |\n"
            "| --- | ---: | ---: |\n"
            "| a\\_b, 50 % | **0.00025** \\[0.0002, 0.0003\\] | 1000 |\n"
            "| dense | ∞ | – |\n");
}

TEST(TableSpec, AsLatexIsABooktabsTableWithColumnsOfSiunitx) {
  EXPECT_EQ(
      table_latex(small_table()),
      "% The document needs \\usepackage{booktabs} and \\usepackage{siunitx}; not rounded, the\n"
      "% numbers are in results.csv.\n"
      "\\begin{table}\n"
      "\\centering\n"
      "\\caption{A table. Shown with brackets: median, IQR, over n = 3 to 4 seeds.}\n"
      "\\label{tab:results}\n"
      "\\sisetup{detect-weight=true}\n"
      "\\begin{tabular}{l S[table-format=1.3e-1] @{\\,}l S[table-format=4.0]}\n"
      "\\toprule\n"
      "{method} & \\multicolumn{2}{c}{f $-$ f*} & {bytes} \\\\\n"
      "\\midrule\n"
      "{a\\_b, 50 \\%} & \\bfseries 2.500e-4 & {[}\\num{2.000e-4}, \\num{3.000e-4}{]} & 1000 "
      "\\\\\n"
      "{dense} & {$\\infty$} &  & {--} \\\\\n"
      "\\bottomrule\n"
      "\\end{tabular}\n"
      "\\end{table}\n");
}

TEST(TableSpec, ShowsAsManyDigitsAsAnIntervalNeedsToHaveAWidth) {
  TableSpec spec = small_table();
  spec.rows = {{text_of("a"),
                {.text = {}, .value = 0.46591, .interval = Interval{0.465871, 0.465932}, .n = 4},
                number_of(1)},
               {text_of("b"),
                {.text = {}, .value = 0.5, .interval = Interval{0.5, 0.5}, .n = 4},
                number_of(1)}};

  EXPECT_THAT(table_markdown(spec), HasSubstr("| a | 0.46591 \\[0.46587, 0.46593\\] | 1 |"));
  EXPECT_THAT(table_markdown(spec), HasSubstr("| b | 0.5 \\[0.5, 0.5\\] | 1 |"));
  EXPECT_THAT(table_latex(spec), HasSubstr("0.46591 & {[}\\num{0.46587}, \\num{0.46593}{]} & 1 "));
}

TEST(TableSpec, LeavesRoomForTheNumbersOfAColumnInLatex) {
  const auto format_of = [](const std::vector<double>& values) {
    TableSpec spec{.name = "t",
                   .caption = "",
                   .interval = "",
                   .columns = {{.key = "x", .title = "x", .is_number = true}},
                   .rows = {}};
    for (const double value : values) {
      spec.rows.push_back({number_of(value)});
    }
    const std::string text = table_latex(spec);
    const auto begin = text.find("table-format=") + 13;
    return text.substr(begin, text.find(']') - begin);
  };

  EXPECT_EQ(format_of({1, 250}), "3.0");        // whole numbers
  EXPECT_EQ(format_of({0.5, -12.25}), "-2.4");  // four digits of 0.5
  EXPECT_EQ(format_of({0.001, 99999}), "5.6");
  EXPECT_EQ(format_of({3e-12, 1}), "1.3e-2");
  EXPECT_EQ(format_of({2e5}), "1.3e1");
  EXPECT_EQ(format_of({0, 0}), "1.0");
  EXPECT_EQ(format_of({}), "1.0");
}

TEST(TableSpec, WithoutIntervalsSaysNothingOfSeeds) {
  TableSpec spec = small_table();
  spec.interval.clear();

  EXPECT_EQ(full_caption(spec), "A table.");
}

TEST(MarkdownText, HasNoMarkupOfTheUsers) {
  EXPECT_EQ(markdown_text("a|b"), "a\\|b");
  EXPECT_EQ(markdown_text("**x** _y_ `z` ~q~"), "\\*\\*x\\*\\* \\_y\\_ \\`z\\` \\~q\\~");
  EXPECT_EQ(markdown_text("[a](b) ![c](d)"), "\\[a\\](b) !\\[c\\](d)");
  EXPECT_EQ(markdown_text("</script>&amp;"), "&lt;/script&gt;&amp;amp;");
  EXPECT_EQ(markdown_text("$x$ @me \\"), "\\$x\\$ \\@me \\\\");
  EXPECT_EQ(markdown_text("see https://x.y"), "see https:\\//x.y");
  EXPECT_EQ(markdown_text("line\nend"), "line?end");
}

TEST(WriteTables, LeavesNoTableOfAnEarlierReport) {
  const testing::TemporaryFolder folder;
  write_file_atomically(folder.path() / "rates.tex", "old");
  write_file_atomically(folder.path() / "notes.txt", "the user's");
  write_tables({small_table()}, folder.path());

  EXPECT_FALSE(std::filesystem::exists(folder.path() / "rates.tex"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "notes.txt"));
  EXPECT_EQ(read_file(folder.path() / "results.csv"), table_csv(small_table()));
  EXPECT_EQ(read_file(folder.path() / "results.md"), table_markdown(small_table()));
  EXPECT_EQ(read_file(folder.path() / "results.tex"), table_latex(small_table()));
}

}  // namespace
}  // namespace residuum::reports
