// A joined curve goes through the ends of several methods that differ in one key only, such as the
// number of workers.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/analysis/groups.h"
#include "reports/analysis/series.h"
#include "reports/analysis/words.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// One method's place on a joined curve.
struct JoinedPoint {
  std::string label;  // of the curve: the method without the key
  Point point;
  std::size_t group = 0;  // the method's place in the study
};

/// Returns a curve for each label, in the order in which the labels first come, with its points in
/// the order of x. A label with one point makes no curve, and styles are counted without it.
std::vector<Curve> join_methods(std::vector<JoinedPoint> points);

std::vector<Curve> join_methods(std::vector<JoinedPoint> points) {
  std::vector<std::string> labels;
  for (const auto& one : points) {
    if (std::find(labels.begin(), labels.end(), one.label) == labels.end()) {
      labels.push_back(one.label);
    }
  }
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return a.point.x < b.point.x;
  });
  std::vector<Curve> curves;
  for (auto& label : labels) {
    Curve curve{.label = std::move(label), .style = curves.size(), .points = {}};
    for (const auto& one : points) {
      if (one.label == curve.label) {
        curve.points.push_back(one.point);
        curve.joined.push_back(one.group);
      }
    }
    if (curve.points.size() > 1) {
      curves.push_back(std::move(curve));
    }
  }
  return curves;
}

namespace {

constexpr std::size_t kMostEnergyCurves = 8;

/// Returns k/d of the method, as its first run had it.
std::optional<double> density_of(const Summary& summary, const GroupSummary& group) {
  const Run& run = summary.folder.runs[group.group.runs.front()];
  const auto k = number_at(run.status, "k");
  const auto d = number_at(run.status, "dimension");
  return k && d && *k > 0 && *d > 0 ? std::optional(*k / *d) : std::nullopt;
}

/// Returns 1 - delta (1 - k/d) of the seeds' pooled deltas.
std::optional<Point> energy_point(const Summary& summary,
                                  const GroupSummary& group,
                                  IntervalKind kind) {
  const auto share = density_of(summary, group);
  const auto delta = std::find_if(
      group.assumptions.begin(), group.assumptions.end(), [](const AssumptionSummary& one) {
        return one.verdict.name == kDeltaAssumption;
      });
  if (!share || delta == group.assumptions.end() || delta->verdict.of_seeds.empty()) {
    return std::nullopt;
  }
  std::vector<double> energies;
  for (const double value : delta->verdict.of_seeds) {
    energies.push_back(1 - value * (1 - *share));
  }
  return seeds_point(*share, energies, kind);
}

std::string label_without_k(const Run& run) {
  const bool has_density = run.varying.contains("sparsifier.density");
  return method_label(run, has_density ? "sparsifier.density" : "sparsifier.k");
}

}  // namespace

std::vector<ReportFigure> plan_energy_figures(const Summary& summary, IntervalKind kind) {
  std::vector<JoinedPoint> points;
  for (std::size_t i = 0; i < summary.groups.size(); ++i) {
    const GroupSummary& group = summary.groups[i];
    if (const auto point = energy_point(summary, group, kind)) {
      const Run& first = summary.folder.runs[group.group.runs.front()];
      points.push_back({.label = label_without_k(first), .point = *point, .group = i});
    }
  }
  std::vector<Curve> curves = join_methods(std::move(points));
  if (curves.empty() || curves.size() > kMostEnergyCurves) {
    return {};
  }
  ReportFigure figure;
  figure.title = "Captured energy against k";
  figure.caption =
      "The share of ‖ā‖² that the applied update captures, 1 − δ (1 − k/d) with δ pooled "
      "over the run, against the share of the entries that is sent.";
  figure.spec.name = "energy-k";
  figure.spec.band = std::string(interval_words(kind));
  figure.spec.x_label = "k/d";
  figure.spec.y_label = "captured energy";
  figure.spec.x_scale = Scale::log;
  figure.spec.curves = std::move(curves);
  return {figure};
}

