#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "reports/analysis/words.h"
#include "reports/figures/figure.h"
#include "reports/figures/latex_text.h"
#include "reports/latex/table_spec.h"

namespace residuum::reports {
namespace {

// A table is made of columns. A column's numbers are printed first; then it is known how much room
// they need, and whether the table fits beside or below: intervals stand beside their values if
// that fits, else below them. If not even that fits, the columns are divided into several blocks,
// one below the other, all with the names of the rows.
//
//   beside                          below               blocks
//   method   f − f*  [low, high]    method   f − f*     method   f − f*   loss
//   dense    0.0043  [0.0042, ...]  dense    0.0043     dense    0.0043   0.47
//                                         [0.0042, ...] method   bytes    δ
//                                                       dense    12       1.3

// --- Numbers ------------------------------------------------------------------------------------

/// A NumberForm is that of a column's numbers: they are divided by `unit`, and fixed or scientific.
struct NumberForm {
  bool is_scientific = false;
  bool is_whole = false;
  bool is_count = false;  // numbers are whole, or middles of whole ones
  double unit = 1;
  std::string title;  // of the column, with the unit
};

int digit_place(double number) {
  return static_cast<int>(std::floor(std::log10(std::abs(number))));
}

/// Returns the finite values of the column, or the ends of its intervals where it has no value.
std::vector<double> numbers_in(const TableSpec& spec, std::size_t column) {
  std::vector<double> numbers;
  const auto add = [&](double value) {
    if (std::isfinite(value)) {
      numbers.push_back(value);
    }
  };
  for (const auto& row : spec.rows) {
    if (row[column].value) {
      add(*row[column].value);
    } else if (row[column].interval) {
      add(row[column].interval->low);
      add(row[column].interval->high);
    }
  }
  return numbers;
}

/// Returns the finite values of the column, and the ends of all its intervals.
std::vector<double> numbers_and_ends(const TableSpec& spec, std::size_t column) {
  std::vector<double> numbers;
  const auto add = [&](double value) {
    if (std::isfinite(value)) {
      numbers.push_back(value);
    }
  };
  for (const auto& row : spec.rows) {
    if (row[column].value) {
      add(*row[column].value);
    }
    if (row[column].interval) {
      add(row[column].interval->low);
      add(row[column].interval->high);
    }
  }
  return numbers;
}

/// The least and the largest size of the numbers that are not zero; nothing where all are.
std::optional<std::pair<double, double>> sizes_of(const std::vector<double>& numbers) {
  std::optional<std::pair<double, double>> sizes;
  for (const double number : numbers) {
    const double size = std::abs(number);
    if (size > 0) {
      sizes = sizes ? std::pair(std::min(sizes->first, size), std::max(sizes->second, size))
                    : std::pair(size, size);
    }
  }
  return sizes;
}

/// Writes "10⁻⁴".
std::string power_of_ten(int exponent) {
  constexpr std::array<const char*, 10> kDigits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = "10";
  for (const char c : fmt::format("{}", exponent)) {
    text += c == '-' ? "⁻" : kDigits.at(static_cast<std::size_t>(c - '0'));
  }
  return text;
}

/// Returns a column's title with its unit. A column of bytes at a target or budget has the unit in
/// place of its title: "kB to 0.01".
std::string title_of(const TableColumn& column, std::string_view parting, std::string_view unit) {
  if (column.at.empty()) {
    return fmt::format("{}{}{}", column.title, parting, unit);
  }
  return column.is_bytes ? fmt::format("{} {}", unit, column.at)
                         : fmt::format("{}{}{} {}", column.title, parting, unit, column.at);
}

/// Bytes are in a unit in which the least of them is 1 or more.
NumberForm form_of_bytes(const TableColumn& column,
                         double least,
                         const std::vector<double>& numbers) {
  constexpr std::array<const char*, 6> kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  NumberForm form;
  std::size_t unit = 0;
  while (least / form.unit >= 1000 && unit + 1 < kUnits.size()) {
    form.unit *= 1000;
    ++unit;
  }
  form.is_whole = unit == 0 || std::all_of(numbers.begin(), numbers.end(), [&](double one) {
                    return std::fmod(one, form.unit) == 0;
                  });
  form.title = title_of(column, ", ", kUnits.at(unit));
  return form;
}

/// Returns the form of a column of bytes without a number: that of another one, which has.
NumberForm form_without_bytes(const TableSpec& spec, std::size_t column) {
  std::vector<double> numbers;
  for (std::size_t other = 0; other < spec.columns.size() && numbers.empty(); ++other) {
    numbers = spec.columns[other].is_bytes ? numbers_in(spec, other) : numbers;
  }
  const auto sizes = sizes_of(numbers);
  return form_of_bytes(spec.columns[column], sizes ? sizes->first : 1, numbers);
}

/// Small and large numbers are in units of a power of ten, if they do not differ too much for that.
NumberForm form_of(const TableSpec& spec, std::size_t column) {
  constexpr double kLargestFixed = 1e5;
  constexpr double kSmallestFixed = 1e-3;
  constexpr double kWidestInUnit = 1e3;
  const auto numbers = numbers_in(spec, column);
  const auto sizes = sizes_of(numbers);
  const TableColumn& described = spec.columns[column];
  NumberForm form{
      .is_scientific = false, .is_whole = false, .unit = 1, .title = title_of(described, "", "")};
  if (!sizes && described.is_bytes) {
    return form_without_bytes(spec, column);
  }
  if (!sizes) {
    form.is_whole = true;
    return form;
  }
  const auto [least, largest] = *sizes;
  if (described.is_bytes) {
    return form_of_bytes(described, least, numbers_and_ends(spec, column));
  }
  const auto all = numbers_and_ends(spec, column);
  form.is_whole =
      std::all_of(all.begin(), all.end(), [](double one) { return one == std::trunc(one); });
  form.is_count =  // quarters, as medians and quartiles of counts are
      std::all_of(
          all.begin(), all.end(), [](double one) { return 4 * one == std::trunc(4 * one); });
  if (largest < kLargestFixed && least >= kSmallestFixed) {
    return form;
  }
  form.is_whole = false;
  if (largest / least > kWidestInUnit) {
    form.is_scientific = true;
    return form;
  }
  form.unit = std::pow(10, digit_place(least));
  form.title = title_of(described, " / ", power_of_ten(digit_place(least)));
  return form;
}

/// Returns the place of the last digit of a cell: from its interval, or from a number of
/// significant digits.
int last_place(const TableSpec& spec, const TableCell& cell, const NumberForm& form) {
  const auto of_interval = place_of_interval(cell.interval);
  if (of_interval && !spec.digits) {
    return *of_interval;
  }
  double size = 0;
  if (cell.value && std::isfinite(*cell.value)) {
    size = std::abs(*cell.value);
  } else if (cell.interval && std::isfinite(cell.interval->low)) {
    size = std::abs(cell.interval->low);
  }
  const int unit = digit_place(form.unit);
  if (size == 0) {
    return unit;
  }
  const bool is_whole = form.unit == 1 && form.is_count && size == std::trunc(size);
  if (is_whole && !spec.digits && !form.is_scientific) {
    return unit;
  }
  const int place = digit_place(size) - spec.digits.value_or(kShownDigits) + 1;
  return spec.digits || form.is_scientific ? place : std::min(place, unit);
}

/// Writes a finite number with its last digit at a place: "0.0043", "2.53e-4".
std::string plain_number(double value, const NumberForm& form, int place) {
  if (form.is_whole) {
    return fmt::format("{:.0f}", value / form.unit);
  }
  if (form.is_scientific) {
    const int decimals = value == 0 ? 0 : std::clamp(digit_place(value) - place, 0, 15);
    const std::string text = fmt::format("{:.{}e}", value, decimals);
    const auto e = text.find('e');
    return fmt::format("{}e{}", text.substr(0, e), std::atoi(text.c_str() + e + 1));
  }
  const int decimals = -(place - digit_place(form.unit));
  double shown = value / form.unit;
  if (decimals < 0) {
    const double step = std::pow(10, -decimals);
    shown = std::round(shown / step) * step;
  }
  return fmt::format("{:.{}f}", shown == 0 ? 0.0 : shown, std::clamp(decimals, 0, 15));
}

// --- Cells --------------------------------------------------------------------------------------

/// The texts of a cell, as they are printed. Widths are in digits.
struct PrintedCell {
  std::string value;       // for LaTeX
  std::string interval;    // for LaTeX; empty where there is none
  double value_width = 0;  // of a text
  double interval_width = 0;
};

/// The room that siunitx leaves for numbers: digits before and behind the point, and of the
/// exponent.
struct Room {
  std::size_t whole = 1;
  std::size_t decimals = 0;
  std::size_t exponent = 0;
  bool has_minus = false;
  bool has_minus_in_exponent = false;

