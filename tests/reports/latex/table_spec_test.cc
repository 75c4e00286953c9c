// A table as CSV, Markdown and LaTeX.

#include "reports/latex/table_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "reports/latex/write_tables.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TableSpec small_table() {
  TableSpec spec{
      .name = "results",
      .title = "Losses",
      .caption = "A table.",
      .interval = "median, IQR",
      .columns = {{.key = "method", .title = "method"},
                  {.key = "loss", .title = "f − f*", .is_number = true},
                  {.key = "bytes", .title = "bytes", .is_number = true, .is_bytes = true}},
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
            "A table. Shown: median, in brackets the quartiles, over n = 3 to 4 seeds.\n\n"
            "| method | f − f\\* | bytes |\n"
            "| --- | ---: | ---: |\n"
            "| a\\_b, 50 % | **0.00025** \\[0.00020, 0.00030\\] | 1000 |\n"
            "| dense | ∞ | – |\n");
}

TEST(TableSpec, AsLatexIsABooktabsTableAsWideAsALine) {
  EXPECT_EQ(
      table_latex(small_table()),
      R"tex(% The document needs \usepackage{booktabs}, \usepackage{tabularx} and \usepackage{siunitx}.
% What the numbers are stands in results.caption.tex; not rounded, they are in results.csv.
\begin{table}
\centering
\caption{Losses. Median, in brackets the quartiles, $n = 3$ to 4.}
\label{tab:results}
\footnotesize\setlength{\tabcolsep}{4pt}\sisetup{detect-weight=true, group-minimum-digits=9}
\protected\def\residuumbest{\bfseries\sisetup{mode=text}\def\textminus{\ifmmode-\else{\boldmath$-$}\fi}\def\texttimes{\ifmmode\times\else{\boldmath$\times$}\fi}}
\begin{tabularx}{\linewidth}{@{} >{\raggedright\arraybackslash}X S[table-format=1.1] @{\,}l S[table-format=1.0] @{}}
\toprule
{method} & \multicolumn{2}{c}{$f - f^* / 10^{-4}$} & {bytes, kB} \\
\midrule
{a\_\allowbreak{}b, 50 \%} & \residuumbest 2.5 & {[}\num{2.0}, \num{3.0}{]} & 1 \\
{dense} & {$\infty$} &  & {--} \\
\bottomrule
\end{tabularx}
\end{table}
)tex");
  EXPECT_EQ(table_caption_latex(small_table()),
            "A table. Shown: median, in brackets the quartiles, over n = 3 to 4 seeds.\n");
}

TEST(TableSpec, SpansBothColumnsOfAPageInLatexWhereItIsWide) {
  TableSpec spec = small_table();
  spec.is_wide = true;

  EXPECT_THAT(table_latex(spec), HasSubstr("\n\\begin{table*}\n"));
  EXPECT_THAT(table_latex(spec), HasSubstr("\n\\end{table*}\n"));
}

/// A table of one method with one number.
TableSpec one_number(double value, const std::optional<Interval>& interval) {
  TableSpec spec{.name = "t",
                 .caption = "",
                 .interval = "IQR",
                 .columns = {{.key = "method", .title = "method"},
                             {.key = "x", .title = "x", .is_number = true}},
                 .rows = {}};
  spec.rows.push_back({text_of("a"), {.text = {}, .value = value, .interval = interval, .n = 2}});
  return spec;
}

/// Returns the row of a method in LaTeX.
std::string row_in_latex(const TableSpec& spec) {
  const std::string text = table_latex(spec);
  const auto begin = text.find("{a} & ") + 6;
  return text.substr(begin, text.find(" \\\\", begin) - begin);
}

// The last digit is the first of the interval's width, or the second where the first is 1.
TEST(TableSpec, RoundsNumbersByTheirIntervalInLatex) {
  EXPECT_EQ(row_in_latex(one_number(0.004277, Interval{0.00424, 0.0047})),
            "0.0043 & {[}\\num{0.0042}, \\num{0.0047}{]}");
  EXPECT_EQ(row_in_latex(one_number(0.46591, Interval{0.465871, 0.465992})),
            "0.46591 & {[}\\num{0.46587}, \\num{0.46599}{]}");
  EXPECT_EQ(row_in_latex(one_number(4277, Interval{4000, 4700})),
            "4277 & {[}\\num{4000}, \\num{4700}{]}")
      << "counts are whole";
  EXPECT_EQ(row_in_latex(one_number(4277.5, Interval{4010, 4722})),
            "4300 & {[}\\num{4000}, \\num{4700}{]}");
  EXPECT_EQ(row_in_latex(one_number(0.123456, std::nullopt)), "0.1235");
  EXPECT_EQ(row_in_latex(one_number(0.5, Interval{0.5, 0.5})),
            "0.5000 & {[}\\num{0.5000}, \\num{0.5000}{]}");
}

TEST(TableSpec, RoundsNumbersByTheirIntervalInMarkdown) {
  const auto row = [](double value, const Interval& interval) {
    return table_markdown(one_number(value, interval));
  };
  EXPECT_THAT(row(0.0037877, {0.0035668, 0.0040012}), HasSubstr("| 0.0038 \\[0.0036, 0.0040\\] |"));
  EXPECT_THAT(row(0.0037877, {0.0037668, 0.0039212}),
              HasSubstr("| 0.00379 \\[0.00377, 0.00392\\] |"));
  EXPECT_THAT(row(4277.5, {4010, 4722}), HasSubstr("| 4300 \\[4000, 4700\\] |"));
  EXPECT_THAT(row(4277, {4000, 4700}), HasSubstr("| 4277 \\[4000, 4700\\] |"))
      << "counts are whole";
  EXPECT_THAT(row(2.5e-9, {2e-9, 3e-9}), HasSubstr("| 2.5e-09 \\[2.0e-09, 3.0e-09\\] |"));
}

