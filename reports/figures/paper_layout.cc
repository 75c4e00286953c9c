#include "reports/figures/paper_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "reports/figures/drawn_text.h"

namespace residuum::reports {
namespace {

constexpr double kTitleLine = 1.25;  // the height of a line of an axis's title
constexpr double kTickLine = 1.2;    // of the numbers below the x axis
constexpr double kTickLength = 0.7;  // with the gap between it and its number
constexpr double kTitleGap = 0.3;    // between numbers and title
constexpr double kLeastNumberGap = 0.6;
constexpr double kLeastPlotWidth = 4.5;
constexpr double kLeastPlotHeight = 6;

// --- Texts --------------------------------------------------------------------------------------

/// Fits a title into a length: in smaller letters if few are enough, else in several lines.
PaperTitle title_in(const std::string& text, double room) {
  constexpr double kSmallest = 0.8;
  const std::string drawn = drawn_label(text);
  const double font = std::clamp(room / std::max(text_width(drawn), 1e-9), kSmallest, 1.0);
  return {.font = font, .lines = wrapped_text(drawn, room / font)};
}

double height_of(const PaperTitle& title) {
  return kTitleLine * title.font * static_cast<double>(title.lines.size());
}

/// Returns the labels of the legend: those of the curves that are drawn, then the reference's.
std::vector<std::string> labels_of(const FigureSpec& spec) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    if (is_on_axes(spec, spec.curves[i])) {
      labels.push_back(legend_label(spec, i));
    }
  }
  if (spec.reference) {
    labels.push_back(drawn_label(spec.reference->label));
  }
  return labels;
}

PaperLegend legend_in(const FigureSpec& spec, double width) {
  constexpr std::array<double, 4> kFonts{1, 0.9, 0.8, 0.75};
  constexpr double kSample = 2.8;
  constexpr double kGap = 0.8;  // between columns
  constexpr double kLine = 1.3;
  const auto labels = labels_of(spec);
  double longest = 0;
  for (const auto& label : labels) {
    longest = std::max(longest, text_width(label));
  }
  PaperLegend legend;
  for (const double font : kFonts) {
    const double entry = font * (kSample + longest);
    const double columns = std::floor((width + kGap * font) / (entry + kGap * font));
    legend.font = font;
    legend.columns = std::clamp<std::size_t>(
        static_cast<std::size_t>(columns), 1, std::max<std::size_t>(1, labels.size()));
    if (columns >= 1) {
      break;
    }
  }
  legend.column_width = width / static_cast<double>(legend.columns);
  legend.line = kLine * legend.font;
  legend.sample = kSample * legend.font;
  const double room = (legend.columns == 1 ? width : legend.column_width) - legend.sample;
  for (const auto& label : labels) {
    legend.entries.push_back(wrapped_text(label, room / legend.font));
  }
  return legend;
}

// --- Ticks --------------------------------------------------------------------------------------

/// Returns a number as an axis has it: at most six digits.
std::string tick_text(double number) { return fmt::format("{:g}", number); }

double width_of(const PaperTick& tick) {
  constexpr double kRaised = 0.75;
  return tick.is_power ? text_width("10") + kRaised * text_width(tick.text) : text_width(tick.text);
}

double widest(const std::vector<PaperTick>& ticks) {
  double width = 0;
  for (const auto& tick : ticks) {
    width = std::max(width, width_of(tick));
  }
  return width;
}

/// An AxisRoom is the room of an axis for its numbers: its length, and the part that each of them
/// takes.
struct AxisRoom {
  double length = 0;
  bool is_upright = false;  // the numbers stand one above the other

  double taken_by(const PaperTick& tick) const { return is_upright ? 1.1 : width_of(tick); }
};

double place_on(const AxisRange& range, Scale scale, double value) {
  return scale == Scale::log ? std::log(value / range.low) / std::log(range.high / range.low)
                             : (value - range.low) / (range.high - range.low);
}

/// Returns whether no two numbers of an axis touch.
bool have_room(const std::vector<PaperTick>& ticks,
               const AxisRange& range,
               Scale scale,
               const AxisRoom& room) {
  double end = -1e9;
  for (const auto& tick : ticks) {
    if (tick.text.empty()) {
      continue;
    }
    const double middle = room.length * place_on(range, scale, tick.place);
    const double half = room.taken_by(tick) / 2;
    if (middle - half < end + kLeastNumberGap) {
      return false;
    }
    end = middle + half;
  }
  return true;
}

