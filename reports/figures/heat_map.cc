#include "reports/figures/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/figures/drawn_text.h"
#include "reports/figures/figure.h"
#include "reports/figures/gnuplot_script.h"
#include "reports/figures/latex_text.h"
#include "reports/figures/pgfplots.h"
#include "reports/results/csv.h"

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
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", gnuplot_plain(label), i);
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
  // gnuplot needs a scale that is wider than the rounding of its ends.
  constexpr double kLeastSpan = 1e-6;
  const double span = kLeastSpan * std::max({1.0, std::abs(least), std::abs(largest)});
  if (largest - least > span) {
    return {.low = least, .high = largest};
  }
  return {.low = least, .high = least + std::max(1.0, std::abs(least))};
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

namespace {

constexpr double kNumbers = 0.8;  // the size of numbers on axes and in cells

/// Returns the number as a cell has it.
std::string cell_text(const HeatMap& map, double value) {
  return map.paper ? fmt::format("{:.3g}", value) : fmt::format("{:.4g}", value);
}

const std::string& row_title(const HeatMap& map) {
  return map.row_title.empty() ? map.row_key : map.row_title;
}

const std::string& column_title(const HeatMap& map) {
  return map.column_title.empty() ? map.column_key : map.column_title;
}

double widest_of(const std::vector<std::string>& texts) {
  double widest = 0;
  for (const auto& text : texts) {
    widest = std::max(widest, kNumbers * text_width(drawn_label(text)));
  }
  return widest;
}

/// The width that a map needs beside its cells, and that of the widest number in a cell, in ems.
struct MapWidths {
  double left = 0;
  double right = 0;
  double cell = 0;
};

MapWidths widths_of(const HeatMap& map) {
  constexpr double kTitle = 1.9;     // a line of a title, with gaps
  constexpr double kScale = 2.2;     // the scale of colours, with gaps
  constexpr double kOfScale = 2.5;   // its numbers
  constexpr double kSlanted = 0.71;  // names of columns slant to the left
  MapWidths widths;
  for (const double value : map.values()) {
    widths.cell = std::max(widths.cell, kNumbers * text_width(cell_text(map, value)));
  }
  widths.left = std::max(kTitle + widest_of(map.rows), kSlanted * widest_of(map.columns)) + 0.4;
  widths.right = kScale + kOfScale + (shade_label(map).empty() ? 0 : kTitle);
  return widths;
}

std::string map_font(double points) {
  return fmt::format("\\fontsize{{{:.4g}}}{{{:.4g}}}\\selectfont", points, 1.2 * points);
}

/// Writes the numbers of the cells, white on dark ones.
std::string numbers_of_cells(const HeatMap& map, const ShadeRange& shades) {
  constexpr double kDark = 0.44;
  std::string text;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const auto value = map.value(row, column);
      if (!value) {
        continue;
      }
      const bool is_dark = shade_of(map, *value) < shades.low + kDark * (shades.high - shades.low);
      text += fmt::format(
          "\\node[font=\\residuumsmall, inner sep=0pt, text={}] at (axis cs:{},{}) {{{}}};\n",
          is_dark ? "white" : "black",
          column,
          row,
          latex_text(cell_text(map, *value)));
    }
  }
  return text;
}

/// Returns the opening of the group, the fonts, and the box that has the whole width.
std::string tex_opening(const HeatMap& map) {
  const std::string fonts =
      map.paper
          ? fmt::format("\\def\\residuumfont{{{}}}\\def\\residuumsmall{{{}}}\\residuumfont%\n",
                        map_font(map.paper->font_pt),
                        map_font(kNumbers * map.paper->font_pt))
          : "\\let\\residuumfont\\normalfont\\let\\residuumsmall\\footnotesize%\n";
  return fmt::format(
      "% Draws {0}.csv. The document needs \\usepackage{{pgfplots}} and "
      "\\pgfplotsset{{compat=1.16}},\n% and {0}.csv beside this file.\n"
      "\\begingroup%\n{1}{2}"
      "\\begin{{minipage}}[b]{{{3}}}\\parindent0pt\\raggedright\n",
      map.name,
      tex_folder_of_csv(),
      fonts,
      map.paper ? fmt::format("{:.4g}mm", map.paper->width_mm) : "\\linewidth");
}

}  // namespace

