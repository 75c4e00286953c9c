// delta against the number of workers: where the gTop-k assumption ceases to hold, beside the
// prediction for independent Gaussian entries.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/assumptions.h"
#include "reports/html.h"

namespace residuum::reports {
namespace {

constexpr std::string_view kWorkers = "workers.count";
constexpr std::size_t kMostCurves = 6;

const AssumptionVerdict* delta_of(const GroupSummary& group) {
  for (const auto& one : group.assumptions) {
    if (one.verdict.name == "gtopk" && one.verdict.value) {
      return &one.verdict;
    }
  }
  return nullptr;
}

/// delta crosses one between two measured numbers of workers; nothing is interpolated.
void bracket(WorkersCurve& curve) {
  for (const auto& place : curve.places) {
    if (*place.delta->value > 1) {
      curve.fails_from = place.workers;
      return;
    }
    curve.holds_to = place.workers;
  }
}

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

Curve measured_curve(const WorkersCurve& curve, std::size_t style) {
  Curve drawn{.label = curve.label, .style = style, .points = {}};
  for (const auto& place : curve.places) {
    const auto& interval = place.delta->interval;
    drawn.points.push_back({.x = place.workers,
                            .middle = place.delta->value,
                            .lower = interval ? interval->low : *place.delta->value,
                            .upper = interval ? interval->high : *place.delta->value,
                            .n = place.delta->seeds});
  }
  return drawn;
}

std::optional<Curve> predicted_curve(const WorkersCurve& curve, std::size_t style) {
  Curve drawn{.label = curve.label + ", predicted", .style = style, .points = {}, .is_bound = true};
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

}  // namespace

std::vector<WorkersCurve> delta_against_workers(const Summary& summary) {
  std::vector<WorkersCurve> curves;
  std::map<std::string, std::size_t> place;
  for (const auto& group : summary.groups) {
    const auto found = group.group.varying.find(std::string(kWorkers));
    const AssumptionVerdict* delta = delta_of(group);
    if (found == group.group.varying.end() || !found->is_number() || delta == nullptr) {
      continue;
    }
    const Run& run = summary.folder.runs[group.group.runs.front()];
    const std::string label = method_label(run, kWorkers);
    const auto [at, is_new] = place.emplace(label, curves.size());
    if (is_new) {
      curves.push_back({.label = label,
                        .places = {},
                        .predicted = group.gaussian.largest_workers,
                        .holds_to = std::nullopt,
                        .fails_from = std::nullopt});
    }
    curves[at->second].places.push_back(
        {.workers = found->get<double>(), .group = &group, .delta = delta});
  }
  for (auto& curve : curves) {
    std::stable_sort(curve.places.begin(), curve.places.end(), [](const auto& a, const auto& b) {
      return a.workers < b.workers;
    });
    bracket(curve);
  }
  curves.erase(
      std::remove_if(
          curves.begin(), curves.end(), [](const auto& curve) { return curve.places.size() < 2; }),
      curves.end());
  return curves;
}

Json to_json(const std::vector<WorkersCurve>& curves) {
  Json all = Json::array();
  for (const auto& curve : curves) {
    Json places = Json::array();
    for (const auto& place : curve.places) {
      Json interval = nullptr;
      if (place.delta->interval) {
        interval = Json::array(
            {json_number(place.delta->interval->low), json_number(place.delta->interval->high)});
      }
      places.push_back({{"workers", place.workers},
                        {"delta", json_number(place.delta->value)},
                        {"interval", interval},
                        {"predicted", json_number(place.group->gaussian.delta)},
                        {"predicted_laplace", json_number(place.group->laplace.delta)}});
    }
    all.push_back({{"method", curve.label},
                   {"predicted_largest_workers", json_number(curve.predicted)},
                   {"holds_to", json_number(curve.holds_to)},
                   {"fails_from", json_number(curve.fails_from)},
                   {"places", places}});
  }
  return all;
}

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

std::vector<ReportFigure> plan_workers_figures(const std::vector<WorkersCurve>& curves) {
  std::vector<ReportFigure> figures;
  for (std::size_t first = 0; first < curves.size(); first += kMostCurves) {
    ReportFigure figure;
    figure.title = "The gTop-k assumption against the number of workers";
    figure.caption =
        "Solid: δ pooled over the run, mean over the seeds with its interval. Dashed: what "
        "independent Gaussian accumulators would give. Above the dotted line the "
        "assumption fails.";
    figure.spec.name = fmt::format("delta-workers-{}", figures.size() + 1);
    figure.spec.x_label = "workers P";
    figure.spec.y_label = "δ";
    figure.spec.x_scale = Scale::log;
    figure.spec.reference = Reference{.y = 1, .label = "δ = 1: as good as random selection"};
    for (std::size_t i = first; i < std::min(curves.size(), first + kMostCurves); ++i) {
      figure.spec.curves.push_back(measured_curve(curves[i], i - first));
      if (auto predicted = predicted_curve(curves[i], i - first)) {
        figure.spec.curves.push_back(std::move(*predicted));
      }
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace residuum::reports