  void add(std::string text) {
    has_minus = has_minus || text.front() == '-';
    text = text.substr(text.front() == '-' ? 1 : 0);
    const std::size_t e = std::min(text.find('e'), text.size());
    const std::size_t point = std::min(text.find('.'), e);
    whole = std::max(whole, point);
    decimals = std::max(decimals, e - point - (e > point ? 1 : 0));
    if (e < text.size()) {
      const bool is_below = text[e + 1] == '-';
      has_minus_in_exponent = has_minus_in_exponent || is_below;
      exponent = std::max(exponent, text.size() - e - (is_below ? 2 : 1));
    }
  }

  std::string format() const {
    const std::string fixed = fmt::format("{}{}.{}", has_minus ? "-" : "", whole, decimals);
    return exponent == 0
               ? fixed
               : fmt::format("{}e{}{}", fixed, has_minus_in_exponent ? "-" : "", exponent);
  }

  /// An exponent is printed as a product with a power of ten.
  double width() const {
    constexpr double kPower = 3.5;
    const auto digits = static_cast<double>(whole + decimals + (has_minus ? 1 : 0));
    return digits + (decimals > 0 ? 0.5 : 0) +
           (exponent > 0 ? kPower + static_cast<double>(exponent) : 0);
  }
};

/// A PrintedColumn is a column with its title, broken into lines.
struct PrintedColumn {
  bool is_number = false;
  std::vector<std::string> title;
  std::vector<PrintedCell> cells;
  Room room;
  bool has_interval = false;
  double value_width = 0;     // of the widest value
  double interval_width = 0;  // of the widest interval
  double least_width = 0;     // of a text column, whose lines may be broken