double least_map_width(const HeatMap& map, double font_pt) {
  constexpr double kLeast = 20;
  constexpr double kMillimetresPerPoint = 25.4 / 72;
  constexpr double kGap = 0.4;  // between numbers
  HeatMap printed = map;
  printed.paper = PaperSize{.width_mm = kLeast, .font_pt = font_pt};
  const MapWidths widths = widths_of(printed);
  const double ems =
      widths.left + widths.right + static_cast<double>(map.columns.size()) * (widths.cell + kGap);
  return std::max(kLeast, std::ceil(ems * font_pt * kMillimetresPerPoint));
}

std::string heat_map_tex(const HeatMap& map) {
  constexpr double kRow = 2.2;  // ems
  const ShadeRange shades = shade_range(map);
  const MapWidths widths = widths_of(map);
  return tex_opening(map) +
         fmt::format(
             "\\begin{{tikzpicture}}[font=\\residuumfont]\n"
             "\\begin{{axis}}[\n"
             "  scale only axis, width={{max(\\linewidth-{0:.2f}em,4em)}}, height={{{1:.2f}em}},\n"
             "  xlabel={{{2}}}, ylabel={{{3}}},\n"
             "  label style={{font=\\residuumfont, inner sep=1pt}},\n"
             "  tick label style={{font=\\residuumsmall, inner sep=2pt}},\n"
             "  xtick={{{4}}}, xticklabels={{{5}}}, x tick label style={{rotate=45, "
             "anchor=east}},\n"
             "  ytick={{{6}}}, yticklabels={{{7}}}, y dir=reverse,\n"
             "  enlargelimits=false, axis on top, major tick length=0pt, colormap/viridis, "
             "colorbar,\n"
             "  colorbar style={{ylabel={{{8}}}, width=1em, at={{(parent axis.north east)}}, "
             "anchor=north west, "
             "xshift=0.6em}}, point meta min={9}, "
             "point meta max={10},\n"
             "]\n",
             widths.left + widths.right,
             kRow * static_cast<double>(std::max<std::size_t>(map.rows.size(), 3)),
             latex_text(drawn_label(column_title(map))),
             latex_text(drawn_label(row_title(map))),
             axis_places(map.columns.size()),
             tick_labels(map.columns),
             axis_places(map.rows.size()),
             tick_labels(map.rows),
             shade_label(map),
             format_number(shades.low),
             format_number(shades.high)) +
         fmt::format(
             "\\addplot[matrix plot*, mesh/cols={}, point meta=explicit]\n"
             "  table[col sep=comma, x=column, y=row, meta=shade] {{\"\\residuumfolder "
             "{}.csv\"}};\n",
             map.columns.size(),
             map.name) +
         numbers_of_cells(map, shades) +
         "\\end{axis}\n\\end{tikzpicture}%\n\\end{minipage}%\n\\endgroup\n";
}

namespace {

/// A MapSize is that of a drawing: its width and its letters, in the units of its terminals.
struct MapSize {
  double width_px = 720;
  double font_px = 14;
  double width_in = 7;
  double font_pt = 11 / 1.5;