/// Returns the multiples of a step that are in a range.
std::vector<PaperTick> multiples_in(const AxisRange& range, double step) {
  constexpr double kRounding = 1e-9;
  std::vector<PaperTick> ticks;
  const double first = std::ceil(range.low / step - kRounding);
  for (double i = first; i <= range.high / step + kRounding; ++i) {
    const double place = i == 0 ? 0 : i * step;
    ticks.push_back({.place = place, .text = tick_text(place)});
  }
  return ticks;
}

/// Returns the ends of the range alone, for an axis that has no room for round numbers.
std::vector<PaperTick> ends_of(const AxisRange& range) {
  const auto text = [](double end) {  // of three digits, without an exponent where none is needed
    return end == 0 ? std::string("0") : tick_text(std::stod(fmt::format("{:.2e}", end)));
  };
  return {{.place = range.low, .text = text(range.low)},
          {.place = range.high, .text = text(range.high)}};
}

std::vector<PaperTick> linear_ticks(const AxisRange& range, const AxisRoom& room) {
  constexpr double kMost = 8;
  constexpr std::array<double, 4> kSteps{1, 2, 5, 10};
  const double least = (range.high - range.low) / kMost;
  const double decade = std::pow(10, std::floor(std::log10(least)));
  for (double unit = decade; unit <= 100 * decade; unit *= 10) {
    for (const double times : kSteps) {
      const double step = times * unit;
      auto ticks = step < least ? std::vector<PaperTick>() : multiples_in(range, step);
      if (ticks.size() >= 2 && have_room(ticks, range, Scale::linear, room)) {
        return ticks;
      }
    }
  }
  return ends_of(range);
}

/// Returns the powers of ten in a range whose exponents are multiples of `step`; between
/// neighbours the small ticks that tell a logarithmic axis.
std::vector<PaperTick> powers_in(const AxisRange& range, int step) {
  constexpr double kRounding = 1e-9;
  constexpr int kMostWithSmall = 6;
  const int first = static_cast<int>(std::floor(std::log10(range.low) + kRounding));
  const int last = static_cast<int>(std::ceil(std::log10(range.high) - kRounding));
  std::vector<PaperTick> ticks;
  const auto add = [&](double place, std::string text) {
    const bool is_inside =
        place >= range.low * (1 - kRounding) && place <= range.high * (1 + kRounding);
    if (is_inside) {
      const bool is_power = !text.empty();
      ticks.push_back({.place = place, .text = std::move(text), .is_power = is_power});
    }
  };
  for (int exponent = first; exponent <= last; ++exponent) {
    const double power = std::pow(10, exponent);
    if (exponent % step == 0) {
      add(power, fmt::format("{}", exponent));
    }
    for (int times = 2; step == 1 && last - first <= kMostWithSmall && times < 10; ++times) {
      add(times * power, {});
    }
  }
  return ticks;
}

std::size_t numbers_of(const std::vector<PaperTick>& ticks) {
  return static_cast<std::size_t>(std::count_if(
      ticks.begin(), ticks.end(), [](const PaperTick& tick) { return !tick.text.empty(); }));
}

/// Returns 1, 2 and 5 times the powers of ten in a range of less than two decades.
std::vector<PaperTick> few_in(const AxisRange& range) {
  std::vector<PaperTick> ticks;
  const int first = static_cast<int>(std::floor(std::log10(range.low)));
  for (int exponent = first; exponent <= first + 2; ++exponent) {
    for (const double times : {1, 2, 5}) {
      const double place = times * std::pow(10, exponent);
      if (place >= range.low && place <= range.high) {
        ticks.push_back({.place = place, .text = tick_text(place)});
      }
    }
  }
  return ticks;
}

std::vector<PaperTick> log_ticks(const AxisRange& range, const AxisRoom& room) {
  constexpr int kMostStep = 30;
  for (int step = 1; step <= kMostStep; ++step) {
    auto ticks = powers_in(range, step);
    if (numbers_of(ticks) < 2) {
      break;
    }
    if (have_room(ticks, range, Scale::log, room)) {
      return ticks;
    }
  }
  auto few = few_in(range);
  const bool is_enough = few.size() >= 2 && have_room(few, range, Scale::log, room);
  return is_enough ? few : ends_of(range);
}

std::vector<PaperTick> ticks_in(const AxisRange& range, Scale scale, const AxisRoom& room) {
  return scale == Scale::log ? log_ticks(range, room) : linear_ticks(range, room);
}