  double width(bool is_beside) const;
};

double width_of_title(const std::vector<std::string>& lines) {
  constexpr double kLetter = 0.85;  // titles have narrow signs in them
  std::size_t longest = 0;
  for (const auto& line : lines) {
    longest = std::max(longest, characters_in(line));
  }
  return kLetter * static_cast<double>(longest);
}

double PrintedColumn::width(bool is_beside) const {
  if (!is_number) {
    return std::max(least_width, width_of_title(title));
  }
  constexpr double kGap = 1;
  constexpr double kSmaller = 0.94;  // \scriptsize
  const double content = is_beside && has_interval
                             ? value_width + kGap + interval_width
                             : std::max(value_width, kSmaller * interval_width);
  return std::max(content, width_of_title(title));
}

std::string latex_end(double value, const NumberForm& form, int place) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "$\\infty$" : "$-\\infty$";
  }
  return fmt::format("\\num{{{}}}", plain_number(value, form, place));
}

/// Returns the width of a number that was printed for \num: points are narrower than digits, and an
/// exponent is a product with a power of ten.
double width_of_number(const std::string& text) {
  constexpr double kPoint = 0.55;
  constexpr double kPower = 4.5;
  double width = 0;
  for (const char c : text) {
    width += c == '.' ? kPoint : c == 'e' ? kPower : 1;
  }
  return width;
}

