#include "reports/verdicts/delta_workers.h"

#include <algorithm>
#include <map>

namespace residuum::reports {
namespace {

constexpr std::string_view kWorkers = "workers.count";

const AssumptionVerdict* delta_of(const GroupSummary& group) {
  for (const auto& one : group.assumptions) {
    if (one.verdict.name == kDeltaAssumption && one.verdict.value) {
      return &one.verdict;
    }
  }
  return nullptr;
}

/// Finds the two measured numbers of workers between which delta crosses one; nothing is
/// interpolated.
void bracket(WorkersCurve& curve) {
  for (const auto& place : curve.places) {
    if (*place.delta->value > 1) {
      curve.fails_from = place.workers;
      return;
    }
    curve.holds_to = place.workers;
  }
}

}  // namespace

std::vector<WorkersCurve> delta_against_workers(const Summary& summary) {
  std::vector<WorkersCurve> curves;
  std::map<std::string, std::size_t> place;
  for (std::size_t number = 0; number < summary.groups.size(); ++number) {
    const GroupSummary& group = summary.groups[number];
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
        {.workers = found->get<double>(), .group = &group, .number = number, .delta = delta});
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

}  // namespace residuum::reports
