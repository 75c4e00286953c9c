#include "reports/figures/pgfplots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "reports/figures/latex_text.h"
#include "reports/tables/csv.h"

namespace residuum::reports {
namespace {

std::string dash_clause(const std::vector<int>& dash) {
  if (dash.empty()) {
    return "solid";
  }
  std::string text = "dash pattern=";
  for (std::size_t i = 0; i < dash.size(); ++i) {
    text +=
        fmt::format("{}{} {:.4g}pt", i == 0 ? "" : " ", i % 2 == 0 ? "on" : "off", 0.6 * dash[i]);
  }
  return text;
}

std::string marker_clause(const LineStyle& style, std::size_t points) {
  constexpr std::size_t kMarkersPerCurve = 8;
  if (style.marker.empty()) {
    return "no marks";
  }
  return fmt::format("mark={}, mark size=1.3pt, mark repeat={}, mark options={{solid}}",
                     find_marker(style.marker).pgfplots,
                     std::max<std::size_t>(1, points / kMarkersPerCurve));
}

/// Returns the rows of one curve; the expression picks them from the CSV of all curves.
std::string rows_of(const FigureSpec& spec, std::size_t curve, std::string_view y) {
  return fmt::format(
      "table[col sep=comma, x=x, y={}, restrict expr to domain={{\\thisrow{{curve}}}}{{{}:{}}}] "
      "{{\\residuumfolder {}.csv}};\n",
      y,
      curve,
      curve,
      spec.name);
}

/// Writes one end of a band, invisible and cut off at the ends of the axis, whose logarithms
/// pgfplots takes.
std::string band_end(const FigureSpec& spec, std::size_t i, std::string_view column) {
  const AxisRange range = y_range(spec);
  const bool is_log = spec.y_scale == Scale::log;
  return fmt::format(
             "\\addplot[draw=none, forget plot, no marks, name path={}{},\n"
             "  restrict y to domain*={:.6g}:{:.6g}]\n  ",
             column,
             i,
             is_log ? std::log(range.low) : range.low,
             is_log ? std::log(range.high) : range.high) +
         rows_of(spec, i, column);
}

std::string band(const FigureSpec& spec, std::size_t i) {
  return band_end(spec, i, "lower") + band_end(spec, i, "upper") +
         fmt::format(
             "\\addplot[residuum{0}, draw=none, fill=residuum{0}, fill opacity=0.18, forget plot]\n"
             "  fill between[of=lower{0} and upper{0}];\n",
             i);
}

/// A PgfSize has the lengths of a drawing as TeX has them.
struct PgfSize {
  std::string width;     // of all of it
  std::string font;      // the command for its letters; empty: those of the text
  std::size_t room = 0;  // characters of a line as wide as the drawing
};

PgfSize size_of(const FigureSpec& spec) {
  constexpr double kCharacter = 0.5;  // its width, in proportion to the font's size
  constexpr double kPointsPerMillimetre = 72.27 / 25.4;
  const PaperSize size = spec.paper.value_or(PaperSize{.width_mm = 84, .font_pt = 10});
  const double characters = size.width_mm * kPointsPerMillimetre / (kCharacter * size.font_pt);
  const auto room = static_cast<std::size_t>(characters);
  if (!spec.paper) {
    return {.width = "\\linewidth", .font = {}, .room = room};
  }
  return {.width = fmt::format("{:.4g}mm", size.width_mm),
          .font = fmt::format(
              "\\fontsize{{{:.4g}}}{{{:.4g}}}\\selectfont", size.font_pt, 1.2 * size.font_pt),
          .room = room};
}

/// A PgfLegend stands below the axes, as wide as the drawing at most: long labels are broken.
struct PgfLegend {
  std::size_t columns = 1;
  bool has_long_labels = false;
};

constexpr std::size_t kSample = 6;  // characters that a line of the legend takes beside its label

PgfLegend legend_of_pgfplots(const FigureSpec& spec, std::size_t room) {
  std::size_t longest = 1;
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    longest = std::max(longest, characters_in(legend_label(spec, i)));
  }
  if (spec.reference) {
    longest = std::max(longest, characters_in(drawn_label(spec.reference->label)));
  }
  return {.columns = std::max<std::size_t>(1, room / (longest + kSample)),
          .has_long_labels = longest + kSample > room};
}

std::string legend_entry(const FigureSpec& spec, std::string_view label) {
  const PgfSize size = size_of(spec);
  const std::string text = latex_text(label);
  if (characters_in(label) + kSample <= size.room) {
    return fmt::format("\\addlegendentry{{{}}}\n", text);
  }
  return fmt::format("\\addlegendentry[text width={{{}-4.5em}}, text depth=, align=left]{{{}}}\n",
                     size.width,
                     text);
}

/// Writes the short text that stands at a bound's curve.
std::string mark_of_bound(const FigureSpec& spec, std::size_t curve) {
  for (const auto& mark : bound_marks(spec)) {
    if (mark.curve == curve) {
      return fmt::format(
          "\\node[residuum{}, above, inner sep=1.5pt, font=\\residuumsmall] at (axis cs:{},{}) "
          "{{{}}};\n",
          curve,
          format_number(mark.x),
          format_number(mark.y),
          mark.text);
    }
  }
  return {};
}

/// Returns whether a part of the curve's band is on the axes; pgfplots cannot fill between nothing.
bool is_band_drawn(const FigureSpec& spec, const Curve& curve) {
  return has_band(curve) &&
         std::any_of(curve.points.begin(), curve.points.end(), [&](const Point& point) {
           return spec.y_scale == Scale::linear || point.lower.value_or(0) > 0;
         });
}

/// Returns whether a point of the curve is on the axes.
bool is_curve_drawn(const FigureSpec& spec, const Curve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(), [&](const Point& point) {
    const bool is_on_x = spec.x_scale == Scale::linear || point.x > 0;
    const double y = point.middle.value_or(std::numeric_limits<double>::quiet_NaN());
    return is_on_x && std::isfinite(y) && (spec.y_scale == Scale::linear || y > 0);
  });
}