double width_of_end(double value, const NumberForm& form, int place) {
  return std::isfinite(value) ? width_of_number(plain_number(value, form, place)) : 2;
}

/// Sets the number behind it in bold letters of the text: fonts such as Times have no bold numbers
/// in mathematics. Signs stay those of mathematics, which the letters of every text have; exponents
/// are set in mathematics.
constexpr const char* kBestMacro =
    "\\protected\\def\\residuumbest{\\bfseries\\sisetup{mode=text}"
    "\\def\\textminus{\\ifmmode-\\else{\\boldmath$-$}\\fi}"
    "\\def\\texttimes{\\ifmmode\\times\\else{\\boldmath$\\times$}\\fi}}\n";

PrintedCell printed(const TableSpec& spec, const TableCell& cell, const NumberForm& form) {
  constexpr double kBrackets = 2.2;  // with the comma and the blank between
  const int place = last_place(spec, cell, form);
  PrintedCell text;
  if (!cell.value) {
    text.value = "{--}";
  } else if (!std::isfinite(*cell.value)) {
    text.value = fmt::format("{{{}}}", latex_end(*cell.value, form, place));
  } else {
    text.value = (cell.is_best ? "\\residuumbest " : "") + plain_number(*cell.value, form, place);
  }
  if (cell.interval) {
    text.interval = fmt::format("{{[}}{}, {}{{]}}",
                                latex_end(cell.interval->low, form, place),
                                latex_end(cell.interval->high, form, place));
    text.interval_width = kBrackets + width_of_end(cell.interval->low, form, place) +
                          width_of_end(cell.interval->high, form, place);
  }
  if (!cell.note.empty()) {
    constexpr double kLetter = 0.8;
    text.interval += (text.interval.empty() ? "" : "; ") + latex_text(cell.note);
    text.interval_width += kLetter * static_cast<double>(2 + characters_in(cell.note));
  }
  return text;
}

