#include "reports/figures/gnuplot_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "reports/figures/drawn_text.h"
#include "reports/figures/paper_layout.h"
#include "reports/results/csv.h"

namespace residuum::reports {
namespace {

/// A Canvas has the sizes of a drawing for the page and of its parts, in pixels of 1/96 inch.
struct Canvas {
  std::size_t width = 720;
  std::size_t plot = 340;  // the height of the plot with its axes
  std::size_t line = 20;   // of the legend
  std::size_t note = 18;   // the height of what stands under the legend
  double font = 14;
  double pdf_font = 11 / 1.5;  // in points
  double character = 8;        // the width of one, in the legend
  double sample = 80;          // the width of a legend's line and of what is around it
};

/// A Legend stands below the plot. A label that is wider than the drawing has smaller letters, and
/// one that is still too wide loses its middle.
struct Legend {
  std::size_t longest = 1;  // characters of a label
  std::size_t columns = 1;
  std::size_t rows = 0;
  double font = 0;  // in proportion to that of the figure
};

Legend legend_of(const FigureSpec& spec, const Canvas& canvas) {
  constexpr double kSmallest = 0.75;
  Legend legend;
  std::size_t entries = spec.reference ? 1 : 0;
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    if (is_on_axes(spec, spec.curves[i])) {
      legend.longest = std::max(legend.longest, characters_in(legend_label(spec, i)));
      ++entries;
    }
  }
  if (spec.reference) {
    legend.longest = std::max(legend.longest, characters_in(drawn_label(spec.reference->label)));
  }
  const double room =
      std::max(1.0, (static_cast<double>(canvas.width) - canvas.sample) / canvas.character);
  legend.font = std::clamp(room / static_cast<double>(legend.longest), kSmallest, 1.0);
  legend.longest =
      std::min(legend.longest, static_cast<std::size_t>(std::floor(room / legend.font)));
  const double entry = static_cast<double>(legend.longest) * canvas.character + canvas.sample;
  legend.columns =
      std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(canvas.width) / entry));
  legend.rows = (entries + legend.columns - 1) / legend.columns;
  return legend;
}

std::size_t canvas_height(const FigureSpec& spec, const Canvas& canvas) {
  const std::size_t note = note_under(spec).empty() ? 0 : canvas.note;
  return canvas.plot + canvas.line * legend_of(spec, canvas).rows + note;
}