namespace {

constexpr std::size_t kMostCurves = 6;
constexpr const char* kWorkers = "workers.count";

std::string bracket_text(const WorkersCurve& curve) {
  if (!curve.fails_from) {
    return fmt::format("δ ≤ 1 up to P = {}", short_number(curve.holds_to));
  }
  if (!curve.holds_to) {
    return fmt::format("δ > 1 from P = {} on", short_number(curve.fails_from));
  }
  return fmt::format(
      "between {} and {}", short_number(curve.holds_to), short_number(curve.fails_from));
}

Curve measured_curve(const WorkersCurve& curve, std::size_t style, IntervalKind kind) {
  Curve drawn{.label = curve.label, .style = style, .points = {}};
  for (const auto& point : curve.points) {
    drawn.points.push_back(seeds_point(point.workers, point.delta->of_seeds, kind));
    drawn.joined.push_back(point.number);
  }
  return drawn;
}

std::optional<Curve> predicted_curve(const WorkersCurve& curve, std::size_t style) {
  Curve drawn{.label = "iid Gaussian accumulators, " + curve.label,
              .style = style,
              .points = {},
              .is_bound = true};
  for (const auto& point : curve.points) {
    if (point.group->gaussian.delta) {
      drawn.points.push_back({.x = point.workers,
                              .middle = point.group->gaussian.delta,
                              .lower = std::nullopt,
                              .upper = std::nullopt,
                              .n = 1});
      drawn.joined.push_back(point.number);
    }
  }
  return drawn.points.empty() ? std::nullopt : std::optional<Curve>(std::move(drawn));
}

/// The y axis of the ends of some methods.
struct EndAxis {
  bool is_gap;
  std::string_view metric;
  std::string_view quantity;
  Scale scale;
};

constexpr std::array<EndAxis, 2> kEndAxes{
    {{.is_gap = true, .metric = "final_loss_gap", .quantity = "f − f*", .scale = Scale::log},
     {.is_gap = false, .metric = "final_loss", .quantity = "f", .scale = Scale::linear}}};

/// Returns the ends of the seeds, null if a seed has come to none or the method has another axis.
const Spread* ends_of(const GroupSummary& group, const EndAxis& axis) {
  const bool has_gap = group.metric(kEndAxes[0].metric) != nullptr;
  const bool is_over = group.finished == group.group.runs.size();
  return is_over && has_gap == axis.is_gap ? group.metric(axis.metric) : nullptr;
}

/// Returns the curves of the methods that end at a loss gap, or of those that do not: they have no
/// axis in common.
std::vector<Curve> end_curves(const Summary& summary, const EndAxis& axis, IntervalKind kind) {
  std::vector<JoinedPoint> points;
  for (std::size_t i = 0; i < summary.groups.size(); ++i) {
    const GroupSummary& group = summary.groups[i];
    const auto workers = group.group.varying.find(kWorkers);
    const Spread* const ends = ends_of(group, axis);
    if (workers == group.group.varying.end() || !workers->is_number() || ends == nullptr) {
      continue;
    }
    points.push_back(
        {.label = method_label(summary.folder.runs[group.group.runs.front()], kWorkers),
         .point = seeds_point(workers->get<double>(), ends->values, kind),
         .group = i});
  }
  return join_methods(std::move(points));
}

ReportFigure end_figure(const EndAxis& axis, std::size_t number, IntervalKind kind) {
  ReportFigure figure;
  figure.title = "Where runs end against the number of workers";
  figure.caption = fmt::format(
      "{} at the last model. A method has no point where one of its seeds diverged or is not "
      "finished.",
      axis.quantity);
  figure.spec.name = fmt::format("end-workers-{}", number);
  figure.spec.band = std::string(interval_words(kind));
  figure.spec.x_label = "workers P";
  figure.spec.y_label = fmt::format("{} at the end", axis.quantity);
  figure.spec.x_scale = Scale::log;
  figure.spec.y_scale = axis.scale;
  return figure;
}

}  // namespace

std::string workers_table(const std::vector<WorkersCurve>& curves) {
  if (curves.empty()) {
    return {};
  }
  std::vector<std::vector<Cell>> rows;
  for (const auto& curve : curves) {
    std::string values;
    for (const auto& point : curve.points) {
      values += fmt::format(
          "{}P = {}: {:.5f}", values.empty() ? "" : "; ", point.workers, *point.delta->value);
    }
    rows.push_back({text_cell(curve.label),
                    text_cell(values),
                    text_cell(bracket_text(curve)),
                    number_cell(short_number(curve.predicted))});
  }
  return table({text_cell("method"),
                text_cell("δ, pooled over the run, mean over the seeds"),
                text_cell("δ crosses 1"),
                number_cell("P* predicted (iid Gaussian)")},
               rows);
}

std::vector<ReportFigure> plan_workers_figures(const std::vector<WorkersCurve>& curves,
                                               IntervalKind kind) {
  std::vector<ReportFigure> figures;
  for (std::size_t first = 0; first < curves.size(); first += kMostCurves) {
    ReportFigure figure;
    figure.title = "The gTop-k assumption against the number of workers";
    figure.caption =
        "δ pooled over the run. Thin and dashed: what independent Gaussian accumulators would "
        "give. Above the dotted line the assumption fails.";
    figure.spec.name = fmt::format("delta-workers-{}", figures.size() + 1);
    figure.spec.band = std::string(interval_words(kind));
    figure.spec.x_label = "workers P";
    figure.spec.y_label = "δ";
    figure.spec.x_scale = Scale::log;
    figure.spec.reference = Reference{.y = 1, .label = "δ = 1: as good as random selection"};
    for (std::size_t i = first; i < std::min(curves.size(), first + kMostCurves); ++i) {
      figure.spec.curves.push_back(measured_curve(curves[i], i - first, kind));
      if (auto predicted = predicted_curve(curves[i], i - first)) {
        figure.spec.curves.push_back(std::move(*predicted));
      }
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<ReportFigure> plan_end_figures(const Summary& summary, IntervalKind kind) {
  std::vector<ReportFigure> figures;
  for (const EndAxis& axis : kEndAxes) {
    auto curves = end_curves(summary, axis, kind);
    for (std::size_t i = 0; i < curves.size(); ++i) {
      const std::size_t place = i % kMostCurves;
      if (place == 0) {
        figures.push_back(end_figure(axis, figures.size() + 1, kind));
      }
      curves[i].style = place;
      figures.back().spec.curves.push_back(std::move(curves[i]));
    }
  }
  return figures;
}

}  // namespace residuum::reports