/// Breaks a title into lines of about `width` characters, between words. An operator stays with
/// what it stands between.
std::vector<std::string> lines_of(const std::string& title, double width) {
  std::vector<std::string> lines(1);
  bool is_joined = true;
  for (std::size_t begin = 0; begin <= title.size();) {
    const std::size_t end = std::min(title.find(' ', begin), title.size());
    const std::string word = title.substr(begin, end - begin);
    const bool is_operator = characters_in(word) == 1;
    const std::size_t together = characters_in(lines.back()) + 1 + characters_in(word);
    if (!is_joined && !is_operator && static_cast<double>(together) > width) {
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    is_joined = is_operator;
    begin = end + 1;
  }
  return lines;
}

bool has_note(const TableSpec& spec, std::size_t column) {
  return std::any_of(spec.rows.begin(), spec.rows.end(), [&](const auto& row) {
    return !row[column].note.empty();
  });
}

PrintedColumn print_numbers(const TableSpec& spec, std::size_t column) {
  constexpr double kLeastTitle = 11;
  const NumberForm form = form_of(spec, column);
  PrintedColumn result;
  result.is_number = true;
  result.has_interval = has_interval(spec, column) || has_note(spec, column);
  for (const auto& row : spec.rows) {
    const TableCell& cell = row[column];
    result.cells.push_back(printed(spec, cell, form));
    if (cell.value && std::isfinite(*cell.value)) {
      result.room.add(plain_number(*cell.value, form, last_place(spec, cell, form)));
    }
    result.interval_width = std::max(result.interval_width, result.cells.back().interval_width);
  }
  result.value_width = result.room.width();
  result.title =
      lines_of(form.title, std::max({kLeastTitle, result.value_width, result.interval_width}));
  return result;
}

/// Returns the width of the longest piece of a text that is not broken.
double longest_piece(std::string_view text) {
  double longest = 0;
  double piece = 0;
  for (const char c : text) {
    const bool is_break = std::string_view(" -=./_,:").find(c) != std::string_view::npos;
    piece = c == ' ' ? 0 : piece + 1;
    longest = std::max(longest, piece);
    piece = is_break ? 0 : piece;
  }
  return longest;
}

PrintedColumn print_texts(const TableSpec& spec, std::size_t column) {
  constexpr double kReadable = 12;
  constexpr double kLongestPiece = 16;  // a longer one is broken anywhere
  constexpr double kLetter = 0.92;
  PrintedColumn result;
  result.title = {spec.columns[column].title};
  for (const auto& row : spec.rows) {
    const std::string& text = row[column].text;
    const double whole = kLetter * static_cast<double>(characters_in(text));
    result.cells.push_back({.value = fmt::format("{{{}}}", latex_text(text, LatexBreaks::in_words)),
                            .interval = {},
                            .value_width = whole});
    result.least_width = std::max({result.least_width,
                                   std::min(longest_piece(text), kLongestPiece),
                                   std::min(whole, kReadable)});
  }
  return result;
}

// --- The layout ---------------------------------------------------------------------------------

constexpr double kGapOfColumns = 1.9;  // digits, of \tabcolsep on both sides

/// A Block has some of the columns, in their order; the names of the rows, which are the columns of
/// texts before the first number, are in every block.
using Block = std::vector<std::size_t>;

struct TableLayout {
  bool is_beside = true;
  std::vector<Block> blocks;
};

double width_of(const std::vector<PrintedColumn>& columns, const Block& block, bool is_beside) {
  double width = 0;
  for (const std::size_t column : block) {
    width += (width == 0 ? 0 : kGapOfColumns) + columns[column].width(is_beside);
  }
  return width;
}

TableLayout layout_of(const std::vector<PrintedColumn>& columns, double room) {
  Block all(columns.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const bool is_beside : {true, false}) {
    if (width_of(columns, all, is_beside) <= room) {
      return {.is_beside = is_beside, .blocks = {all}};
    }
  }
  const auto first_number = std::find_if(
      columns.begin(), columns.end(), [](const PrintedColumn& one) { return one.is_number; });
  const auto names = first_number - columns.begin();
  const Block of_names(all.begin(), all.begin() + names);
  TableLayout layout{.is_beside = false, .blocks = {of_names}};
  for (auto column = all.begin() + names; column != all.end(); ++column) {
    Block longer = layout.blocks.back();
    longer.push_back(*column);
    if (longer.size() > of_names.size() + 1 && width_of(columns, longer, false) > room) {
      longer = of_names;
      longer.push_back(*column);
      layout.blocks.emplace_back();
    }
    layout.blocks.back() = longer;
  }
  return layout;
}

// --- LaTeX --------------------------------------------------------------------------------------

std::string latex_row(const std::vector<std::string>& cells) {
  return fmt::format("{} \\\\\n", fmt::join(cells, " & "));
}

std::string latex_title(const PrintedColumn& column) {
  if (column.title.size() == 1) {
    return latex_text(column.title.front());
  }
  std::string lines;
  for (const auto& line : column.title) {
    lines += (lines.empty() ? "" : "\\\\{}") + latex_text(line);  // {}: a "[" is no option
  }
  return fmt::format("\\shortstack{{{}}}", lines);
}

std::string header_row(const std::vector<PrintedColumn>& columns,
                       const Block& block,
                       bool is_beside) {
  std::vector<std::string> cells;
  for (const std::size_t i : block) {
    const bool is_double = is_beside && columns[i].has_interval;
    cells.push_back(
        fmt::format("{}{{{}}}", is_double ? "\\multicolumn{2}{c}" : "", latex_title(columns[i])));
  }
  return latex_row(cells);
}

/// Returns whether intervals of the row stand below their values.
bool has_two_rows(const std::vector<PrintedColumn>& columns,
                  const Block& block,
                  bool is_beside,
                  std::size_t row) {
  return !is_beside && std::any_of(block.begin(), block.end(), [&](std::size_t i) {
    return !columns[i].cells[row].interval.empty();
  });
}

// Names go on beside the intervals that stand below a row, and the room below a longer one is kept
// free: the next row begins under it, or a little below the intervals.
constexpr const char* kNameMacros =
    "\\def\\residuumbelow{0pt}"
    "\\protected\\def\\residuumname#1{\\setbox0\\hbox{\\parbox[t]{\\hsize}{\\raggedright #1}}%\n"
    "  \\xdef\\residuumbelow{\\the\\dp0}\\leavevmode\\smash{\\box0}}%\n"
    "\\def\\residuumnext{\\noalign{\\ifdim\\residuumbelow>\\dimexpr\\ht\\strutbox+"
    "2\\dp\\strutbox\\relax"
    "\n  \\vskip\\dimexpr\\residuumbelow-\\ht\\strutbox-2\\dp\\strutbox\\relax\\fi\\vskip2pt}}%\n";

/// Writes a row; intervals that stand below their values make a second one.
std::string body_row(const std::vector<PrintedColumn>& columns,
                     const Block& block,
                     bool is_beside,
                     std::size_t row) {
  const bool is_double = has_two_rows(columns, block, is_beside, row);
  std::vector<std::string> values;
  std::vector<std::string> intervals;
  for (const std::size_t i : block) {
    const PrintedCell& cell = columns[i].cells[row];
    const bool is_over_two = is_double && !columns[i].is_number;
    values.push_back(is_over_two ? fmt::format("\\residuumname{}", cell.value) : cell.value);
    if (is_beside && columns[i].has_interval) {
      values.push_back(cell.interval);
    }
    intervals.push_back(cell.interval.empty() ? ""
                                              : fmt::format("{{\\scriptsize {}}}", cell.interval));
  }
  return latex_row(values) +
         (is_double ? latex_row(intervals) + "\\residuumnext\n" : std::string());
}

/// Returns the width that is left for each column of texts, in a block of this width.
double room_of_texts(const std::vector<PrintedColumn>& columns,
                     const Block& block,
                     bool is_beside,
                     double room) {
  double texts = 0;
  for (const std::size_t i : block) {
    if (columns[i].is_number) {
      room -= columns[i].width(is_beside) + kGapOfColumns;
    } else {
      ++texts;
    }
  }
  return texts == 0 ? 0 : room / texts;
}

std::string preamble_of(const std::vector<PrintedColumn>& columns,
                        const Block& block,
                        bool is_beside) {
  std::string preamble = "@{}";
  for (const std::size_t i : block) {
    preamble += columns[i].is_number ? fmt::format(" S[table-format={}]", columns[i].room.format())
                                     : " >{\\raggedright\\arraybackslash}X";
    preamble += is_beside && columns[i].has_interval ? " @{\\,}l" : "";
  }
  return preamble + " @{}";
}

/// Rows from `begin` on, before `end`.
struct BlockRows {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::string latex_block(const std::vector<PrintedColumn>& columns,
                        const Block& block,
                        bool is_beside,
                        const BlockRows& rows) {
  const bool has_texts =
      std::any_of(block.begin(), block.end(), [&](std::size_t i) { return !columns[i].is_number; });
  const char* const environment = has_texts ? "tabularx" : "tabular";
  std::string text = fmt::format("\\begin{{{}}}{}{{{}}}\n\\toprule\n",
                                 environment,
                                 has_texts ? "{\\linewidth}" : "",
                                 preamble_of(columns, block, is_beside));
  text += header_row(columns, block, is_beside) + "\\midrule\n";
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    text += body_row(columns, block, is_beside, row);
  }
  return text + fmt::format("\\bottomrule\n\\end{{{}}}\n", environment);
}

/// Returns the caption that stands at the table: what it is, and what the brackets are.
std::string short_caption(const TableSpec& spec) {
  const std::string title = latex_text(spec.title.empty() ? spec.name : spec.title);
  const std::string seeds = seeds_words(spec);  // "n = 3 to 8"
  if (seeds.empty()) {
    return fmt::format("{}.", title);
  }
  const std::size_t end = std::min(seeds.find(" to "), seeds.size());
  std::string shown = latex_text(shown_words(spec));
  shown.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(shown.front())));
  return fmt::format("{}. {}, ${}${}{}.",
                     title,
                     shown,
                     seeds.substr(0, end),
                     seeds.substr(end),
                     spec.notes.empty() ? "" : "; behind them " + latex_text(spec.notes));
}