/// Returns a curve's text in the legend, for gnuplot; layout_paper has a legend of its own.
std::string legend_title(const FigureSpec& spec, const std::string& label) {
  if (spec.paper) {
    return "notitle";
  }
  const auto text = gnuplot_drawn(label);
  // The key is not enhanced by itself.
  return fmt::format("title {}{}", text.argument, text.mode == "enhanced" ? " enhanced" : "");
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
std::string note(const FigureSpec& spec, const Canvas& canvas) {
  const std::string text = note_under(spec);
  if (text.empty()) {
    return {};
  }
  const double share =
      static_cast<double>(canvas.note) / static_cast<double>(canvas_height(spec, canvas));
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

/// Writes the short texts that tell the curves of bounds apart. `font` is in the terminal's unit.
std::string marks_of_gnuplot(const FigureSpec& spec, double font) {
  std::string text;
  std::size_t number = 2;  // the note is label 1
  for (const auto& mark : bound_marks(spec)) {
    text += fmt::format(
        "set label {} {} at {},{} center offset 0,0.6 front noenhanced font ',{:.4g}' textcolor "
        "rgb '#606060'\n",
        number++,
        gnuplot_text(mark.text),
        format_number(mark.x),
        format_number(mark.y),
        0.85 * font);
  }
  return text;
}

/// Writes the key; its letters are those of the terminal, or smaller where labels are long.
std::string legend_key(const FigureSpec& spec, const Canvas& canvas, double font) {
  const Legend legend = legend_of(spec, canvas);
  const std::string smaller =
      legend.font < 1 ? fmt::format(" font ',{:.4g}'", legend.font * font) : std::string();
  return fmt::format(
      "set key below left Left reverse samplen 3 spacing 1.1 maxcols {} noenhanced{}\n",
      legend.columns,
      smaller);
}

/// Writes what a script begins with: the size of the drawing and the looks of its frame.
std::string opening(const FigureSpec& spec, std::size_t width, std::size_t height, double font) {
  return script_opening(spec.name) +
         fmt::format(
             "set encoding utf8\n"
             "set terminal svg size {1},{2} dynamic enhanced font 'sans-serif,{3:.4g}' background "
             "'#ffffff'\n"
             "set output '{0}.svg'\n"
             "pdf = 0\n"
             "set datafile separator comma\n"
             "set samples 2\n"
             "set border 3 linewidth 0.7\n"
             "set tics nomirror out scale 0.6\n"
             "set grid y linecolor rgb '#d0d0d0' dashtype 1 linewidth 0.4\n",
             spec.name,
             width,
             height,
             font);
}

/// Writes the ends of the y axis and what keeps values on the axes.
std::string ranges(const FigureSpec& spec) {
  const AxisRange range = y_range(spec);
  return fmt::format(
             "low = {0}\n"
             "high = {1}\n"
             "set yrange [low:high]\n"
             "clip(y) = y < low ? low : (y > high ? high : y)\n",
             format_number(range.low),
             format_number(range.high)) +
         shown('x', spec.x_scale) + shown('y', spec.y_scale);
}

std::string header(const FigureSpec& spec, const Canvas& canvas) {
  const GnuplotText x_label = gnuplot_drawn(drawn_label(spec.x_label));
  const GnuplotText y_label = gnuplot_drawn(drawn_label(spec.y_label));
  return opening(spec, canvas.width, canvas_height(spec, canvas), canvas.font) +
         legend_key(spec, canvas, canvas.font) +
         fmt::format(
             "set xlabel {} offset 0,0.6 {}\n"
             "set ylabel {} {}\n",
             x_label.argument,
             x_label.mode,
             y_label.argument,
             y_label.mode) +
         note(spec, canvas) + marks_of_gnuplot(spec, canvas.font) + axis('x', spec.x_scale) +
         ticks_of_gnuplot(spec) + axis('y', spec.y_scale) + ranges(spec);
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
  const std::size_t longest = legend_of(spec, Canvas{}).longest;
  std::vector<std::string> bands;
  std::vector<std::string> lines;
  std::size_t first = 0;
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    const Curve& curve = spec.curves[i];
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
    lines.push_back(fmt::format(
        "{} using (shown_x($2)):(shown_y($3)) with {} linecolor rgb '{}' dashtype {} "
        "linewidth {} {}",
        source,
        points_clause(style, curve.points.size()),
        style.colour,
        gnuplot_dash(style.dash),
        style.width,
        is_on_axes(spec, curve) ? legend_title(spec, legend_label(spec, i, longest)) : "notitle"));
    first = last + 1;
  }
  if (spec.reference) {
    const LineStyle style = reference_style();
    lines.push_back(fmt::format(
        "{} with lines linecolor rgb '{}' dashtype {} linewidth {} {}",
        format_number(spec.reference->y),
        style.colour,
        gnuplot_dash(style.dash),
        style.width,
        legend_title(spec, without_middle(drawn_label(spec.reference->label), longest))));
  }
  bands.insert(bands.end(), lines.begin(), lines.end());
  return bands;
}

/// Draws the same once more as PDF, after commands whose letters are in points. A gnuplot without
/// cairo leaves it out. With a scale of 0.75 its fonts are as many points high as they are said to
/// be.
std::string pdf(const FigureSpec& spec,
                double width_in,
                double height_in,
                double font,
                const std::string& commands) {
  return fmt::format(
      "if (strstrt(GPVAL_TERMINALS, 'pdfcairo') > 0) {{\n"
      "  set terminal pdfcairo size {1:.4g}in,{2:.3f}in enhanced font 'sans-serif,{3:.3g}' "
      "fontscale 0.75\n"
      "  set output '{0}.pdf'\n"
      "  pdf = 1\n"
      "{4}"
      "  replot\n"
      "}}\n",
      spec.name,
      width_in,
      height_in,
      font,
      commands);
}

std::string plot_command(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += (i == 0 ? "plot " : ", \\\n     ") + items[i];
  }
  return text + '\n';
}

