#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "core/text.h"
#include "reports/analysis/series.h"
#include "reports/figures/figure.h"
#include "reports/page/figure_writer.h"

namespace residuum::reports {
namespace {

constexpr std::size_t kMostPoints = 600;      // of a curve
constexpr std::size_t kMostValues = 120'000;  // of all curves
constexpr std::size_t kMostSeedValues = 80'000;

/// The names of kTotals in the page's data.
constexpr std::array<std::string_view, kTotals.size()> kTotalNames{
    "bytes", "gradients", "time", "epoch", "wall"};

/// Returns the text as JSON, without characters that control a terminal or turn the writing.
std::string json_text(std::string_view text) { return Json(harmless(text)).dump(); }

void append_number(std::string& out, double value) {
  if (std::isfinite(value)) {
    fmt::format_to(std::back_inserter(out), "{:.5g}", value);
  } else {
    out += "null";
  }
}

/// Appends every `step`-th value that `value_at` gives.
template <typename ValueAt>
void append_numbers(std::string& out, std::size_t size, std::size_t step, ValueAt value_at) {
  out += '[';
  for (std::size_t i = 0; i < size; i += step) {
    out += i == 0 ? "" : ",";
    append_number(out, value_at(i));
  }
  out += ']';
}

double number_or_gap(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

/// PageData writes the parts of the page's data one after the other.
class PageData {
 public:
  PageData(const Summary& summary, const std::vector<ReportFigure>& figures)
      : summary_(&summary), figures_(&figures) {
    measure();
  }

  std::string write() {
    const std::string methods = this->methods();
    const std::string figures = this->figures();
    std::string places;
    for (const auto& place : places_) {
      places += (places.empty() ? "" : ",\n") + place;
    }
    return fmt::format(
        "{{\"methods\":[{}],\n\"networks\":[{}],\n\"figures\":[{}],\n\"places\":[{}]}}",
        methods,
        networks(),
        figures,
        places);
  }

 private:
  /// Finds how many of the points a study of this size may keep.
  void measure() {
    std::size_t values = 0;
    std::size_t seed_values = 0;
    for (const auto& figure : *figures_) {
      for (const auto& one : figure.live) {
        const std::size_t points = one.series.points.size();
        const std::size_t seeds = one.series.seeds.size();
        longest_ = std::max(longest_, points);
        values += points * (seeds > 1 ? 3 : 1);
        seed_values += seeds > 1 ? points * seeds : 0;
      }
    }
    const auto steps = [](std::size_t size, std::size_t most) { return (size + most - 1) / most; };
    step_ = std::max({std::size_t{1}, steps(longest_, kMostPoints), steps(values, kMostValues)});
    seed_step_ = std::max<std::size_t>(1, steps(seed_values / step_, kMostSeedValues));
  }

  std::string methods() const {
    const auto groups = groups_of(*summary_);
    const auto styles = method_styles(summary_->folder, groups);
    std::string out;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      std::string keys;
      const auto& moot = summary_->folder.runs[groups[i].runs.front()].moot;
      for (const auto& [key, value] : groups[i].varying.items()) {
        if (moot.contains(key)) {
          continue;
        }
        keys += fmt::format(
            "{}{}:{}", keys.empty() ? "" : ",", json_text(key), json_text(plain_text(value)));
      }
      out += fmt::format("{}{{\"label\":{},{},\"keys\":{{{}}}}}",
                         i == 0 ? "" : ",\n",
                         json_text(groups[i].label),
                         style_fields(line_style(styles[i])),
                         keys);
    }
    return out;
  }

  static std::string style_fields(const LineStyle& style) {
    return fmt::format("\"colour\":\"{}\",\"dash\":\"{}\",\"marker\":\"{}\"",
                       style.colour,
                       fmt::join(style.dash, " "),
                       style.marker);
  }

  std::string figures() {
    std::string out;
    for (const auto& figure : *figures_) {
      if (figure.variant_of.empty()) {
        out += (out.empty() ? "" : ",\n") + this->figure(figure);
      }
    }
    return out;
  }

  std::string figure(const ReportFigure& figure) {
    const FigureSpec& spec = figure.spec;
    std::string curves;
    for (const auto& one : figure.live) {
      curves += (curves.empty() ? "" : ",\n") + live_curve(one);
    }
    for (const auto& curve : spec.curves) {
      if (figure.live.empty() && !curve.points.empty()) {
        curves += (curves.empty() ? "" : ",\n") + fixed_curve(curve);
      }
    }
    std::string reference = "null";
    if (spec.reference) {
      reference = fmt::format(
          "{{\"y\":{},\"label\":{}}}", spec.reference->y, json_text(spec.reference->label));
    }
    const AxisRange range = y_range(spec);
    return fmt::format(
        "{{\"id\":{},\"title\":{},\"y\":{},\"x\":{},\"xlog\":{},\"log\":{},\"range\":[{},{}],"
        "\"band\":{},\"reference\":{},\n\"curves\":[{}]}}",
        json_text(spec.name),
        json_text(figure.title),
        json_text(spec.y_label),
        figure.live.empty() ? json_text(spec.x_label) : "null",
        spec.x_scale == Scale::log,
        spec.y_scale == Scale::log,
        range.low,
        range.high,
        json_text(spec.band),
        reference,
        curves);
  }

  std::string live_curve(const LiveCurve& one) {
    const auto& points = one.series.points;
    std::string out = opening(one.curve, points, step_);
    out += fmt::format(",\"places\":{}", live_places(one.series));
    if (one.series.seeds.size() > 1) {
      out += fmt::format(",\"step\":{},\"seeds\":[", seed_step_);
      for (std::size_t seed = 0; seed < one.series.seeds.size(); ++seed) {
        const auto& values = one.series.seeds[seed];
        out += seed == 0 ? "" : ",";
        append_numbers(
            out, values.size(), step_ * seed_step_, [&](std::size_t i) { return values[i]; });
      }
      out += ']';
    }
    return out + '}';
  }

  std::string fixed_curve(const Curve& curve) {
    std::string places = "{\"x\":";
    append_numbers(
        places, curve.points.size(), 1, [&](std::size_t i) { return curve.points[i].x; });
    return opening(curve, curve.points, 1) +
           fmt::format(",\"places\":{}}}", place_number(places + '}'));
  }

  /// Returns in words which method a curve is of, or of several methods which one each point is of.
  static std::string of_methods(const Curve& curve) {
    return curve.group ? fmt::format("\"method\":{}", *curve.group)
                       : fmt::format("\"joined\":[{}]", fmt::join(curve.joined, ","));
  }

  /// Writes a curve up to its values; the caller closes it.
  static std::string opening(const Curve& curve,
                             const std::vector<Point>& points,
                             std::size_t step) {
    std::string out = fmt::format("{{\"label\":{},{}", json_text(curve.label), of_methods(curve));
    if (curve.is_bound || !curve.group) {  // else it looks as its method does everywhere
      out += fmt::format(
          ",\"bound\":{},{}", curve.is_bound ? "true" : "false", style_fields(style_of(curve)));
    }
    Curve drawn = curve;
    drawn.points = points;
    const auto column = [&](const char* name, std::optional<double> Point::*member) {
      out += fmt::format(",\"{}\":", name);
      append_numbers(out, points.size(), step, [&](std::size_t i) {
        return number_or_gap(points[i].*member);
      });
    };
    column("middle", &Point::middle);
    if (has_band(drawn)) {
      column("lower", &Point::lower);
      column("upper", &Point::upper);
      const auto [least, most] = seeds_of(points);
      out += fmt::format(",\"n\":[{},{}]", least, most);
    }
    return out;
  }

  std::size_t live_places(const LiveSeries& series) {
    std::string places = "{\"iteration\":[";
    for (std::size_t i = 0; i < series.points.size(); i += step_) {
      places += fmt::format("{}{:.0f}", i == 0 ? "" : ",", series.points[i].x);
    }
    places += ']';
    for (std::size_t total = 0; total < kTotals.size(); ++total) {
      const auto& values = series.totals[total];
      if (!values.empty()) {
        places += fmt::format(",\"{}\":", kTotalNames[total]);
        append_numbers(places, values.size(), step_, [&](std::size_t i) { return values[i]; });
      }
    }
    for (std::size_t n = 1; n < series.networks.size(); ++n) {  // kTotals has the first one's time
      const NetworkPlaces& on = series.networks[n];
      places += fmt::format(",{}:", json_text("time:" + on.network));
      append_numbers(places, on.ends.size(), step_, [&](std::size_t i) { return on.ends[i]; });
    }
    return place_number(places + '}');
  }

  /// Returns the names of the networks that some curve has places on.
  std::string networks() const {
    std::vector<std::string> names;
    for (const auto& figure : *figures_) {
      for (const auto& one : figure.live) {
        for (const auto& network : one.series.networks) {
          if (std::find(names.begin(), names.end(), network.network) == names.end()) {
            names.push_back(network.network);
          }
        }
      }
    }
    std::string out;
    for (const auto& name : names) {
      out += (out.empty() ? "" : ",") + json_text(name);
    }
    return out;
  }

  /// Returns the number of these places, which are written once however many curves have them.
  std::size_t place_number(const std::string& places) {
    const auto [found, is_new] = numbers_.emplace(places, places_.size());
    if (is_new) {
      places_.push_back(places);
    }
    return found->second;
  }

  const Summary* summary_;
  const std::vector<ReportFigure>* figures_;
  std::size_t longest_ = 0;
  std::size_t step_ = 1;       // one in so many points is written
  std::size_t seed_step_ = 1;  // one in so many of these for single seeds
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> places_;
};

}  // namespace

std::string page_data(const Summary& summary, const std::vector<ReportFigure>& figures) {
  return PageData(summary, figures).write();
}

}  // namespace residuum::reports