/// Estimates how many lines a row takes: names are broken where they are wider than their column.
double lines_of_row(const std::vector<PrintedColumn>& columns,
                    const Block& block,
                    bool is_beside,
                    double room,
                    std::size_t row) {
  constexpr double kFilled = 0.85;  // of a line, before a word that does not fit
  double lines = 1;
  for (const std::size_t i : block) {
    if (!columns[i].is_number) {
      lines = std::max(
          lines, std::ceil(columns[i].cells[row].value_width / (kFilled * std::max(room, 1.0))));
    }
  }
  const bool is_double = has_two_rows(columns, block, is_beside, row);
  constexpr double kSmashed = 2;  // such a name goes on beside the intervals
  return is_double ? std::max(lines + (lines == kSmashed ? 0 : 1), kSmashed) : lines;
}

/// A Piece is a part of a table that stands in one float: rows of blocks.
using Piece = std::vector<std::pair<Block, BlockRows>>;

/// Parts a table into pieces that are no higher than a page. Lines are of \footnotesize: a page of
/// a paper has 550 pt and more, which are 57 of them, with a caption.
std::vector<Piece> pieces_of(const std::vector<PrintedColumn>& columns,
                             const TableLayout& layout,
                             double room,
                             std::size_t rows) {
  constexpr double kMostLines = 46;
  constexpr double kHead = 4;  // with the rules
  std::vector<Piece> pieces(1);
  double lines = 0;
  for (const Block& block : layout.blocks) {
    const double text_room = room_of_texts(columns, block, layout.is_beside, room);
    std::size_t begin = 0;
    lines += kHead;
    for (std::size_t row = 0; row < rows; ++row) {
      const double more = lines_of_row(columns, block, layout.is_beside, text_room, row);
      if (lines + more > kMostLines && (row > begin || !pieces.back().empty())) {
        if (row > begin) {
          pieces.back().emplace_back(block, BlockRows{.begin = begin, .end = row});
        }
        pieces.emplace_back();
        begin = row;
        lines = kHead;
      }
      lines += more;
    }
    pieces.back().emplace_back(block, BlockRows{.begin = begin, .end = rows});
  }
  return pieces;
}