/// Writes a curve and its entry in the legend. Of a curve without a point on the axes pgfplots
/// would give the entry to the next one, so that it has an entry alone.
std::string line(const FigureSpec& spec, std::size_t i) {
  const Curve& curve = spec.curves[i];
  const LineStyle style = style_of(curve);
  const std::string look = fmt::format("residuum{}, line width={}pt, {}, {}",
                                       i,
                                       style.width / 2,
                                       dash_clause(style.dash),
                                       marker_clause(style, curve.points.size()));
  const std::string entry = legend_entry(spec, legend_label(spec, i));
  if (!is_curve_drawn(spec, curve)) {
    return fmt::format("\\addlegendimage{{{}}}\n", look) + entry;
  }
  return fmt::format("\\addplot[{}]\n  ", look) + rows_of(spec, i, "median") + entry +
         mark_of_bound(spec, i);
}

std::string reference_line(const FigureSpec& spec) {
  if (!spec.reference) {
    return {};
  }
  const AxisRange range = x_range(spec);
  const LineStyle style = reference_style();
  return fmt::format(
             "\\addplot[gray, line width={}pt, {}, no marks] coordinates {{({},{}) ({},{})}};\n",
             style.width / 2,
             dash_clause(style.dash),
             format_number(range.low),
             format_number(spec.reference->y),
             format_number(range.high),
             format_number(spec.reference->y)) +
         legend_entry(spec, drawn_label(spec.reference->label));
}

/// Writes the ticks of an axis that has them where points are; others are pgfplots' own.
std::string ticks_of_pgfplots(const FigureSpec& spec) {
  const std::vector<double> places = tick_places(spec);
  if (places.empty()) {
    return {};
  }
  const AxisRange range = x_range_around(spec, places);
  std::string list;
  for (const double place : places) {
    list += (list.empty() ? "" : ",") + format_number(place);
  }
  return fmt::format("  xmin={}, xmax={}, xtick={{{}}}, xticklabels={{{}}},\n",
                     format_number(range.low),
                     format_number(range.high),
                     list,
                     list);
}