  double height_px(const HeatMap& map) const {
    const double around = (map.paper ? 150.0 : 200.0) / 14;  // title, axes and the slanted ticks
    constexpr double kRow = 40.0 / 14;
    return font_px * (around + kRow * static_cast<double>(map.rows.size()));
  }
};

MapSize size_of(const HeatMap& map) {
  if (!map.paper) {
    return {};
  }
  constexpr double kMillimetresPerInch = 25.4;
  constexpr double kPixelsPerInch = 96;
  constexpr double kPointsPerInch = 72;
  const double width_in = map.paper->width_mm / kMillimetresPerInch;
  return {.width_px = kPixelsPerInch * width_in,
          .font_px = kPixelsPerInch / kPointsPerInch * map.paper->font_pt,
          .width_in = width_in,
          .font_pt = map.paper->font_pt};
}

/// Returns the commands for title and axes, whose texts a PDF may have to change. In a paper the
/// caption is the title, and numbers are smaller. `font` is in the terminal's unit.
std::string texts_gp(const HeatMap& map, double font) {
  const double of_numbers = (map.paper ? kNumbers : 1) * font;
  return fmt::format(
      "numbers = ',{5:.4g}'\n"
      "{0}"
      "set xlabel {1} noenhanced\n"
      "set ylabel {2} noenhanced\n"
      "set xtics scale 0 rotate by -30 font numbers noenhanced ({3})\n"
      "set ytics scale 0 font numbers noenhanced ({4})\n"
      "set cbtics font numbers\n",
      map.paper ? ""
                : fmt::format("set title {} noenhanced\n", gnuplot_plain(drawn_label(map.title))),
      gnuplot_plain(drawn_label(column_title(map))),
      gnuplot_plain(drawn_label(row_title(map))),
      tick_list(map.columns),
      tick_list(map.rows),
      of_numbers);
}

}  // namespace

std::string heat_map_gp(const HeatMap& map) {
  const MapSize size = size_of(map);
  const double height = size.height_px(map);
  const ShadeRange shades = shade_range(map);
  return script_opening(map.name) +
         fmt::format(
             "set encoding utf8\n"
             "set terminal svg size {1:.0f},{2:.0f} dynamic font 'sans-serif,{3:.4g}' background "
             "'#ffffff'\n"
             "set output '{0}.svg'\n"
             "pdf = 0\n"
             "set datafile separator comma\n"
             "{4}",
             map.name,
             size.width_px,
             height,
             size.font_px,
             texts_gp(map, size.font_px)) +
         fmt::format(
             "set xrange [-0.5:{1}]\n"
             "set yrange [{2}:-0.5]\n"
             "set palette defined (0 '#440154', 1 '#472d7b', 2 '#3b528b', 3 '#2c728e', 4 "
             "'#21918c', 5 '#28ae80', 6 '#5ec962', 7 '#addc30', 8 '#fde725')\n"
             "low = {3}\n"
             "high = {4}\n"
             "set cbrange [low:high]\n"
             "set cblabel {5} noenhanced\n"
             "ink(shade) = shade < low + (high - low) * 0.44 ? 0xffffff : 0x000000\n"
             "unset key\n"
             "is_there(word) = word ne 'nan'\n"
             "plot '{0}.csv' skip 1 using 2:1:4 with image pixels, \\\n"
             "     '{0}.csv' skip 1 using 2:1:(is_there(strcol(3)) ? sprintf('%.{6}g', $3) : ''):"
             "(ink($4)) with labels font numbers textcolor rgb variable\n",
             map.name,
             static_cast<double>(map.columns.size()) - 0.5,
             static_cast<double>(map.rows.size()) - 0.5,
             format_number(shades.low),
             format_number(shades.high),
             gnuplot_text(shade_label(map)),
             map.paper ? 3 : 4) +
         fmt::format(
             "if (strstrt(GPVAL_TERMINALS, 'pdfcairo') > 0) {{\n"
             "  set terminal pdfcairo size {1:.4g}in,{2:.3f}in font 'sans-serif,{3:.3g}' "
             "fontscale 0.75\n"
             "  set output '{0}.pdf'\n"
             "  pdf = 1\n"
             "{4}"
             "  replot\n"
             "}}\n",
             map.name,
             size.width_in,
             size.width_in / size.width_px * height,
             size.font_pt,
             texts_gp(map, size.font_pt));
}

}  // namespace residuum::reports