TableSpec without_notes(TableSpec spec) {
  for (auto& row : spec.rows) {
    for (auto& cell : row) {
      cell.note.clear();
    }
  }
  spec.notes.clear();
  return spec;
}

/// Returns the table whose rows of a method are one: a column for each number of the column that is
/// spread.
TableSpec spread_out(const TableSpec& spec) {
  if (!spec.spread) {
    return without_notes(spec);
  }
  const auto found = std::find_if(spec.columns.begin(),
                                  spec.columns.end(),
                                  [&](const TableColumn& one) { return one.key == *spec.spread; });
  const auto over = static_cast<std::size_t>(found - spec.columns.begin());
  const std::size_t shown = spec.columns.size() - 1;
  if (over >= shown) {
    return without_notes(spec);
  }
  TableSpec wide = spec;
  wide.spread.reset();
  wide.rows.clear();
  wide.methods.clear();
  wide.columns = {spec.columns.front()};
  std::vector<double> places;
  for (const auto& row : spec.rows) {
    const double place = row[over].value.value_or(0);
    auto column = std::find(places.begin(), places.end(), place);
    if (column == places.end()) {
      places.push_back(place);
      column = places.end() - 1;
      TableColumn added = spec.columns[shown];
      added.at = fmt::format("to {}", short_number(place));
      wide.columns.push_back(std::move(added));
    }
    const auto at = static_cast<std::size_t>(column - places.begin()) + 1;
    auto same = std::find_if(wide.rows.begin(), wide.rows.end(), [&](const auto& other) {
      return other.front().text == row.front().text;
    });
    if (same == wide.rows.end()) {
      wide.rows.push_back({row.front()});
      same = wide.rows.end() - 1;
    }
    same->resize(std::max(same->size(), at + 1));
    (*same)[at] = row[shown];
  }
  for (auto& row : wide.rows) {
    row.resize(wide.columns.size());
  }
  return wide;
}

