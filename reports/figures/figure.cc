#include "reports/figures/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <system_error>

#include "core/text.h"
#include "reports/figures/gnuplot.h"
#include "reports/tables/csv.h"
#include "reports/tables/files.h"

namespace residuum::reports {
namespace {

constexpr std::array<LineStyle, 8> kStyles{{{"#0072B2", "1"},
                                            {"#D55E00", "(10,4)"},
                                            {"#009E73", "(3,3)"},
                                            {"#CC79A7", "(12,3,3,3)"},
                                            {"#E69F00", "1"},
                                            {"#56B4E9", "(10,4)"},
                                            {"#000000", "(3,3)"},
                                            {"#808080", "(12,3,3,3)"}}};

// A run that diverges must not flatten the others, so what is this far above the rest is cut off.
constexpr double kWidestLog = 1e24;
constexpr double kCutAboveMedian = 1e6;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

bool is_drawn(const std::optional<double>& value, Scale scale) {
  return value && std::isfinite(*value) && (scale == Scale::linear || *value > 0);
}

std::vector<double> drawn_middles(const FigureSpec& spec) {
  std::vector<double> values;
  for (const auto& curve : spec.curves) {
    for (const auto& point : curve.points) {
      if (is_drawn(point.middle, spec.y_scale)) {
        values.push_back(*point.middle);
      }
    }
  }
  return values;
}

Range linear_range(Range range) {
  const double span = range.high - range.low;
  const double margin = span > 0 ? 0.05 * span : std::max(0.05 * std::abs(range.high), 1e-12);
  return {.low = range.low - margin, .high = range.high + margin};
}

/// Whole decades, so that there is a labelled tick at either end.
Range log_range(Range range) {
  range.low = std::max(range.low, range.high / kWidestLog);
  Range decades{.low = std::pow(10, std::floor(std::log10(range.low))),
                .high = std::pow(10, std::ceil(std::log10(range.high)))};
  if (decades.low == decades.high) {
    decades.high *= 10;
  }
  return decades;
}

/// Widens the range by the bands, which are cut off at the foot of a logarithmic axis: they often
/// reach down to nothing.
void add_bands(Range& range, const FigureSpec& spec, double cut) {
  for (const auto& curve : spec.curves) {
    for (const auto& point : curve.points) {
      if (is_drawn(point.upper, spec.y_scale) && *point.upper <= cut) {
        range.add(*point.upper);
      }
      if (spec.y_scale == Scale::linear && is_drawn(point.lower, spec.y_scale)) {
        range.add(*point.lower);
      }
    }
  }
}

Range y_range(const FigureSpec& spec) {
  std::vector<double> values = drawn_middles(spec);
  Range range;
  if (values.empty()) {
    return {.low = spec.y_scale == Scale::log ? 0.1 : 0.0, .high = 1};
  }
  const auto centre = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), centre, values.end());
  const double cut =
      *centre > 0 ? *centre * kCutAboveMedian : *std::max_element(centre, values.end());
  for (const double value : values) {
    range.add(std::min(value, cut));
  }
  add_bands(range, spec, cut);
  if (spec.reference && is_drawn(spec.reference->y, spec.y_scale)) {
    range.add(spec.reference->y);
  }
  return spec.y_scale == Scale::log ? log_range(range) : linear_range(range);
}

/// gnuplot places the legend in as many columns as fit; the canvas must be as high as they need.
int canvas_height(const FigureSpec& spec) {
  constexpr std::size_t kPlot = 340;
  constexpr std::size_t kLine = 20;
  constexpr std::size_t kWidth = 640;
  std::size_t longest = 1;
  for (const auto& curve : spec.curves) {
    longest = std::max(longest, curve.label.size());
  }
  const std::size_t columns = std::max<std::size_t>(1, kWidth / (longest * 8 + 80));
  const std::size_t entries = spec.curves.size() + (spec.reference ? 1 : 0);
  return static_cast<int>(kPlot + kLine * ((entries + columns - 1) / columns));
}

std::string axis(char name, Scale scale) {
  if (scale == Scale::linear) {
    return fmt::format("set format {} '%g'\n", name);
  }
  return fmt::format("set logscale {0}\nset format {0} '10^{{%T}}'\n", name);
}

