#include "reports/figures/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <set>

#include "core/text.h"
#include "reports/results/csv.h"

namespace residuum::reports {
namespace {

constexpr std::array<std::string_view, 8> kColours{
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#808080"};

/// The dash patterns of methods; the first is solid.
const std::vector<int>& method_dash(std::size_t i) {
  static const std::array<std::vector<int>, 4> dashes{{{}, {10, 4}, {3, 3}, {12, 3, 3, 3}}};
  return dashes.at(i % dashes.size());
}

const std::vector<int>& bound_dash(std::size_t i) {
  static const std::array<std::vector<int>, 4> dashes{{{6, 4}, {2, 3}, {9, 3, 2, 3}, {14, 5}}};
  return dashes.at(i % dashes.size());
}

// A run that diverges must not flatten the others, so values this far above the rest are cut off.
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

/// Returns the least and the largest number of seeds of the curves that have a band.
std::pair<std::size_t, std::size_t> seeds_of_bands(const FigureSpec& spec) {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  std::size_t largest = 0;
  for (const auto& curve : spec.curves) {
    if (!has_band(curve)) {
      continue;
    }
    const auto [fewest, most] = seeds_of(curve.points);
    least = std::min(least, fewest);
    largest = std::max(largest, most);
  }
  return {least, largest};
}

/// Returns whether a measured value has no place on an axis.
bool is_off_axis(double value, Scale scale) { return scale == Scale::log && value <= 0; }

std::string number_or_nan(const std::optional<double>& value) {
  return format_number(value.value_or(std::numeric_limits<double>::quiet_NaN()));
}

/// Returns where the characters of the text begin.
std::vector<std::size_t> begins_of_characters(std::string_view text) {
  std::vector<std::size_t> begins;
  for (std::size_t at = 0; at < text.size();
       at += std::max<std::size_t>(1, utf8_character(text, at))) {
    begins.push_back(at);
  }
  return begins;
}

/// Returns "(a)" to "(z)", then "(27)".
std::string mark_text(std::size_t number) {
  constexpr std::size_t kLetters = 26;
  return number < kLetters ? fmt::format("({})", static_cast<char>('a' + number))
                           : fmt::format("({})", number + 1);
}

/// Returns the share of the x axis at which a bound has its mark.
double mark_place(std::size_t number) {
  constexpr double kFirst = 0.94;
  constexpr double kStep = 0.11;
  constexpr std::size_t kPlaces = 8;
  return kFirst - kStep * static_cast<double>(number % kPlaces);
}

/// Returns the point of the curve that is nearest to a share of the x axis, of those on the axes;
/// null where there is none.
const Point* marked_point(const FigureSpec& spec, const Curve& curve, double share) {
  const AxisRange across = x_range(spec);
  const AxisRange up = y_range(spec);
  const auto place = [&](double x) { return spec.x_scale == Scale::log ? std::log(x) : x; };
  const double wanted = place(across.low) + share * (place(across.high) - place(across.low));
  const Point* nearest = nullptr;
  for (const Point& point : curve.points) {
    const bool is_on_axes = !is_off_axis(point.x, spec.x_scale) &&
                            is_drawn(point.middle, spec.y_scale) && *point.middle >= up.low &&
                            *point.middle <= up.high;
    if (is_on_axes && (nearest == nullptr ||
                       std::abs(place(point.x) - wanted) < std::abs(place(nearest->x) - wanted))) {
      nearest = &point;
    }
  }
  return nearest;
}

/// Returns the theorem's name of "name: formula": a formula without its middle is wrong.
std::string_view without_formula(std::string_view label) {
  const std::size_t end = label.find(": ");
  const bool is_name = end != std::string_view::npos && label.find(' ') > end;
  return is_name ? label.substr(0, end) : label;
}

std::string dash_text(const std::vector<int>& dash) {
  std::string text;
  for (const int length : dash) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", length);
  }
  return text;
}

}  // namespace

LineStyle line_style(std::size_t style) {
  const std::size_t round = style / kColours.size();
  return {.colour = kColours.at(style % kColours.size()),
          .dash = method_dash(style + round),
          .marker = kMarkers.at(style % kMarkers.size()).name};
}

LineStyle style_of(const Curve& curve) {
  if (!curve.is_bound) {
    return line_style(curve.style);
  }
  return {.colour = "#808080", .dash = bound_dash(curve.style), .marker = {}, .width = 1};
}

const Marker& find_marker(std::string_view name) {
  const auto* const found = std::find_if(
      kMarkers.begin(), kMarkers.end(), [&](const Marker& one) { return one.name == name; });
  assert(found != kMarkers.end());
  return *found;
}

AxisRange y_range(const FigureSpec& spec) {
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
  range = spec.y_scale == Scale::log ? log_range(range) : linear_range(range);
  return {.low = range.low, .high = range.high};
}

AxisRange x_range(const FigureSpec& spec) {
  Range range;
  for (const auto& curve : spec.curves) {
    for (const auto& point : curve.points) {
      if (!is_off_axis(point.x, spec.x_scale)) {
        range.add(point.x);
      }
    }
  }
  if (range.empty()) {
    return {.low = 1, .high = 2};
  }
  return {.low = range.low, .high = range.high};
}

std::vector<double> tick_places(const FigureSpec& spec) {
  constexpr std::size_t kMost = 10;
  constexpr double kLabelWidth = 0.07;  // of the axis
  std::set<double> places;
  for (const auto& curve : spec.curves) {
    for (const auto& point : curve.points) {
      if (!curve.is_bound && !is_off_axis(point.x, spec.x_scale)) {
        places.insert(point.x);
      }
    }
    if (places.size() > kMost) {
      return {};
    }
  }
  std::vector<double> ticks(places.begin(), places.end());
  const AxisRange all = x_range(spec);
  const bool is_one = all.low == all.high;
  if (!is_one && (ticks.size() < 2 || spec.x_scale == Scale::linear)) {
    return {};
  }
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    if (std::log(ticks[i] / ticks[i - 1]) < kLabelWidth * std::log(ticks.back() / ticks.front())) {
      return {};
    }
  }
  return ticks;
}

