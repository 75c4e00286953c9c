#include "reports/typeset/latex_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "reports/figures/pgfplots.h"
#include "reports/numbers/words.h"

namespace residuum::reports {
namespace {

/// A NumberForm is that of a column's numbers: fixed with so many decimals, or scientific.
struct NumberForm {
  bool is_scientific = false;
  int decimals = 0;
};

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

/// Returns the significant digits that all intervals of the column need.
int digits_in(const TableSpec& spec, std::size_t column) {
  int digits = kShownDigits;
  for (const auto& row : spec.rows) {
    digits = std::max(digits, digits_for(row[column].interval));
  }
  return digits;
}

NumberForm form_of(const std::vector<double>& numbers, int digits) {
  constexpr double kLargestFixed = 1e5;
  constexpr double kSmallestFixed = 1e-3;
  double least = kLargestFixed;
  double largest = 0;
  bool is_whole = true;
  for (const double number : numbers) {
    const double size = std::abs(number);
    largest = std::max(largest, size);
    least = size > 0 ? std::min(least, size) : least;
    is_whole = is_whole && number == std::trunc(number);
  }
  if (largest >= kLargestFixed || least < kSmallestFixed) {
    return {.is_scientific = true, .decimals = digits - 1};
  }
  const int above = static_cast<int>(std::floor(std::log10(least))) + 1;  // digits before the point
  return {.is_scientific = false, .decimals = is_whole ? 0 : std::max(0, digits - above)};
}

/// Writes a finite number as siunitx reads it, "2.534e-4".
std::string plain_number(double value, const NumberForm& form) {
  if (!form.is_scientific) {
    return fmt::format("{:.{}f}", value, form.decimals);
  }
  const std::string text = fmt::format("{:.{}e}", value, form.decimals);
  const auto e = text.find('e');
  return fmt::format("{}e{}", text.substr(0, e), std::atoi(text.c_str() + e + 1));
}

std::string in_text(double value, const NumberForm& form) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "$\\infty$" : "$-\\infty$";
  }
  return fmt::format("\\num{{{}}}", plain_number(value, form));
}

/// Room is what siunitx must leave for numbers: digits before the point, and of the exponent.
struct Room {
  std::size_t whole = 1;
  std::size_t exponent = 0;
  bool has_minus = false;
  bool has_minus_in_exponent = false;

  void add(std::string text) {
    has_minus = has_minus || text.front() == '-';
    text = text.substr(text.front() == '-' ? 1 : 0);
    const std::size_t e = std::min(text.find('e'), text.size());
    whole = std::max(whole, std::min(text.find('.'), e));
    if (e < text.size()) {
      const bool is_below = text[e + 1] == '-';
      has_minus_in_exponent = has_minus_in_exponent || is_below;
      exponent = std::max(exponent, text.size() - e - (is_below ? 2 : 1));
    }
  }
};

std::string table_format(const TableSpec& spec, std::size_t column, const NumberForm& form) {
  Room room;
  for (const auto& row : spec.rows) {
    const auto& value = row[column].value;
    if (value && std::isfinite(*value)) {
      room.add(plain_number(*value, form));
    }
  }
  std::string text = fmt::format("{}{}.{}", room.has_minus ? "-" : "", room.whole, form.decimals);
  if (room.exponent > 0) {
    text += fmt::format("e{}{}", room.has_minus_in_exponent ? "-" : "", room.exponent);
  }
  return text;
}

std::string latex_value(const TableCell& cell, const NumberForm& form) {
  if (!cell.value) {
    return "{--}";
  }
  if (!std::isfinite(*cell.value)) {
    return fmt::format("{{{}}}", in_text(*cell.value, form));
  }
  return fmt::format("{}{}", cell.is_best ? "\\bfseries " : "", plain_number(*cell.value, form));
}

std::string latex_interval(const TableCell& cell, const NumberForm& form) {
  return cell.interval ? fmt::format("{{[}}{}, {}{{]}}",
                                     in_text(cell.interval->low, form),
                                     in_text(cell.interval->high, form))
                       : std::string();
}

/// A LatexColumn is a column of the spec, perhaps with a further one for intervals.
struct LatexColumn {
  NumberForm form;
  bool has_interval = false;
};

std::string latex_row(const std::vector<std::string>& cells) {
  return fmt::format("{} \\\\\n", fmt::join(cells, " & "));
}

std::string header_row(const TableSpec& spec, const std::vector<LatexColumn>& columns) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string title = latex_text(spec.columns[i].title);
    cells.push_back(columns[i].has_interval ? fmt::format("\\multicolumn{{2}}{{c}}{{{}}}", title)
                                            : fmt::format("{{{}}}", title));
  }
  return latex_row(cells);
}

std::string body_row(const TableSpec& spec,
                     const std::vector<LatexColumn>& columns,
                     const std::vector<TableCell>& row) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!spec.columns[i].is_number) {
      cells.push_back(fmt::format("{{{}}}", latex_text(row[i].text)));
      continue;
    }
    cells.push_back(latex_value(row[i], columns[i].form));
    if (columns[i].has_interval) {
      cells.push_back(latex_interval(row[i], columns[i].form));
    }
  }
  return latex_row(cells);
}

}  // namespace

std::string table_latex(const TableSpec& spec) {
  std::vector<LatexColumn> columns;
  std::string preamble;
  for (std::size_t i = 0; i < spec.columns.size(); ++i) {
    columns.push_back({.form = form_of(numbers_in(spec, i), digits_in(spec, i)),
                       .has_interval = has_interval(spec, i)});
    preamble += i == 0 ? "" : " ";
    preamble += spec.columns[i].is_number
                    ? fmt::format("S[table-format={}]", table_format(spec, i, columns[i].form))
                    : "l";
    preamble += columns[i].has_interval ? " @{\\,}l" : "";
  }
  std::string text = fmt::format(
      "% The document needs \\usepackage{{booktabs}} and \\usepackage{{siunitx}}; not rounded, "
      "the\n"
      "% numbers are in {0}.csv.\n"
      "\\begin{{table}}\n\\centering\n\\caption{{{1}}}\n\\label{{tab:{0}}}\n"
      "\\sisetup{{detect-weight=true}}\n\\begin{{tabular}}{{{2}}}\n\\toprule\n",
      spec.name,
      latex_text(full_caption(spec)),
      preamble);
  text += header_row(spec, columns) + "\\midrule\n";
  for (const auto& row : spec.rows) {
    text += body_row(spec, columns, row);
  }
  return text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
}

}  // namespace residuum::reports