std::string page_figure_gp(const FigureSpec& spec) {
  constexpr double kWidth = 7;  // in inches
  const Canvas canvas;
  const auto items = plot_items(spec);
  const bool has_small_legend = legend_of(spec, canvas).font < 1;
  const double height =
      kWidth * static_cast<double>(canvas_height(spec, canvas)) / static_cast<double>(canvas.width);
  const std::string commands =
      (has_small_legend ? legend_key(spec, canvas, canvas.pdf_font) : std::string()) +
      marks_of_gnuplot(spec, canvas.pdf_font);
  return header(spec, canvas) + plot_command(items) +
         (items.empty() ? std::string() : pdf(spec, kWidth, height, canvas.pdf_font, commands));
}

// --- A figure in the size of a paper -------------------------------------------------------------

// Labels and arrows of gnuplot have numbers; marks of bounds have the small ones.
constexpr std::size_t kFirstTitle = 100;
constexpr std::size_t kFirstOfLegend = 200;

std::string ticks_gp(char name, const PaperAxis& axis) {
  std::string list;
  for (const auto& tick : axis.ticks) {
    list +=
        fmt::format("{}{} {}{}",
                    list.empty() ? "" : ", ",
                    gnuplot_text(tick.is_power ? fmt::format("10^{{{}}}", tick.text) : tick.text),
                    format_number(tick.place),
                    tick.text.empty() ? " 1" : "");
  }
  return fmt::format("set {0}tics ({1})\n", name, list);
}

/// A Screen turns ems from the lower left corner into shares of the drawing.
struct Screen {
  double width;
  double height;

  std::string at(double x, double y) const {
    return fmt::format("screen {:.5f},{:.5f}", x / width, y / height);
  }
};

std::string text_at(std::size_t number,
                    const std::string& text,
                    const std::string& place,
                    std::string_view look,
                    double font) {
  const GnuplotText drawn = gnuplot_drawn(text);
  return fmt::format("set label {} {} at {} {} {} font ',{:.4g}'\n",
                     number,
                     drawn.argument,
                     place,
                     look,
                     drawn.mode,
                     font);
}

std::string titles_gp(const PaperLayout& layout, const Screen& screen, double font) {
  constexpr double kLine = 1.25;
  constexpr double kBelowTicks = 2.1;  // from the plot to where the title begins
  std::string text;
  std::size_t number = kFirstTitle;
  const double middle_x = (layout.left + layout.width - layout.right) / 2;
  double y = layout.bottom - kBelowTicks;
  for (const auto& line : layout.x.title.lines) {
    const double height = kLine * layout.x.title.font;
    text += text_at(
        number++, line, screen.at(middle_x, y - height / 2), "center", font * layout.x.title.font);
    y -= height;
  }
  const double middle_y = (layout.bottom + layout.height - layout.top) / 2;
  double x = 0.2;
  for (const auto& line : layout.y.title.lines) {
    const double height = kLine * layout.y.title.font;
    text += text_at(number++,
                    line,
                    screen.at(x + height / 2, middle_y),
                    "center rotate by 90",
                    font * layout.y.title.font);
    x += height;
  }
  return text;
}

/// Returns the looks of the legend's entries: those of the curves, and of the reference.
std::vector<LineStyle> looks_of(const FigureSpec& spec) {
  std::vector<LineStyle> looks;
  for (const auto& curve : spec.curves) {
    if (is_on_axes(spec, curve)) {
      looks.push_back(style_of(curve));
    }
  }
  if (spec.reference) {
    looks.push_back(reference_style());
  }
  return looks;
}

/// Draws the piece of a curve that stands before its label.
std::string sample_gp(std::size_t number,
                      const LineStyle& look,
                      const std::string& from,
                      const std::string& middle,
                      const std::string& to) {
  std::string text =
      fmt::format("set arrow {} from {} to {} nohead linecolor rgb '{}' dashtype {} linewidth {}\n",
                  number,
                  from,
                  to,
                  look.colour,
                  gnuplot_dash(look.dash),
                  look.width);
  if (!look.marker.empty()) {
    text +=
        fmt::format("set label {} '' at {} point pointtype {} pointsize 0.6 linecolor rgb '{}'\n",
                    number,
                    middle,
                    find_marker(look.marker).gnuplot,
                    look.colour);
  }
  return text;
}