/// Returns the x axis with ticks where points are, if there are few, and round ones otherwise.
PaperAxis x_axis_of(const FigureSpec& spec, double length) {
  const AxisRoom room{.length = length, .is_upright = false};
  PaperAxis axis{
      .range = x_range(spec), .ticks = {}, .title = title_in(spec.x_label, length + 1.2)};
  const auto places = tick_places(spec);
  if (!places.empty()) {
    axis.range = x_range_around(spec, places);
    for (const double place : places) {
      axis.ticks.push_back({.place = place, .text = tick_text(place)});
    }
    if (have_room(axis.ticks, axis.range, spec.x_scale, room)) {
      return axis;
    }
  } else if (axis.range.low == axis.range.high) {
    axis.range = x_range_around(spec, {axis.range.low});
  }
  axis.ticks = ticks_in(axis.range, spec.x_scale, room);
  return axis;
}

}  // namespace

std::size_t PaperLegend::rows() const { return (entries.size() + columns - 1) / columns; }

std::size_t PaperLegend::lines_above(std::size_t row) const {
  std::size_t lines = 0;
  for (std::size_t above = 0; above < std::min(row, rows()); ++above) {
    std::size_t most = 1;
    for (std::size_t i = above * columns; i < std::min(entries.size(), (above + 1) * columns);
         ++i) {
      most = std::max(most, entries[i].size());
    }
    lines += most;
  }
  return lines;
}

double PaperLegend::height() const { return line * static_cast<double>(lines_above(rows())); }

PaperLayout layout_paper(const FigureSpec& spec) {
  constexpr double kPointsPerMillimetre = 72 / 25.4;
  constexpr double kAspect = 0.62;
  constexpr double kEdge = 0.3;
  const PaperSize size = spec.paper.value_or(PaperSize{});
  PaperLayout layout;
  layout.width = size.width_mm * kPointsPerMillimetre / size.font_pt;
  layout.top = 0.8;
  layout.right = 1;
  layout.legend = legend_in(spec, layout.width - 2 * kEdge);
  layout.y.range = y_range(spec);
  layout.left = 5;
  double plot_height = kLeastPlotHeight;
  // The numbers of the y axis say how wide the plot is, and that says how high it is, and that how
  // many numbers there are: the second round has what the first one found.
  for (int round = 0; round < 2; ++round) {
    const double plot_width = std::max(1.0, layout.width - layout.left - layout.right);
    layout.x = x_axis_of(spec, plot_width);
    const double below = kTickLine + kTickLength + kTitleGap + height_of(layout.x.title);
    plot_height = std::max(
        {kAspect * layout.width - layout.top - below, kAspect * plot_width, kLeastPlotHeight});
    layout.y.ticks =
        ticks_in(layout.y.range, spec.y_scale, {.length = plot_height, .is_upright = true});
    layout.y.title = title_in(spec.y_label, plot_height + 1);
    layout.left =
        kEdge + height_of(layout.y.title) + kTitleGap + widest(layout.y.ticks) + kTickLength;
    layout.right =
        std::max(0.6, layout.x.ticks.empty() ? 0 : width_of(layout.x.ticks.back()) / 2 + kEdge);
    layout.bottom = below + kEdge + layout.legend.height() + kEdge;
  }
  layout.height = layout.top + plot_height + layout.bottom;
  return layout;
}

double least_paper_width(const FigureSpec& spec, double font_pt) {
  constexpr double kLeast = 20;
  constexpr double kMost = 1000;
  constexpr std::size_t kMostLines = 3;
  FigureSpec narrow = spec;
  for (double width = kLeast; width < kMost; ++width) {
    narrow.paper = PaperSize{.width_mm = width, .font_pt = font_pt};
    const PaperLayout layout = layout_paper(narrow);
    const double plot = layout.width - layout.left - layout.right;
    const bool have_labels = std::all_of(
        layout.legend.entries.begin(), layout.legend.entries.end(), [](const auto& lines) {
          return lines.size() <= kMostLines;
        });
    const bool has_numbers =
        plot >= kLeastPlotWidth &&
        have_room(layout.x.ticks, layout.x.range, spec.x_scale, {.length = plot});
    const bool has_titles =
        layout.x.title.lines.size() <= kMostLines && layout.y.title.lines.size() <= kMostLines;
    if (have_labels && has_numbers && has_titles) {
      return width;
    }
  }
  return kMost;
}

}  // namespace residuum::reports
