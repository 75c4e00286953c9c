#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/analysis/groups.h"
#include "reports/analysis/series.h"
#include "reports/page/joined_curves.h"
#include "reports/page/sections.h"

namespace residuum::reports {
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

}  // namespace residuum::reports
