#include "reports/latex/table_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.h"
#include "reports/analysis/words.h"
#include "reports/results/csv.h"

namespace residuum::reports {
namespace {

/// Returns the least and the largest number of seeds of a cell that has some.
std::pair<std::size_t, std::size_t> seeds_in(const TableSpec& spec) {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  std::size_t largest = 0;
  for (const auto& row : spec.rows) {
    for (const auto& cell : row) {
      least = cell.n > 0 ? std::min(least, cell.n) : least;
      largest = std::max(largest, cell.n);
    }
  }
  return {least, largest};
}

/// Writes a number with its last digit at a place, as LaTeX has it: "0.0040", "2.53e-07".
std::string rounded_at(double value, int place) {
  constexpr double kLargestFixed = 1e6;
  constexpr int kLastFixed = -7;
  constexpr int kMostDigits = 15;
  const double step = std::pow(10, place);
  const double shown = std::round(value / step) * step;
  const bool is_fixed = std::abs(shown) < kLargestFixed && place >= kLastFixed;
  if (is_fixed || shown == 0) {
    return fmt::format("{:.{}f}",
                       shown == 0  ? 0.0
                       : place > 0 ? shown
                                   : value,
                       std::clamp(-place, 0, is_fixed ? kMostDigits : 1));
  }
  const int first = static_cast<int>(std::floor(std::log10(std::abs(shown))));
  return fmt::format("{:.{}e}", value, std::clamp(first - place, 0, kMostDigits));
}

bool has_no_fraction(double value) { return value == std::trunc(value); }

/// Returns the place of the last digit of a cell that has an interval: by the interval, or by the
/// digits that were asked for. Nothing where its numbers are counts or the interval has no width.
std::optional<int> last_place_of(const TableSpec& spec, const TableCell& cell) {
  if (!cell.interval || !cell.value || !std::isfinite(*cell.value) ||
      !place_of_interval(cell.interval)) {
    return std::nullopt;
  }
  if (has_no_fraction(*cell.value) && has_no_fraction(cell.interval->low) &&
      has_no_fraction(cell.interval->high)) {
    return std::nullopt;
  }
  if (spec.digits && *cell.value != 0) {
    return static_cast<int>(std::floor(std::log10(std::abs(*cell.value)))) - *spec.digits + 1;
  }
  return place_of_interval(cell.interval);
}

std::string markdown_cell(const TableSpec& spec, std::size_t column, const TableCell& cell) {
  if (!spec.columns[column].is_number) {
    return markdown_text(cell.text);
  }
  const int digits = spec.digits.value_or(digits_for(cell.interval));
  const auto place = last_place_of(spec, cell);
  const auto print = [&](const std::optional<double>& value) {
    return place && value ? rounded_at(*value, *place) : short_number(value, digits);
  };
  std::string text = print(cell.value);
  if (cell.is_best) {
    text = fmt::format("**{}**", text);
  }
  if (cell.interval) {
    const std::string interval =
        fmt::format("[{}, {}]", print(cell.interval->low), print(cell.interval->high));
    text += ' ' + markdown_text(interval);
  }
  return text;
}

std::string csv_header(const TableSpec& spec, const std::vector<bool>& intervals) {
  std::string text;
  for (std::size_t i = 0; i < spec.columns.size(); ++i) {
    const std::string& key = spec.columns[i].key;
    text += (i == 0 ? "" : ",") + key;
    text += intervals[i] ? fmt::format(",{0}_low,{0}_high,{0}_n", key) : "";
  }
  return text + '\n';
}

/// Writes the fields of a cell's interval and its seeds, each after a comma.
std::string interval_fields(const TableCell& cell) {
  const std::string seeds = cell.n > 0 ? fmt::format("{}", cell.n) : "";
  return cell.interval ? fmt::format(",{},{},{}",
                                     format_number(cell.interval->low),
                                     format_number(cell.interval->high),
                                     seeds)
                       : fmt::format(",,,{}", seeds);
}

std::string markdown_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

}  // namespace

TableCell text_of(std::string_view text) { return {.text = std::string(text)}; }

TableCell number_of(const std::optional<double>& value) { return {.text = {}, .value = value}; }

TableCell centre_cell(const Centre& centre) {
  return {.text = {}, .value = centre.middle, .interval = centre.interval, .n = centre.n};
}

std::string seeds_words(const TableSpec& spec) {
  const auto [least, largest] = seeds_in(spec);
  if (spec.interval.empty() || largest == 0) {
    return {};
  }
  return least == largest ? fmt::format("n = {}", largest)
                          : fmt::format("n = {} to {}", least, largest);
}

std::optional<int> place_of_interval(const std::optional<Interval>& interval) {
  constexpr double kRounding = 1e-12;  // of the ends: what sums of equal numbers differ by
  if (!interval) {
    return std::nullopt;
  }
  const double width = interval->high - interval->low;
  const double size = std::max(std::abs(interval->low), std::abs(interval->high));
  if (!std::isfinite(width) || width <= kRounding * size) {
    return std::nullopt;
  }
  const int place = static_cast<int>(std::floor(std::log10(width)));
  return width < 2 * std::pow(10, place) ? place - 1 : place;
}

std::string shown_words(const TableSpec& spec) {
  constexpr std::string_view kComma = ", ";
  const std::size_t comma = spec.interval.find(kComma);
  const std::string brackets =
      comma == std::string::npos ? spec.interval : spec.interval.substr(comma + kComma.size());
  return fmt::format("{}in brackets {}",
                     comma == std::string::npos ? "" : spec.interval.substr(0, comma + 2),
                     brackets == "IQR" ? "the quartiles" : "the " + brackets);
}

std::string full_caption(const TableSpec& spec) {
  const std::string seeds = seeds_words(spec);
  if (seeds.empty()) {
    return spec.caption;
  }
  return fmt::format("{} Shown: {}, over {} seed{}.",
                     spec.caption,
                     shown_words(spec),
                     seeds,
                     seeds_in(spec).second == 1 ? "; one seed has no interval" : "s");
}

bool has_interval(const TableSpec& spec, std::size_t column) {
  return std::any_of(spec.rows.begin(), spec.rows.end(), [column](const auto& row) {
    return row[column].interval.has_value();
  });
}

std::string table_csv(const TableSpec& spec) {
  std::vector<bool> intervals;
  for (std::size_t i = 0; i < spec.columns.size(); ++i) {
    intervals.push_back(has_interval(spec, i));
  }
  std::string text = csv_header(spec, intervals);
  for (const auto& row : spec.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += i == 0 ? "" : ",";
      text += spec.columns[i].is_number ? format_number(row[i].value) : csv_field(row[i].text);
      text += intervals[i] ? interval_fields(row[i]) : "";
    }
    text += '\n';
  }
  return text;
}

std::string table_markdown(const TableSpec& spec) {
  std::vector<std::string> header;
  std::vector<std::string> rule;
  for (const auto& column : spec.columns) {
    header.push_back(markdown_text(column.title));
    rule.emplace_back(column.is_number ? "---:" : "---");
  }
  std::string text =
      markdown_text(full_caption(spec)) + "\n\n" + markdown_row(header) + markdown_row(rule);
  for (const auto& row : spec.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(markdown_cell(spec, i, row[i]));
    }
    text += markdown_row(cells);
  }
  return text;
}

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*_[]|~$@";
  std::string escaped;
  for (const char c : harmless(text)) {
    if (c == '<' || c == '>' || c == '&') {
      escaped += c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;";
      continue;
    }
    const bool is_in_address = c == '/' && !escaped.empty() && escaped.back() == ':';
    if (is_in_address || kMarkup.find(c) != std::string_view::npos) {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

}  // namespace residuum::reports