bool has_best(const TableSpec& spec) {
  return std::any_of(spec.rows.begin(), spec.rows.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(), [](const TableCell& cell) { return cell.is_best; });
  });
}

/// Writes one float: the whole table, or a piece of it.
std::string latex_piece(const TableSpec& spec,
                        const std::vector<PrintedColumn>& columns,
                        const Piece& piece,
                        bool is_beside,
                        bool is_first) {
  const char* const environment = spec.is_wide ? "table*" : "table";
  std::string text = fmt::format(
      "\\begin{{{}}}\n\\centering\n{}"
      "\\footnotesize\\setlength{{\\tabcolsep}}{{4pt}}"
      "\\sisetup{{detect-weight=true, group-minimum-digits=9}}\n{}",
      environment,
      is_first ? fmt::format("\\caption{{{}}}\n\\label{{tab:{}}}\n", short_caption(spec), spec.name)
               : fmt::format("Table~\\ref{{tab:{}}}, continued.\\par\\smallskip\n", spec.name),
      std::string(has_best(spec) ? kBestMacro : "") + (is_beside ? "" : kNameMacros));
  for (std::size_t i = 0; i < piece.size(); ++i) {
    text += i == 0 ? "" : "\\par\\smallskip\n";
    text += latex_block(columns, piece[i].first, is_beside, piece[i].second);
  }
  return text + fmt::format("\\end{{{}}}\n", environment);
}

}  // namespace

std::string table_latex(const TableSpec& described) {
  // Widths in digits of \footnotesize: a column of a paper is at least 219 pt wide, a page 450 pt.
  constexpr double kColumn = 50;
  constexpr double kPage = 100;
  const TableSpec spec = spread_out(described);
  std::vector<PrintedColumn> columns;
  for (std::size_t i = 0; i < spec.columns.size(); ++i) {
    columns.push_back(spec.columns[i].is_number ? print_numbers(spec, i) : print_texts(spec, i));
  }
  const double room = spec.is_wide ? kPage : kColumn;
  const TableLayout layout = layout_of(columns, room);
  std::string text = fmt::format(
      "% The document needs \\usepackage{{booktabs}}, \\usepackage{{tabularx}} and "
      "\\usepackage{{siunitx}}.\n"
      "% What the numbers are stands in {0}.caption.tex; not rounded, they are in {0}.csv.\n",
      spec.name);
  bool is_first = true;
  for (const Piece& piece : pieces_of(columns, layout, room, spec.rows.size())) {
    text += latex_piece(spec, columns, piece, layout.is_beside, std::exchange(is_first, false));
  }
  return text;
}

std::string table_caption_latex(const TableSpec& spec) {
  return latex_text(full_caption(spec)) + '\n';
}

}  // namespace residuum::reports