std::string legend_gp(const FigureSpec& spec,
                      const PaperLayout& layout,
                      const Screen& screen,
                      double font) {
  constexpr double kEdge = 0.3;
  constexpr double kSampleShare = 0.8;  // of the room before a label
  const PaperLegend& legend = layout.legend;
  const auto looks = looks_of(spec);
  std::string text;
  std::size_t number = kFirstOfLegend;
  for (std::size_t i = 0; i < legend.entries.size(); ++i) {
    const double x = kEdge + legend.column_width * static_cast<double>(i % legend.columns);
    const auto above = static_cast<double>(legend.lines_above(i / legend.columns));
    double y = kEdge + legend.height() - legend.line * (above + 0.5);
    text += sample_gp(number++,
                      looks[i],
                      screen.at(x, y),
                      screen.at(x + kSampleShare * legend.sample / 2, y),
                      screen.at(x + kSampleShare * legend.sample, y));
    for (const auto& line : legend.entries[i]) {
      text += text_at(number++, line, screen.at(x + legend.sample, y), "left", font * legend.font);
      y -= legend.line;
    }
  }
  return text;
}

/// Sets margins, ticks, titles and legend in the places that layout_paper chose. `font` is the size
/// of the figure's letters in the terminal's unit.
std::string paper_frame_gp(const FigureSpec& spec, const PaperLayout& layout, double font) {
  const Screen screen{.width = layout.width, .height = layout.height};
  return fmt::format(
             "unset key\n"
             "set lmargin at screen {:.5f}\n"
             "set rmargin at screen {:.5f}\n"
             "set bmargin at screen {:.5f}\n"
             "set tmargin at screen {:.5f}\n"
             "set xrange [{}:{}]\n",
             layout.left / layout.width,
             1 - layout.right / layout.width,
             layout.bottom / layout.height,
             1 - layout.top / layout.height,
             format_number(layout.x.range.low),
             format_number(layout.x.range.high)) +
         ticks_gp('x', layout.x) + ticks_gp('y', layout.y) + titles_gp(layout, screen, font) +
         legend_gp(spec, layout, screen, font);
}

/// A drawing for a paper has no note under it: its caption says it.
std::string paper_figure_gp(const FigureSpec& spec, const PaperSize& size) {
  constexpr double kPixelsPerPoint = 96.0 / 72;
  constexpr double kPointsPerInch = 72;
  const PaperLayout layout = layout_paper(spec);
  const double font = size.font_pt * kPixelsPerPoint;
  const auto items = plot_items(spec);
  const auto scale = [](char name, Scale one) {
    return one == Scale::log ? fmt::format("set logscale {}\n", name) : std::string();
  };
  return opening(spec,
                 static_cast<std::size_t>(std::lround(layout.width * font)),
                 static_cast<std::size_t>(std::lround(layout.height * font)),
                 font) +
         scale('x', spec.x_scale) + scale('y', spec.y_scale) + ranges(spec) +
         paper_frame_gp(spec, layout, font) + marks_of_gnuplot(spec, font) + plot_command(items) +
         (items.empty() ? std::string()
                        : pdf(spec,
                              layout.width * size.font_pt / kPointsPerInch,
                              layout.height * size.font_pt / kPointsPerInch,
                              size.font_pt,
                              paper_frame_gp(spec, layout, size.font_pt) +
                                  marks_of_gnuplot(spec, size.font_pt)));
}

}  // namespace

std::string script_opening(std::string_view name) {
  return fmt::format(
      "# Draws {0}.svg and {0}.pdf from {0}.csv: run `gnuplot {0}.gp` in this folder.\n", name);
}

std::string figure_gp(const FigureSpec& spec) {
  return spec.paper ? paper_figure_gp(spec, *spec.paper) : page_figure_gp(spec);
}

std::string gnuplot_dash(const std::vector<int>& dash) {
  return dash.empty() ? "1" : fmt::format("({})", fmt::join(dash, ","));
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
