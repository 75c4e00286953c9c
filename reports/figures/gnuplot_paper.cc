#include "reports/figures/gnuplot_paper.h"

#include <fmt/format.h>

#include "reports/figures/drawn_text.h"
#include "reports/figures/gnuplot_script.h"
#include "reports/tables/csv.h"

namespace residuum::reports {
namespace {

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

/// A LegendLine is the look of the entry of a curve or of the reference.
std::vector<LineStyle> looks_of(const FigureSpec& spec) {
  std::vector<LineStyle> looks;
  for (const auto& curve : spec.curves) {
    if (!curve.points.empty()) {
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

}  // namespace

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

}  // namespace residuum::reports
