#include "reports/figures/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <system_error>

#include "reports/figures/figure.h"
#include "reports/figures/pgfplots.h"
#include "reports/tables/csv.h"
#include "reports/tables/files.h"

namespace residuum::reports {
namespace {

constexpr double kShadeLogSpan = 20;  // beyond this ratio colours go by the logarithm

double shade_of(const HeatMap& map, double value) {
  return map.is_log() ? std::log10(value) : value;
}

void append_axis(std::string& text,
                 std::string_view axis,
                 std::string_view key,
                 const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += fmt::format("{},{},{},{}\n", axis, i, csv_field(key), csv_field(values[i]));
  }
}

/// Returns "0,1,2".
std::string axis_places(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ",", i);
  }
  return text;
}

/// Returns the labels in braces, in which commas part nothing.
std::string tick_labels(const std::vector<std::string>& values) {
  std::string text;
  for (const auto& value : values) {
    text += fmt::format("{}{{{}}}", text.empty() ? "" : ",", latex_text(drawn_label(value)));
  }
  return text;
}

}  // namespace

std::optional<double> HeatMap::value(std::size_t row, std::size_t column) const {
  const auto& cell = cells.at(row * columns.size() + column);
  return cell && std::isfinite(*cell) ? cell : std::nullopt;
}

std::vector<double> HeatMap::values() const {
  std::vector<double> finite;
  for (const auto& cell : cells) {
    if (cell && std::isfinite(*cell)) {
      finite.push_back(*cell);
    }
  }
  return finite;
}

bool HeatMap::is_log() const {
  const auto finite = values();
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  return !finite.empty() && *low > 0 && *high > kShadeLogSpan * *low;
}

std::string heat_map_csv(const HeatMap& map) {
  std::string text = "row,column,value,shade\n";
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
      const auto value = map.value(row, column);
      text += fmt::format("{},{},{},{}\n",
                          row,
                          column,
                          format_number(value.value_or(kNone)),
                          format_number(value ? shade_of(map, *value) : kNone));
    }
  }
  return text;
}

std::string heat_map_axes_csv(const HeatMap& map) {
  std::string text = "axis,place,key,value\n";
  append_axis(text, "row", map.row_key, map.rows);
  append_axis(text, "column", map.column_key, map.columns);
  return text;
}

std::string heat_map_tex(const HeatMap& map) {
  const auto finite = map.values();
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  const double least = shade_of(map, *low);
  const double largest = shade_of(map, *high);
  return fmt::format(
      "% Draws {0}.csv. The document needs \\usepackage{{pgfplots}} and "
      "\\pgfplotsset{{compat=1.16}},\n% and {0}.csv beside it.\n"
      "\\begin{{tikzpicture}}\n"
      "\\begin{{axis}}[\n"
      "  width=0.8\\linewidth, height=0.6\\linewidth, title={{{1}}},\n"
      "  xlabel={{{2}}}, ylabel={{{3}}},\n"
      "  xtick={{{4}}}, xticklabels={{{5}}}, x tick label style={{rotate=45, anchor=east}},\n"
      "  ytick={{{6}}}, yticklabels={{{7}}}, y dir=reverse,\n"
      "  enlargelimits=false, axis on top, colormap/viridis, colorbar,\n"
      "  colorbar style={{ylabel={{{8}}}}}, point meta min={9}, point meta max={10},\n"
      "]\n"
      "\\addplot[matrix plot*, mesh/cols={11}, point meta=explicit]\n"
      "  table[col sep=comma, x=column, y=row, meta=shade] {{{0}.csv}};\n"
      "\\end{{axis}}\n\\end{{tikzpicture}}\n",
      map.name,
      latex_text(drawn_label(map.title)),
      latex_text(drawn_label(map.column_key)),
      latex_text(drawn_label(map.row_key)),
      axis_places(map.columns.size()),
      tick_labels(map.columns),
      axis_places(map.rows.size()),
      tick_labels(map.rows),
      map.is_log() ? "logarithm to the base 10" : "",
      format_number(least),
      format_number(largest > least ? largest : least + 1),
      map.columns.size());
}

void write_heat_map(const HeatMap& map, const std::filesystem::path& folder) {
  std::error_code ignored;  // a folder that is not there is an error when the CSV is written
  std::filesystem::create_directories(folder, ignored);
  write_file_atomically(folder / (map.name + ".csv"), heat_map_csv(map));
  write_file_atomically(folder / (map.name + ".axes.csv"), heat_map_axes_csv(map));
  write_file_atomically(folder / (map.name + ".tex"), heat_map_tex(map));
}

}  // namespace residuum::reports
