#include "reports/figures/pgfplots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "reports/figures/latex_text.h"
#include "reports/figures/paper_layout.h"
#include "reports/results/csv.h"

namespace residuum::reports {
namespace {

/// Returns the dashes of a style. Short strokes are dots: round caps on lines of no length. Beside
/// dots longer ones lose what the caps add, and the gaps beside a stroke have what it loses.
std::string dash_clause(const LineStyle& style) {
  constexpr int kDot = 3;        // a stroke up to this length
  constexpr double kUnit = 0.6;  // points
  const std::vector<int>& dash = style.dash;
  if (dash.empty()) {
    return "solid";
  }
  std::vector<double> lost(dash.size(), 0.0);  // by strokes, which have even places
  bool has_dots = false;
  for (std::size_t i = 0; i < dash.size(); i += 2) {
    const double length = kUnit * dash[i];
    lost[i] = dash[i] <= kDot ? length : std::min(length, style.width / 2);
    has_dots = has_dots || dash[i] <= kDot;
  }
  if (!has_dots) {
    lost.assign(dash.size(), 0.0);
  }
  std::string text = has_dots ? "line cap=round, dash pattern=" : "dash pattern=";
  for (std::size_t i = 0; i < dash.size(); ++i) {
    const bool is_stroke = i % 2 == 0;
    const double length =
        kUnit * dash[i] + (is_stroke ? -lost[i] : (lost[i - 1] + lost[(i + 1) % dash.size()]) / 2);
    text += fmt::format("{}{} {:.4g}pt", i == 0 ? "" : " ", is_stroke ? "on" : "off", length);
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
      "{{\"\\residuumfolder {}.csv\"}};\n",
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

/// A PgfSize has the lengths of a drawing as TeX has them. A figure without a paper size is as wide
/// as the text around it; what fits where is then reckoned for a column of a paper.
struct PgfSize {
  std::string width;   // of all of it
  std::string plot;    // the width of the plot alone
  std::string height;  // of the plot alone
  std::string font;    // the command for its letters; empty: those of the text
  std::string legend_font;
  PaperLayout layout;
};

std::string font_command(double points) {
  return fmt::format("\\fontsize{{{:.4g}}}{{{:.4g}}}\\selectfont", points, 1.2 * points);
}

PgfSize size_of(const FigureSpec& spec) {
  constexpr double kAroundPlot = 0.6;  // em: pgfplots leaves more room around numbers than we do
  FigureSpec sized = spec;
  sized.paper = spec.paper.value_or(PaperSize{.width_mm = PaperSize().width_mm, .font_pt = 10});
  PgfSize size;
  size.layout = layout_paper(sized);
  const PaperLayout& layout = size.layout;
  if (!spec.paper) {
    size.width = size.plot = size.height = "\\linewidth";
    size.plot += "-6.2em";
    size.height = "0.62*(\\linewidth-4em)";
    return size;
  }
  const double font = spec.paper->font_pt;
  size.width = fmt::format("{:.4g}mm", spec.paper->width_mm);
  size.plot =
      fmt::format("{:.2f}bp", font * (layout.width - layout.left - layout.right - kAroundPlot));
  size.height = fmt::format("{:.2f}bp", font * (layout.height - layout.top - layout.bottom));
  size.font = font_command(font);
  size.legend_font = font_command(font * layout.legend.font);
  return size;
}

/// Returns the look of a curve; where it has a marker is told by `points`.
std::string look_of(const FigureSpec& spec, std::size_t i, const std::string& marker) {
  const LineStyle style = style_of(spec.curves[i]);
  return fmt::format(
      "residuum{}, line width={}pt, {}, {}", i, style.width / 2, dash_clause(style), marker);
}

std::string legend_entry(std::string_view look, std::string_view label) {
  return fmt::format(
      "\\residuumentry{{{}}}{{{}}}%\n", look, latex_text(label, LatexBreaks::in_words));
}

/// Writes the legend below the picture, in columns of equal width: TeX breaks wider names.
std::string legend(const FigureSpec& spec, const PgfSize& size) {
  std::string text = fmt::format(
      "\\vskip0.4em{0}\\raggedright\\emergencystretch0pt%\n"
      "\\def\\residuumentry#1#2{{\\parbox[t]{{\\dimexpr\\linewidth/{1}\\relax}}{{\\raggedright"
      "\\hyphenpenalty10000\n"
      "  \\hangindent2.7em\\hangafter1\\leavevmode\\hbox "
      "to2.7em{{\\tikz[baseline=-0.55ex]\\draw[#1]"
      "\n  plot coordinates {{(0,0) (1.1em,0) (2.2em,0)}};\\hfil}}#2\\strut}}\\allowbreak}}%\n"
      "\\noindent",
      size.legend_font,
      size.layout.legend.columns);
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    if (!is_on_axes(spec, spec.curves[i])) {
      continue;
    }
    const LineStyle style = style_of(spec.curves[i]);
    const std::string marker =
        style.marker.empty() ? "mark=none"
                             : fmt::format(
                                   "mark={}, mark size=1.3pt, mark repeat=2, mark phase=2, mark "
                                   "options={{solid}}",
                                   find_marker(style.marker).pgfplots);
    text += legend_entry(look_of(spec, i, marker), legend_label(spec, i));
  }
  if (spec.reference) {
    const LineStyle style = reference_style();
    text +=
        legend_entry(fmt::format("gray, line width={}pt, {}", style.width / 2, dash_clause(style)),
                     drawn_label(spec.reference->label));
  }
  return text + "\\par\n";
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
          latex_text(mark.text));
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

/// Writes a curve that has a point on the axes.
std::string line(const FigureSpec& spec, std::size_t i) {
  const Curve& curve = spec.curves[i];
  if (!is_on_axes(spec, curve)) {
    return {};
  }
  const std::string look = look_of(spec, i, marker_clause(style_of(curve), curve.points.size()));
  return fmt::format("\\addplot[{}]\n  ", look) + rows_of(spec, i, "median") +
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
      dash_clause(style),
      format_number(range.low),
      format_number(spec.reference->y),
      format_number(range.high),
      format_number(spec.reference->y));
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

/// Writes the ticks that layout_paper has chosen for an axis.
std::string ticks_of_axis(char name, const PaperAxis& axis) {
  std::string places;
  std::string texts;
  std::string small;
  for (const auto& tick : axis.ticks) {
    std::string& list = tick.text.empty() ? small : places;
    list += (list.empty() ? "" : ",") + format_number(tick.place);
    if (!tick.text.empty()) {
      texts += fmt::format("{}${}$",
                           texts.empty() ? "" : ",",
                           tick.is_power ? fmt::format("10^{{{}}}", tick.text) : tick.text);
    }
  }
  return fmt::format("  {0}tick={{{1}}}, {0}ticklabels={{{2}}}, minor {0}tick={{{3}}},\n",
                     name,
                     places,
                     texts,
                     small);
}

std::string ticks_of(const FigureSpec& spec, const PaperLayout& layout) {
  if (!spec.paper) {
    return ticks_of_pgfplots(spec);
  }
  return fmt::format("  xmin={}, xmax={},\n",
                     format_number(layout.x.range.low),
                     format_number(layout.x.range.high)) +
         ticks_of_axis('x', layout.x) + ticks_of_axis('y', layout.y);
}

/// Returns the option for the letters of a title that are smaller than others.
std::string title_font(const FigureSpec& spec, const PaperTitle& title) {
  return spec.paper && title.font < 1
             ? fmt::format(", font={}", font_command(title.font * spec.paper->font_pt))
             : std::string();
}

std::string opening(const FigureSpec& spec, const PgfSize& size) {
  const AxisRange range = y_range(spec);
  return fmt::format(
      "\\begin{{tikzpicture}}[font={0}]\n"
      "\\begin{{axis}}[\n"
      "  scale only axis, width={{{1}}}, height={{{2}}},\n"
      "  xlabel={{{3}}}, ylabel={{{4}}},\n"
      "  xmode={5}, ymode={6}, ymin={7}, ymax={8},\n"
      "{9}"
      "  unbounded coords=jump, filter discard warning=false, axis lines=left, ymajorgrids,\n"
      "  major grid style={{line width=0.2pt, black!14}}, clip mode=individual,\n"
      "  label style={{font={0}, align=center, inner sep=1pt}},\n"
      "  tick label style={{font={0}, inner sep=2pt}},\n"
      "  xlabel style={{text width={{{1}+1em}}{10}}}, ylabel style={{text "
      "width={{{2}+1em}}{11}}},\n"
      "]\n",
      size.font.empty() ? "\\normalfont" : "\\residuumfont",
      size.plot,
      size.height,
      latex_text(drawn_label(spec.x_label)),
      latex_text(drawn_label(spec.y_label)),
      spec.x_scale == Scale::log ? "log" : "linear",
      spec.y_scale == Scale::log ? "log" : "linear",
      format_number(range.low),
      format_number(range.high),
      ticks_of(spec, size.layout),
      title_font(spec, size.layout.x.title),
      title_font(spec, size.layout.y.title));
}

std::string colours_of(const FigureSpec& spec) {
  std::string text;
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    text += fmt::format("\\definecolor{{residuum{}}}{{HTML}}{{{}}}%\n",
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
  text += "\\begingroup%\n" + tex_folder_of_csv();
  text += size.font.empty() ? "\\let\\residuumsmall\\footnotesize%\n"
                            : fmt::format(
                                  "\\def\\residuumfont{{{0}}}\\let\\residuumsmall"
                                  "\\residuumfont\\residuumfont%\n",
                                  size.font);
  text += colours_of(spec) +
          fmt::format("\\begin{{minipage}}[b]{{{}}}\\parindent0pt\\raggedright\n", size.width) +
          opening(spec, size);
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    text += is_band_drawn(spec, spec.curves[i]) ? band(spec, i) : std::string();
  }
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    text += spec.curves[i].points.empty() ? std::string() : line(spec, i);
  }
  return text + reference_line(spec) + "\\end{axis}\n\\end{tikzpicture}\\par\n" +
         legend(spec, size) + "\\end{minipage}%\n\\endgroup\n";
}

std::string tex_folder_of_csv() {
  return "\\def\\residuumfolder{}%\n"
         "\\ifdefined\\CurrentFilePath\\ifx\\CurrentFilePath\\empty\\else\n"
         "  \\edef\\residuumfolder{\\CurrentFilePath/}\\fi\\fi%\n";
}

}  // namespace residuum::reports
