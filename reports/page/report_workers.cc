#include "reports/page/report_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "reports/numbers/series.h"
#include "reports/numbers/words.h"
#include "reports/page/html.h"
#include "reports/verdicts/delta_workers.h"

namespace residuum::reports {
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
  for (const auto& place : curve.places) {
    drawn.points.push_back(seeds_point(place.workers, place.delta->of_seeds, kind));
  }
  return drawn;
}

std::optional<Curve> predicted_curve(const WorkersCurve& curve, std::size_t style) {
  Curve drawn{.label = "iid Gaussian accumulators, " + curve.label,
              .style = style,
              .points = {},
              .is_bound = true};
  for (const auto& place : curve.places) {
    if (place.group->gaussian.delta) {
      drawn.points.push_back({.x = place.workers,
                              .middle = place.group->gaussian.delta,
                              .lower = std::nullopt,
                              .upper = std::nullopt,
                              .n = 1});
    }
  }
  return drawn.points.empty() ? std::nullopt : std::optional<Curve>(std::move(drawn));
}

/// Returns the ends of the seeds, null if a seed has come to none.
const Spread* ends_of(const GroupSummary& group) {
  const Spread* const gap = group.metric("final_loss_gap");
  const Spread* const ends = gap != nullptr ? gap : group.metric("final_loss");
  return group.finished == group.group.runs.size() ? ends : nullptr;
}

/// Returns the curves in the order in which their first methods come; those of one point are none.
std::vector<Curve> end_curves(const Summary& summary, IntervalKind kind) {
  std::vector<Curve> curves;
  std::map<std::string, std::size_t> place;
  for (const auto& group : summary.groups) {
    const auto workers = group.group.varying.find(kWorkers);
    const Spread* const ends = ends_of(group);
    if (workers == group.group.varying.end() || !workers->is_number() || ends == nullptr) {
      continue;
    }
    const std::string label = method_label(summary.folder.runs[group.group.runs.front()], kWorkers);
    const auto [at, is_new] = place.emplace(label, curves.size());
    if (is_new) {
      curves.push_back({.label = label, .style = curves.size() % kMostCurves, .points = {}});
    }
    curves[at->second].points.push_back(seeds_point(workers->get<double>(), ends->values, kind));
  }
  std::erase_if(curves, [](const Curve& curve) { return curve.points.size() < 2; });
  for (auto& curve : curves) {
    std::stable_sort(curve.points.begin(), curve.points.end(), [](const auto& a, const auto& b) {
      return a.x < b.x;
    });
  }
  return curves;
}

}  // namespace

std::string workers_table(const std::vector<WorkersCurve>& curves) {
  if (curves.empty()) {
    return {};
  }
  std::vector<std::vector<Cell>> rows;
  for (const auto& curve : curves) {
    std::string values;
    for (const auto& place : curve.places) {
      values += fmt::format(
          "{}P = {}: {:.5f}", values.empty() ? "" : "; ", place.workers, *place.delta->value);
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
  const bool has_gap =
      std::any_of(summary.groups.begin(), summary.groups.end(), [](const GroupSummary& group) {
        return group.metric("final_loss_gap") != nullptr;
      });
  std::vector<ReportFigure> figures;
  const auto curves = end_curves(summary, kind);
  for (std::size_t first = 0; first < curves.size(); first += kMostCurves) {
    const std::size_t end = std::min(curves.size(), first + kMostCurves);
    ReportFigure figure;
    figure.title = "Where runs end against the number of workers";
    figure.caption =
        "f at the last model. A method has no point where one of its seeds diverged or is not "
        "finished.";
    figure.spec.name = fmt::format("end-workers-{}", figures.size() + 1);
    figure.spec.band = std::string(interval_words(kind));
    figure.spec.x_label = "workers P";
    figure.spec.y_label = has_gap ? "f − f* at the end" : "f at the end";
    figure.spec.x_scale = Scale::log;
    figure.spec.y_scale = has_gap ? Scale::log : Scale::linear;
    figure.spec.curves.assign(curves.begin() + static_cast<std::ptrdiff_t>(first),
                              curves.begin() + static_cast<std::ptrdiff_t>(end));
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace residuum::reports