AxisRange x_range_around(const FigureSpec& spec, const std::vector<double>& places) {
  const AxisRange range = x_range(spec);
  if (spec.x_scale == Scale::linear) {
    return {.low = range.low - 0.5, .high = range.high + 0.5};
  }
  const double margin = places.size() == 1 ? 2 : std::pow(range.high / range.low, 0.04);
  return {.low = range.low / margin, .high = range.high * margin};
}

bool has_band(const Curve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(), [](const Point& point) {
    return point.n > 1 && point.lower;
  });
}

std::pair<std::size_t, std::size_t> seeds_of(const std::vector<Point>& points) {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  std::size_t largest = 0;
  for (const auto& point : points) {
    if (point.middle && point.n > 0) {
      least = std::min(least, point.n);
      largest = std::max(largest, point.n);
    }
  }
  return {std::min(least, largest), largest};
}

std::string band_text(const FigureSpec& spec) {
  const auto [least, largest] = seeds_of_bands(spec);
  if (largest == 0) {
    return {};
  }
  return least == largest ? fmt::format("{} over {} seeds", spec.band, largest)
                          : fmt::format("{} over {} to {} seeds", spec.band, least, largest);
}

std::size_t gaps_of(const FigureSpec& spec) {
  std::size_t gaps = 0;
  for (const auto& curve : spec.curves) {
    for (const auto& point : curve.points) {
      const bool is_gap = point.middle && (is_off_axis(*point.middle, spec.y_scale) ||
                                           is_off_axis(point.x, spec.x_scale));
      gaps += is_gap ? 1 : 0;
    }
  }
  return gaps;
}

std::size_t cut_off(const FigureSpec& spec) {
  const double high = y_range(spec).high;
  std::size_t cut = 0;
  for (const auto& curve : spec.curves) {
    for (const auto& point : curve.points) {
      cut += !curve.is_bound && point.middle && *point.middle > high ? 1 : 0;
    }
  }
  return cut;
}