TEST(TableSpec, HasWholeNumbersWhereTheColumnCounts) {
  TableSpec spec{
      .name = "counts",
      .title = "Counts",
      .caption = "",
      .interval = "median, IQR",
      .columns = {{.key = "method", .title = "method"},
                  {.key = "iterations", .title = "iterations", .is_number = true},
                  {.key = "bytes", .title = "bytes", .is_number = true, .is_bytes = true}},
      .rows = {}};
  spec.rows.push_back({text_of("a"),
                       {.text = {}, .value = 41, .interval = Interval{41, 41}, .n = 3},
                       number_of(448e3)});
  spec.rows.push_back({text_of("b"),
                       {.text = {}, .value = 52.5, .interval = Interval{50, 55}, .n = 3},
                       number_of(1792e3)});
  const std::string tex = table_latex(spec);
  EXPECT_THAT(tex, HasSubstr("{a} & 41 & {[}\\num{41}, \\num{41}{]} & 448 "));
  EXPECT_THAT(tex, HasSubstr("& 1792 "));
}

TEST(TableSpec, HasTheDigitsThatWereAskedFor) {
  TableSpec spec = one_number(0.004277, Interval{0.00424, 0.0047});
  spec.digits = 3;

  EXPECT_EQ(row_in_latex(spec), "0.00428 & {[}\\num{0.00424}, \\num{0.00470}{]}");
  EXPECT_THAT(table_markdown(spec), HasSubstr("| a | 0.00428 \\[0.00424, 0.00470\\] |"));
}

TEST(TableSpec, PutsIntervalsBelowAndColumnsIntoBlocksWhereAColumnOfAPaperIsNarrow) {
  TableSpec spec = one_number(0.4277, Interval{0.424, 0.431});
  const auto add = [&] {
    spec.columns.push_back(spec.columns.back());
    spec.rows[0].push_back(spec.rows[0].back());
  };
  add();
  EXPECT_THAT(table_latex(spec), HasSubstr("@{\\,}l"));
  add();
  const std::string below = table_latex(spec);
  EXPECT_THAT(below, Not(HasSubstr("@{\\,}l")));
  EXPECT_THAT(below,
              HasSubstr("{a} & 0.428 & 0.428 & 0.428 \\\\\n & {\\scriptsize {[}\\num{0.424}, "));
  EXPECT_THAT(below, Not(HasSubstr("\\smallskip")));
  add();
  EXPECT_THAT(table_latex(spec), HasSubstr("\\par\\smallskip"));
  spec.is_wide = true;
  EXPECT_THAT(table_latex(spec), Not(HasSubstr("\\smallskip")));
}

TEST(TableSpec, HasTheUnitOfBytesBeforeWhatTheyAreAt) {
  const double never = std::numeric_limits<double>::infinity();
  TableSpec spec{
      .name = "time-to-target-bytes",
      .caption = "",
      .interval = "",
      .columns = {{.key = "method", .title = "method"},
                  {.key = "target", .title = "target", .is_number = true},
                  {.key = "bytes", .title = "bytes", .is_number = true, .is_bytes = true}},
      .rows = {{text_of("a"), number_of(0.06316), number_of(25000)},
               {text_of("a"), number_of(0.001), number_of(never)}}};
  spec.spread = "target";
  EXPECT_THAT(table_latex(spec),
              HasSubstr("& {\\shortstack{kB to\\\\{}0.06316}} & {kB to 0.001} \\\\"));
  spec.columns[2].is_bytes = false;
  EXPECT_THAT(table_latex(spec), HasSubstr("\\shortstack{bytes to\\\\{}0.06316}"));
}

TEST(TableSpec, HasTextsBehindNumbersOnceWhereColumnsAreInBlocks) {
  TableSpec spec = one_number(0.4277, Interval{0.424, 0.431});
  for (int i = 0; i < 4; ++i) {
    spec.columns.push_back(spec.columns.back());
    spec.rows[0].push_back(spec.rows[0].back());
  }
  spec.columns.push_back({.key = "in_band", .title = "in the band"});
  spec.rows[0].push_back(text_of("yes"));
  const std::string latex = table_latex(spec);
  EXPECT_THAT(latex, HasSubstr("\\par\\smallskip"));
  const auto first = latex.find("in the band");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(latex.find("in the band", first + 1), std::string::npos);
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
  EXPECT_THAT(table_latex(spec), HasSubstr("0.46591 & {[}\\num{0.46587}, \\num{0.46593}{]} & "));
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
  EXPECT_EQ(format_of({0.5, -12.25}), "-2.4");  // four digits of each
  EXPECT_EQ(format_of({0.001, 99999}), "5.6");
  EXPECT_EQ(format_of({3e-12, 1}), "1.3e-2");
  EXPECT_EQ(format_of({2e-5, 3e-4}), "2.3");  // in units of 1e-5
  EXPECT_EQ(format_of({2e5}), "1.3");         // in units of 1e5
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
  write_tables({small_table()}, {small_table()}, folder.path());

  EXPECT_FALSE(std::filesystem::exists(folder.path() / "rates.tex"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "notes.txt"));
  EXPECT_EQ(read_file(folder.path() / "results.csv"), table_csv(small_table()));
  EXPECT_EQ(read_file(folder.path() / "results.md"), table_markdown(small_table()));
  EXPECT_EQ(read_file(folder.path() / "results.tex"), table_latex(small_table()));
  EXPECT_EQ(read_file(folder.path() / "results.caption.tex"), table_caption_latex(small_table()));
}

}  // namespace
}  // namespace residuum::reports
