#pragma once
// A TableSpec is the one description of a table for papers. It is written as CSV for programs, as
// Markdown, and as LaTeX (table_latex); all three have the same numbers.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assumptions/estimators/intervals.h"
#include "reports/analysis/statistics.h"

namespace residuum::reports {

struct TableColumn {
  std::string key;    // of the CSV: snake_case, with its unit
  std::string title;  // for people
  bool is_number = false;
  bool is_bytes = false;     // LaTeX has them in kB, MB, ...
  std::string at = {};       // what stands behind the title and its unit: "to 0.01"
  bool is_quantity = false;  // what the table is of: it is printed whatever columns are chosen
};

/// A cell of a number column has a value, infinite where something was never reached, and may have
/// an interval; a cell of a text column has a text.
struct TableCell {
  std::string text;
  std::optional<double> value = std::nullopt;
  std::optional<Interval> interval = std::nullopt;
  std::size_t n = 0;  // seeds that the interval is of
  bool is_best = false;
  std::string note = {};  // beside the interval of a table that is spread: "3 of 4"
};

TableCell text_of(std::string_view text);
TableCell number_of(const std::optional<double>& value);
TableCell centre_cell(const Centre& centre);

struct TableSpec {
  std::string name;        // of the table's files, without ending: [a-z0-9-]
  std::string title = {};  // what stands at the table in LaTeX, without a full stop
  std::string caption;     // without the seeds and the kind of interval, which are added
  std::string interval;    // what the brackets are, "median, IQR"; empty: there are none
  std::vector<TableColumn> columns;
  std::vector<std::vector<TableCell>> rows;
  /// The method of each row, with which a page hides it; empty: rows are not of methods.
  std::vector<std::optional<std::size_t>> methods = {};
  std::optional<int> digits =
      {};                // significant ones, where it is printed; absent: by the intervals
  bool is_wide = false;  // in LaTeX it spans both columns of a page
  /// In LaTeX the rows of a method are one: each value of the column with this key, a literal, gets
  /// a column, with the cells of the last column.
  std::optional<std::string_view> spread = {};
  std::string notes = {};  // what the notes of cells say
};

/// Returns "n = 8", or "n = 3 to 8" where cells differ; empty where there are no intervals.
std::string seeds_words(const TableSpec& spec);

/// Returns "median, in brackets the quartiles".
std::string shown_words(const TableSpec& spec);

/// Returns the place of the last digit that an interval leaves to its value: 10^place is at most
/// half of its width, so that both ends differ in it. Nothing where the interval has no width.
std::optional<int> place_of_interval(const std::optional<Interval>& interval);

/// Returns the caption with the kind of the interval and the number of seeds, "over 3 to 8 seeds"
/// where cells differ.
std::string full_caption(const TableSpec& spec);

/// Returns whether a cell of the column has an interval.
bool has_interval(const TableSpec& spec, std::size_t column);

/// <name>.csv: a column for each key; where there are intervals, also <key>_low, <key>_high and
/// <key>_n. Nothing is rounded.
std::string table_csv(const TableSpec& spec);

/// <name>.md, in the form of GitHub. All texts are escaped.
std::string table_markdown(const TableSpec& spec);

/// The text for Markdown: nothing in it is markup, a link, HTML or the end of a cell.
std::string markdown_text(std::string_view text);

// The LaTeX form of a table has booktabs rules, numbers aligned by siunitx, and the width of a
// line. Texts are untrusted: latex_text.h leaves none of TeX's special characters in them.

/// <name>.tex: a table with a short caption and the label tab:<name>, to \input in a document that
/// loads booktabs, tabularx and siunitx. A number has the digits that its interval leaves, or four.
/// It fits a column of a paper with two, or a page where the spec is wide: intervals stand below
/// their values, and columns in several blocks, as far as that takes.
std::string table_latex(const TableSpec& described);

/// <name>.caption.tex: all that is said of the table, for a paper's text.
std::string table_caption_latex(const TableSpec& spec);

}  // namespace residuum::reports
