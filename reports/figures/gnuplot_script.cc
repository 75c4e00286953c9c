#include "reports/figures/gnuplot_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "reports/tables/csv.h"

namespace residuum::reports {
namespace {

constexpr std::size_t kWidth = 720;
constexpr std::size_t kNoteHeight = 18;

/// gnuplot places the legend in as many columns as fit; the canvas must be as high as they need.
std::size_t canvas_height(const FigureSpec& spec) {
  constexpr std::size_t kPlot = 340;
  constexpr std::size_t kLine = 20;
  constexpr std::size_t kLegendWidth = 640;
  std::size_t longest = 1;
  for (const auto& curve : spec.curves) {
    longest = std::max(longest, drawn_label(curve.label).size());
  }
  const std::size_t columns = std::max<std::size_t>(1, kLegendWidth / (longest * 8 + 80));
  const std::size_t entries = spec.curves.size() + (spec.reference ? 1 : 0);
  const std::size_t note = note_under(spec).empty() ? 0 : kNoteHeight;
  return kPlot + kLine * ((entries + columns - 1) / columns) + note;
}

std::string axis(char name, Scale scale) {
  if (scale == Scale::linear) {
    return fmt::format("set format {} '%g'\n", name);
  }
  return fmt::format("set logscale {0}\nset format {0} '10^{{%T}}'\n", name);
}

/// Writes the ticks of an axis that has them where points are, such as the first iteration.
std::string ticks_of_gnuplot(const FigureSpec& spec) {
  const std::vector<double> places = tick_places(spec);
  if (places.empty()) {
    return {};
  }
  const AxisRange range = x_range_around(spec, places);
  std::string ticks;
  for (const double place : places) {
    ticks += fmt::format("{0}'{1}' {1}", ticks.empty() ? "" : ", ", format_number(place));
  }
  return fmt::format("set xrange [{}:{}]\nset xtics ({})\n",
                     format_number(range.low),
                     format_number(range.high),
                     ticks);
}

/// Writes the function that leaves a gap where an axis has no place for a value.
std::string shown(char name, Scale scale) {
  return fmt::format(
      "shown_{0}({0}) = {1}\n",
      name,
      scale == Scale::log ? fmt::format("{0} > 0 ? {0} : NaN", name) : std::string(1, name));
}

/// Writes the note below the legend, where the plot leaves room for it.
std::string note(const FigureSpec& spec, std::size_t height) {
  const std::string text = note_under(spec);
  if (text.empty()) {
    return {};
  }
  const double share = static_cast<double>(kNoteHeight) / static_cast<double>(height);
  return fmt::format(
      "set origin 0,{0:.4f}\n"
      "set size 1,{1:.4f}\n"
      "set label 1 {2} at screen 0.012,{3:.4f} left noenhanced font ',11' textcolor rgb "
      "'#606060'\n",
      share,
      1 - share,
      gnuplot_text(text),
      0.55 * share);
}

std::string header(const FigureSpec& spec) {
  const std::size_t height = canvas_height(spec);
  const AxisRange range = y_range(spec);
  return script_opening(spec.name) +
         fmt::format(
             "set encoding utf8\n"
             "set terminal svg size {1},{2} dynamic enhanced font 'sans-serif,14' background "
             "'#ffffff'\n"
             "set output '{0}.svg'\n"
             "set datafile separator comma\n"
             "set samples 2\n"
             "set border 3 linewidth 0.7\n"
             "set tics nomirror out scale 0.6\n"
             "set grid y linecolor rgb '#a0a0a0' linewidth 0.4\n"
             "set key below left Left reverse samplen 3 spacing 1.1 noenhanced\n"
             "set xlabel {3} offset 0,0.6 noenhanced\n"
             "set ylabel {4} noenhanced\n",
             spec.name,
             kWidth,
             height,
             gnuplot_text(drawn_label(spec.x_label)),
             gnuplot_text(drawn_label(spec.y_label))) +
         note(spec, height) + axis('x', spec.x_scale) + ticks_of_gnuplot(spec) +
         axis('y', spec.y_scale) +
         fmt::format(
             "low = {0}\n"
             "high = {1}\n"
             "set yrange [low:high]\n"
             "clip(y) = y < low ? low : (y > high ? high : y)\n",
             format_number(range.low),
             format_number(range.high)) +
         shown('x', spec.x_scale) + shown('y', spec.y_scale);
}

std::string dash_type(const std::vector<int>& dash) {
  return dash.empty() ? "1" : fmt::format("({})", fmt::join(dash, ","));
}

std::string points_clause(const LineStyle& style, std::size_t points) {
  constexpr std::size_t kMarkersPerCurve = 8;
  if (style.marker.empty()) {
    return "lines";
  }
  return fmt::format("linespoints pointtype {} pointsize 0.6 pointinterval {}",
                     find_marker(style.marker).gnuplot,
                     std::max<std::size_t>(1, points / kMarkersPerCurve));
}

/// Returns what gnuplot's `plot` is given, bands first so that every line lies above every band.
std::vector<std::string> plot_items(const FigureSpec& spec) {
  std::vector<std::string> bands;
  std::vector<std::string> lines;
  std::size_t first = 0;
  for (const auto& curve : spec.curves) {
    if (curve.points.empty()) {
      continue;
    }
    const std::size_t last = first + curve.points.size() - 1;
    const std::string source =
        fmt::format("'{}.csv' skip 1 every ::{}::{}", spec.name, first, last);
    const LineStyle style = style_of(curve);
    if (has_band(curve)) {
      bands.push_back(
          fmt::format("{} using (shown_x($2)):(clip($4)):(clip($5)) with filledcurves fillcolor "
                      "rgb '{}' fillstyle transparent solid 0.18 noborder notitle",
                      source,
                      style.colour));
    }
    lines.push_back(
        fmt::format("{} using (shown_x($2)):(shown_y($3)) with {} linecolor rgb '{}' dashtype {} "
                    "linewidth {} title {}",
                    source,
                    points_clause(style, curve.points.size()),
                    style.colour,
                    dash_type(style.dash),
                    style.width,
                    gnuplot_text(drawn_label(curve.label))));
    first = last + 1;
  }
  if (spec.reference) {
    lines.push_back(
        fmt::format("{} with lines linecolor rgb '#808080' dashtype (2,2) linewidth 1.2 title {}",
                    format_number(spec.reference->y),
                    gnuplot_text(drawn_label(spec.reference->label))));
  }
  bands.insert(bands.end(), lines.begin(), lines.end());
  return bands;
}

/// Draws the same once more, for papers. A gnuplot without cairo leaves it out.
std::string pdf(const FigureSpec& spec) {
  constexpr double kInchesPerPixel = 7.0 / 720;
  return fmt::format(
      "if (strstrt(GPVAL_TERMINALS, 'pdfcairo') > 0) {{\n"
      "  set terminal pdfcairo size 7in,{1:.3f}in enhanced font 'sans-serif,11'\n"
      "  set output '{0}.pdf'\n"
      "  replot\n"
      "}}\n",
      spec.name,
      kInchesPerPixel * static_cast<double>(canvas_height(spec)));
}

}  // namespace

std::string script_opening(std::string_view name) {
  return fmt::format(
      "# Draws {0}.svg and {0}.pdf from {0}.csv: run `gnuplot {0}.gp` in this folder.\n", name);
}

std::string figure_gp(const FigureSpec& spec) {
  std::string text = header(spec);
  const auto items = plot_items(spec);
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += (i == 0 ? "plot " : ", \\\n     ") + items[i];
  }
  return text + '\n' + (items.empty() ? std::string() : pdf(spec));
}

std::string gnuplot_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : harmless(text)) {
    quoted += c;
    if (c == '\'') {
      quoted += c;
    }
  }
  return quoted + '\'';
}

}  // namespace residuum::reports
