#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
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

/// Returns the points of a method: at the middle of the seeds' predicted seconds, the ratio of the
/// measured ones to them, with its band. The last one is always there.
std::vector<Point> prediction_points(const PredictedTime& held, IntervalKind kind) {
  const std::size_t step = 1 + (held.times.size() - 1) / kMostPredictedPoints;
  std::vector<Point> points;
  for (std::size_t i = (held.times.size() - 1) % step; i < held.times.size(); i += step) {
    const TimesAtIteration& at = held.times[i];
    std::vector<double> ratios(at.measured_s.size());
    std::transform(at.measured_s.begin(),
                   at.measured_s.end(),
                   at.predicted_s.begin(),
                   ratios.begin(),
                   std::divides<>());
    if (const auto predicted = centre_of(at.predicted_s, kind).middle) {
      points.push_back(seeds_point(*predicted, ratios, kind));
    }
  }
  // Over seeds the middle of later times may be an earlier one.
  std::stable_sort(
      points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  return points;
}

/// Adds an edge of the band.
void add_edge(double ratio, std::string label, const AxisRange& across, FigureSpec& spec) {
  constexpr int kPlaces = 24;  // marks of several edges stand at different ones of their points
  Curve line{.label = std::move(label), .points = {}, .is_bound = true};
  for (int i = 0; i < kPlaces; ++i) {
    const double share = static_cast<double>(i) / (kPlaces - 1);
    line.points.push_back({.x = across.low * std::pow(across.high / across.low, share),
                           .middle = ratio,
                           .lower = std::nullopt,
                           .upper = std::nullopt,
                           .n = 1});
  }
  line.points.back().x = across.high;
  line.mark = fmt::format("{:.4g}", ratio);
  spec.curves.push_back(std::move(line));
}

/// Adds where a prediction would be right, and the edges of the band.
void add_lines(FigureSpec& spec) {
  AxisRange across = x_range(spec);
  if (across.low == across.high) {
    across = {.low = across.low / 2, .high = across.high * 2};
  }
  const double percent = 100 * kPredictionBand;
  spec.reference = Reference{.y = 1, .label = "measured = predicted"};
  add_edge(1 - kPredictionBand, fmt::format("{:.0f} % less", percent), across, spec);
  add_edge(1 + kPredictionBand, fmt::format("{:.0f} % more", percent), across, spec);
}

}  // namespace

std::vector<ReportFigure> plan_prediction_figures(const Summary& summary, IntervalKind kind) {
  std::vector<ReportFigure> figures;
  const auto& all = summary.predictions;
  for (std::size_t first = 0; first < all.size(); first += kMostPredictions) {
    ReportFigure& figure = figures.emplace_back();
    figure.title = "Measured time over predicted time";
    figure.caption = fmt::format(
        "Wall seconds of real runs over the virtual seconds of the simulated runs that differ "
        "from them by their execution alone, at equal iterations. The band, between the grey "
        "lines, is {:.0f} % to either side of 1.",
        100 * kPredictionBand);
    figure.spec.name =
        figures.size() == 1 ? "predicted-times" : fmt::format("predicted-times-{}", figures.size());
    figure.spec.band = std::string(interval_words(kind));
    figure.spec.x_label = "predicted virtual time, s";
    figure.spec.y_label = "measured / predicted time";
    figure.spec.x_scale = Scale::log;
    for (std::size_t i = first; i < std::min(all.size(), first + kMostPredictions); ++i) {
      figure.spec.curves.push_back({.label = all[i].label,
                                    .style = i - first,
                                    .points = prediction_points(all[i], kind),
                                    .group = all[i].measured});
    }
    constexpr double kLogSpan = 5;
    add_lines(figure.spec);
    figure.spec.y_scale = scale_for(figure.spec.curves, kLogSpan);
  }
  return figures;
}

}  // namespace residuum::reports
