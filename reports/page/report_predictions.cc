#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/analysis/predicted_times.h"
#include "reports/analysis/series.h"
#include "reports/page/sections.h"

namespace residuum::reports {
namespace {

constexpr std::size_t kMostPredictions = 8;        // curves of a figure
constexpr std::size_t kMostPredictedPoints = 100;  // of a curve

/// Returns the points of a method: the middle of the seeds' predicted seconds, and measured seconds
/// with their band. The last one is always there.
std::vector<Point> prediction_points(const PredictedTime& held, IntervalKind kind) {
  const std::size_t step = 1 + (held.times.size() - 1) / kMostPredictedPoints;
  std::vector<Point> points;
  for (std::size_t i = (held.times.size() - 1) % step; i < held.times.size(); i += step) {
    const auto predicted = centre_of(held.times[i].predicted_s, kind).middle;
    if (predicted) {
      points.push_back(seeds_point(*predicted, held.times[i].measured_s, kind));
    }
  }
  // Over seeds the middle of later times may be an earlier one.
  std::stable_sort(
      points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  return points;
}

/// Returns the line on which measured seconds are so many times the predicted ones.
Curve ratio_line(double times, double low, double high, std::string label, std::string mark) {
  const auto point = [&](double predicted) {
    return Point{.x = predicted,
                 .middle = times * predicted,
                 .lower = std::nullopt,
                 .upper = std::nullopt,
                 .n = 1};
  };
  // Marks of several lines stand at different ones of their points.
  constexpr int kPlaces = 24;
  Curve line{.label = std::move(label), .points = {}, .is_bound = true, .mark = std::move(mark)};
  for (int i = 0; i < kPlaces; ++i) {
    line.points.push_back(
        point(low * std::pow(high / low, static_cast<double>(i) / (kPlaces - 1))));
  }
  line.points.back() = point(high);
  return line;
}

/// Adds where a prediction would be right, and the edges of the band.
void add_lines(FigureSpec& spec) {
  double low = spec.curves.front().points.front().x;
  double high = low;
  for (const Curve& curve : spec.curves) {
    low = std::min(low, curve.points.front().x);
    high = std::max(high, curve.points.back().x);
  }
  if (low == high) {
    low /= 2;
    high *= 2;
  }
  const double percent = 100 * kPredictionBand;
  const std::size_t first = spec.curves.size();
  spec.curves.push_back(ratio_line(1, low, high, "measured = predicted", "="));
  spec.curves.push_back(ratio_line(1 - kPredictionBand,
                                   low,
                                   high,
                                   fmt::format("{:.0f} % less", percent),
                                   fmt::format("−{:.0f} %", percent)));
  spec.curves.push_back(ratio_line(1 + kPredictionBand,
                                   low,
                                   high,
                                   fmt::format("{:.0f} % more", percent),
                                   fmt::format("+{:.0f} %", percent)));
  for (std::size_t i = first; i < spec.curves.size(); ++i) {
    spec.curves[i].style = i - first;  // each line has dashes of its own
  }
}

}  // namespace

std::vector<ReportFigure> plan_prediction_figures(const Summary& summary, IntervalKind kind) {
  std::vector<ReportFigure> figures;
  const auto& all = summary.predictions;
  for (std::size_t first = 0; first < all.size(); first += kMostPredictions) {
    ReportFigure& figure = figures.emplace_back();
    figure.title = "Measured against predicted time";
    figure.caption = fmt::format(
        "Wall seconds of real runs against the virtual seconds of the simulated runs that differ "
        "from them by their execution alone, at equal iterations. The band is {:.0f} % of the "
        "predicted time to either side.",
        100 * kPredictionBand);
    figure.spec.name =
        figures.size() == 1 ? "predicted-times" : fmt::format("predicted-times-{}", figures.size());
    figure.spec.band = std::string(interval_words(kind));
    figure.spec.x_label = "predicted virtual time, s";
    figure.spec.y_label = "measured wall time, s";
    figure.spec.x_scale = Scale::log;
    figure.spec.y_scale = Scale::log;
    for (std::size_t i = first; i < std::min(all.size(), first + kMostPredictions); ++i) {
      figure.spec.curves.push_back({.label = all[i].label,
                                    .style = i - first,
                                    .points = prediction_points(all[i], kind),
                                    .group = all[i].measured});
    }
    add_lines(figure.spec);
  }
  return figures;
}

}  // namespace residuum::reports