std::string opening(const FigureSpec& spec) {
  const AxisRange range = y_range(spec);
  const PgfSize size = size_of(spec);
  const PgfLegend legend = legend_of_pgfplots(spec, size.room);
  return fmt::format(
      "\\begin{{tikzpicture}}[font={0}]\n"
      "\\begin{{axis}}[\n"
      "  scale only axis, width={{{1}-6.2em}}, height={{0.62*({1}-4em)}},\n"
      "  xlabel={{{2}}}, ylabel={{{3}}},\n"
      "  xmode={4}, ymode={5}, ymin={6}, ymax={7},\n"
      "{8}"
      "  unbounded coords=jump, filter discard warning=false, axis lines=left, ymajorgrids,\n"
      "  major grid style={{line width=0.2pt, black!14}},\n"
      "  clip mode=individual, label style={{font={0}}}, tick label style={{font={0}}},\n"
      "  legend style={{draw=none, fill=none, font={0}, inner sep=0pt, cells={{anchor={9}}},\n"
      "    at={{(0,0)}}, anchor=north west, xshift=-4.4em, yshift=-3.2em}},\n"
      "  legend columns={10}, legend image post style={{xscale=0.8{11}}},\n"
      "]\n",
      size.font.empty() ? "\\normalfont" : "\\residuumfont",
      size.width,
      latex_text(drawn_label(spec.x_label)),
      latex_text(drawn_label(spec.y_label)),
      spec.x_scale == Scale::log ? "log" : "linear",
      spec.y_scale == Scale::log ? "log" : "linear",
      format_number(range.low),
      format_number(range.high),
      ticks_of_pgfplots(spec),
      legend.has_long_labels ? "base west" : "west",
      legend.columns,
      legend.has_long_labels ? ", yshift=0.6ex" : "");
}

std::string colours_of(const FigureSpec& spec) {
  std::string text;
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    text += fmt::format("\\definecolor{{residuum{}}}{{HTML}}{{{}}}\n",
                        i,
                        style_of(spec.curves[i]).colour.substr(1));
  }
  return text;
}

}  // namespace

std::string figure_tex(const FigureSpec& spec) {
  std::string text = fmt::format(
      "% Draws {0}.csv. The document needs \\usepackage{{pgfplots}},\n"
      "% \\usepgfplotslibrary{{fillbetween}} and \\pgfplotsset{{compat=1.16}}, and {0}.csv beside "
      "this file:\n% \\input{{folder/{0}.tex}} finds it.\n",
      spec.name);
  if (const std::string note = note_under(spec); !note.empty()) {
    text += fmt::format("% {}\n", note);
  }
  const PgfSize size = size_of(spec);
  text += "\\begingroup\n" + tex_folder_of_csv();
  text += size.font.empty() ? "\\let\\residuumsmall\\footnotesize\n"
                            : fmt::format(
                                  "\\def\\residuumfont{{{0}}}\\let\\residuumsmall"
                                  "\\residuumfont\\residuumfont\n",
                                  size.font);
  text += colours_of(spec) + opening(spec);
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    text += is_band_drawn(spec, spec.curves[i]) ? band(spec, i) : std::string();
  }
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    text += spec.curves[i].points.empty() ? std::string() : line(spec, i);
  }
  return text + reference_line(spec) + "\\end{axis}\n\\end{tikzpicture}%\n\\endgroup\n";
}

std::string tex_folder_of_csv() {
  return "\\def\\residuumfolder{}\n"
         "\\ifdefined\\CurrentFilePath\\ifx\\CurrentFilePath\\empty\\else\n"
         "  \\edef\\residuumfolder{\\CurrentFilePath/}\\fi\\fi\n";
}

}  // namespace residuum::reports
