#include "reports/figures/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/figures/figure.h"
#include "reports/figures/gnuplot_script.h"
#include "reports/figures/latex_text.h"
#include "reports/figures/pgfplots.h"
#include "reports/tables/csv.h"

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

/// Returns "'4' 0, '8' 1". gnuplot takes the labels of ticks for formats.
std::string tick_list(const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::string label;
    for (const char c : drawn_label(values[i])) {
      label.append(c == '%' ? 2 : 1, c);
    }
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", gnuplot_text(label), i);
  }
  return text;
}

/// The ends of the scale of colours.
struct ShadeRange {
  double low = 0;
  double high = 1;
};

ShadeRange shade_range(const HeatMap& map) {
  const auto finite = map.values();
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  const double least = shade_of(map, *low);
  const double largest = shade_of(map, *high);
  return {.low = least, .high = largest > least ? largest : least + 1};
}

std::string_view shade_label(const HeatMap& map) {
  return map.is_log() ? "logarithm to the base 10" : "";
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
  const ShadeRange shades = shade_range(map);
  return fmt::format(
      "% Draws {0}.csv. The document needs \\usepackage{{pgfplots}} and "
      "\\pgfplotsset{{compat=1.16}},\n% and {0}.csv beside this file.\n"
      "\\begingroup%\n{12}"
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
      "  table[col sep=comma, x=column, y=row, meta=shade] {{\"\\residuumfolder {0}.csv\"}};\n"
      "\\end{{axis}}\n\\end{{tikzpicture}}%\n\\endgroup\n",
      map.name,
      latex_text(drawn_label(map.title)),
      latex_text(drawn_label(map.column_key)),
      latex_text(drawn_label(map.row_key)),
      axis_places(map.columns.size()),
      tick_labels(map.columns),
      axis_places(map.rows.size()),
      tick_labels(map.rows),
      shade_label(map),
      format_number(shades.low),
      format_number(shades.high),
      map.columns.size(),
      tex_folder_of_csv());
}

std::string heat_map_gp(const HeatMap& map) {
  constexpr int kWidth = 720;
  const auto height = 200 + 40 * map.rows.size();
  const ShadeRange shades = shade_range(map);
  std::string script = script_opening(map.name);
  script += fmt::format(
      "set encoding utf8\n"
      "set terminal svg size {1},{2} dynamic font 'sans-serif,14' background '#ffffff'\n"
      "set output '{0}.svg'\n"
      "set datafile separator comma\n"
      "set title {3} noenhanced\n"
      "set xlabel {4} noenhanced\n"
      "set ylabel {5} noenhanced\n"
      "set xtics scale 0 rotate by -30 noenhanced ({6})\n"
      "set ytics scale 0 noenhanced ({7})\n"
      "set xrange [-0.5:{8}]\n"
      "set yrange [{9}:-0.5]\n"
      "set palette defined (0 '#440154', 1 '#472d7b', 2 '#3b528b', 3 '#2c728e', 4 '#21918c', "
      "5 '#28ae80', 6 '#5ec962', 7 '#addc30', 8 '#fde725')\n"
      "low = {10}\n"
      "high = {11}\n"
      "set cbrange [low:high]\n"
      "set cblabel {12} noenhanced\n"
      "ink(shade) = shade < low + (high - low) * 0.44 ? 0xffffff : 0x000000\n"
      "text(word) = word eq 'nan' ? '' : sprintf('%.4g', real(word))\n"
      "unset key\n"
      "plot '{0}.csv' skip 1 using 2:1:4 with image pixels, \\\n"
      "     '{0}.csv' skip 1 using 2:1:(text(strcol(3))):(ink($4)) with labels textcolor rgb "
      "variable\n"
      "if (strstrt(GPVAL_TERMINALS, 'pdfcairo') > 0) {{\n"
      "  set terminal pdfcairo size 7in,{13:.3f}in font 'sans-serif,11'\n"
      "  set output '{0}.pdf'\n"
      "  replot\n"
      "}}\n",
      map.name,
      kWidth,
      height,
      gnuplot_text(drawn_label(map.title)),
      gnuplot_text(drawn_label(map.column_key)),
      gnuplot_text(drawn_label(map.row_key)),
      tick_list(map.columns),
      tick_list(map.rows),
      static_cast<double>(map.columns.size()) - 0.5,
      static_cast<double>(map.rows.size()) - 0.5,
      format_number(shades.low),
      format_number(shades.high),
      gnuplot_text(shade_label(map)),
      7.0 / kWidth * static_cast<double>(height));
  return script;
}

}  // namespace residuum::reports