std::string note_under(const FigureSpec& spec) {
  std::string note = band_text(spec);
  if (const std::size_t gaps = gaps_of(spec); gaps > 0) {
    note += fmt::format("{}{} value{} ≤ 0 left out of a logarithmic axis",
                        note.empty() ? "" : "; ",
                        gaps,
                        gaps == 1 ? "" : "s");
  }
  if (const std::size_t cut = cut_off(spec); cut > 0) {
    note += fmt::format("{}{} value{} above {:.4g} cut off",
                        note.empty() ? "" : "; ",
                        cut,
                        cut == 1 ? "" : "s",
                        y_range(spec).high);
  }
  return note;
}

std::string drawn_label(std::string_view label) {
  return without_middle(harmless(label), kMostDrawnCharacters);
}

std::string without_middle(std::string_view text, std::size_t most) {
  const auto begins = begins_of_characters(text);
  if (begins.size() <= most) {
    return std::string(text);
  }
  const std::size_t tail = most * 3 / 10;
  const std::size_t head = most - std::min(most, tail + 1);
  return fmt::format("{}…{}",
                     text.substr(0, begins[head]),
                     tail == 0 ? std::string_view() : text.substr(begins[begins.size() - tail]));
}

std::size_t characters_in(std::string_view text) { return begins_of_characters(text).size(); }

LineStyle reference_style() {
  return {.colour = "#808080", .dash = {1, 3}, .marker = {}, .width = 1.2};
}

bool is_on_axes(const FigureSpec& spec, const Curve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(), [&](const Point& point) {
    return !is_off_axis(point.x, spec.x_scale) && is_drawn(point.middle, spec.y_scale);
  });
}

std::vector<BoundMark> bound_marks(const FigureSpec& spec) {
  std::vector<BoundMark> marks;
  std::size_t bounds = 0;
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    if (!spec.curves[i].is_bound) {
      continue;
    }
    const std::size_t number = bounds++;
    if (const Point* point = marked_point(spec, spec.curves[i], mark_place(number))) {
      const std::string& own = spec.curves[i].mark;
      marks.push_back({.curve = i,
                       .text = own.empty() ? mark_text(number) : own,
                       .x = point->x,
                       .y = *point->middle});
    }
  }
  return marks;
}

std::string legend_label(const FigureSpec& spec, std::size_t curve, std::size_t most) {
  const Curve& one = spec.curves.at(curve);
  if (!one.is_bound || !one.mark.empty()) {
    return without_middle(harmless(one.label), most);
  }
  const auto before = spec.curves.begin() + static_cast<std::ptrdiff_t>(curve);
  const auto number =
      std::count_if(spec.curves.begin(), before, [](const Curve& other) { return other.is_bound; });
  const std::string mark = mark_text(static_cast<std::size_t>(number)) + ' ';
  const std::size_t room = most - std::min(most - 1, characters_in(mark));
  const std::string label = harmless(one.label);
  return mark +
         without_middle(characters_in(label) > room ? std::string(without_formula(label)) : label,
                        room);
}

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
  std::string text = "curve,x,median,lower,upper,n\n";
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    const bool banded = has_band(spec.curves[i]);
    for (const auto& point : spec.curves[i].points) {
      text += fmt::format("{},{},{},{},{},{}\n",
                          i,
                          format_number(point.x),
                          number_or_nan(point.middle),
                          banded ? number_or_nan(point.lower) : format_number(point.lower),
                          banded ? number_or_nan(point.upper) : format_number(point.upper),
                          point.n);
    }
  }
  return text;
}

std::string curves_csv(const FigureSpec& spec) {
  std::string text = "curve,label,colour,dash,marker,is_bound\n";
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    const Curve& curve = spec.curves[i];
    const LineStyle style = style_of(curve);
    text += fmt::format("{},{},{},{},{},{}\n",
                        i,
                        csv_field(curve.label),
                        style.colour,
                        dash_text(style.dash),
                        style.marker,
                        curve.is_bound ? 1 : 0);
  }
  return text;
}

}  // namespace residuum::reports