std::string header(const FigureSpec& spec) {
  const Range range = y_range(spec);
  return fmt::format(
             "# Draws {0}.svg from {0}.csv: run `gnuplot {0}.gp` in this folder.\n"
             "set encoding utf8\n"
             "set terminal svg size 720,{1} dynamic enhanced font 'sans-serif,14'\n"
             "set output '{0}.svg'\n"
             "set datafile separator comma\n"
             "set samples 2\n"
             "set border 3 linewidth 0.7\n"
             "set tics nomirror out scale 0.6\n"
             "set grid y linecolor rgb '#a0a0a0' linewidth 0.4\n"
             "set key below left Left reverse samplen 3 spacing 1.1 noenhanced\n"
             "set xlabel {2} offset 0,0.6 noenhanced\n"
             "set ylabel {3} noenhanced\n",
             spec.name,
             canvas_height(spec),
             gnuplot_text(spec.x_label),
             gnuplot_text(spec.y_label)) +
         axis('x', spec.x_scale) + axis('y', spec.y_scale) +
         fmt::format(
             "low = {0}\n"
             "high = {1}\n"
             "set yrange [low:high]\n"
             "clip(y) = y < low ? low : (y > high ? high : y)\n",
             format_number(range.low),
             format_number(range.high));
}

bool has_band(const Curve& curve) {
  return std::any_of(
      curve.points.begin(), curve.points.end(), [](const Point& point) { return point.n > 1; });
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
    const auto [colour, dash] = line_style(curve.style);
    if (has_band(curve)) {
      bands.push_back(
          fmt::format("{} using 2:(clip($4)):(clip($5)) with filledcurves fillcolor rgb '{}' "
                      "fillstyle transparent solid 0.18 noborder notitle",
                      source,
                      colour));
    }
    lines.push_back(
        fmt::format("{} using 2:3 with lines linecolor rgb '{}' dashtype {} linewidth {} title {}",
                    source,
                    colour,
                    curve.is_bound ? "(6,4)" : dash,
                    curve.is_bound ? "1.1" : "1.8",
                    gnuplot_text(curve.label)));
    first = last + 1;
  }
  if (spec.reference) {
    lines.push_back(
        fmt::format("{} with lines linecolor rgb '#808080' dashtype (2,2) linewidth 1.2 title {}",
                    format_number(spec.reference->y),
                    gnuplot_text(spec.reference->label)));
  }
  bands.insert(bands.end(), lines.begin(), lines.end());
  return bands;
}

}  // namespace

LineStyle line_style(std::size_t style) { return kStyles.at(style % kStyles.size()); }

Scale scale_for(const std::vector<Curve>& curves, double span) {
  constexpr double kRounding = 1e-12;  // a loss gap may end a little below zero
  Range all;
  Range positive;
  for (const auto& curve : curves) {
    for (const auto& point : curve.points) {
      if (point.middle && std::isfinite(*point.middle)) {
        all.add(*point.middle);
      }
      if (is_drawn(point.middle, Scale::log)) {
        positive.add(*point.middle);
      }
    }
  }
  const bool is_wide = !positive.empty() && positive.high > span * positive.low;
  return is_wide && all.low >= -kRounding * all.high ? Scale::log : Scale::linear;
}

std::string figure_csv(const FigureSpec& spec) {
  std::string text = "curve,x,median,lower,upper,n,label\n";
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    for (const auto& point : spec.curves[i].points) {
      text += fmt::format("{},{},{},{},{},{},{}\n",
                          i,
                          format_number(point.x),
                          format_number(point.middle),
                          format_number(point.lower),
                          format_number(point.upper),
                          point.n,
                          csv_field(spec.curves[i].label));
    }
  }
  return text;
}

std::string figure_gp(const FigureSpec& spec) {
  std::string text = header(spec);
  const auto items = plot_items(spec);
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += (i == 0 ? "plot " : ", \\\n     ") + items[i];
  }
  return text + '\n';
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

DrawnFigure draw(const FigureSpec& spec, const std::filesystem::path& folder) {
  const auto svg = folder / (spec.name + ".svg");
  std::error_code ignored;  // a folder that is not there is an error when the CSV is written
  std::filesystem::create_directories(folder, ignored);
  std::filesystem::remove(svg, ignored);  // an old drawing must not pass for today's
  write_file_atomically(folder / (spec.name + ".csv"), figure_csv(spec));
  write_file_atomically(folder / (spec.name + ".gp"), figure_gp(spec));
  DrawnFigure figure{.svg = {}, .problem = run_gnuplot(folder, spec.name + ".gp")};
  if (figure.problem.empty()) {
    figure.svg = read_file(svg);
  } else {
    std::filesystem::remove(svg, ignored);
  }
  return figure;
}

}  // namespace residuum::reports
